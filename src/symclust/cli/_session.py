"""One run of a command: its messages, files, limits and end.

Exit codes: 0 for an answer, 1 for input that cannot be used or a failure, 2 for a wrong call, 130 for Ctrl-C.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from rich.markup import escape

from symclust._text import showable
from symclust.cli._console import as_options, errors, print_line, screen
from symclust.cli._interrupts import INTERRUPTED, interrupts
from symclust.cli._progress import Bar, show_progress
from symclust.exceptions import SymclustError

FAILED = 1
UNEXPECTED = "This was not expected. Run it again with --debug, and report what it shows."
PANEL = "How it runs"
THREADS = "Use at most so many threads; all processors by default. The answer does not depend on it."
_option = partial(typer.Option, rich_help_panel=PANEL)
# Of other libraries only what concerns the user is passed on; --debug shows all.
FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, RuntimeWarning)


@dataclass
class Session:
    """Options of every command, and the state of its run."""

    as_json: Annotated[bool, _option("--json", help="Print a summary as JSON, and nothing else.")] = False
    debug: Annotated[bool, _option("--debug", help="Show where an error comes from.")] = False
    careful: list[str] = field(init=False, default_factory=list)
    wanted: dict[str, Path] = field(init=False, default_factory=dict)  # files, by what they hold
    written: dict[str, Path] = field(init=False, default_factory=dict)
    failed: dict[str, str] = field(init=False, default_factory=dict)  # why, by what was not written or drawn
    has_answer: bool = field(init=False, default=False)
    was_interrupted: bool = field(init=False, default=False)
    began: float = field(init=False, default_factory=time.perf_counter)
    quiet: ClassVar[bool] = False  # a field for those who can be
    threads: ClassVar[int | None] = None

    # Messages ----------------------------------------------------------------------------------------------

    @property
    def shows_answer(self) -> bool:
        """Whether the answer is drawn for people."""
        return not self.as_json and not self.quiet

    def say(self, text: str, style: str = "") -> None:
        """Print a part of the answer."""
        if self.shows_answer:
            print_line(screen, text, style)

    def note(self, text: str, style: str = "dim") -> None:
        """Say on standard error what is going on."""
        if not self.quiet:
            print_line(errors, as_options(text), style)

    @contextmanager
    def progress(self, title: str) -> Iterator[Bar]:
        """Show that something is going on, and how far it is."""
        with show_progress(title, is_shown=not self.quiet) as bar:
            yield bar

    @property
    def seconds(self) -> float:
        """Time since the command began."""
        return time.perf_counter() - self.began

    # Files of results ---------------------------------------------------------------------------------------

    def begin_writing(self) -> None:
        """Note that there is an answer: from here on Ctrl-C does not lose it."""
        interrupts.begin_writing()
        self.has_answer = True

    def write(self, what: str, make: Callable[[Path], object]) -> None:
        """Write one of the wanted files; a failure is noted, and those that follow are tried."""
        path = self.wanted.get(what)
        if path is None:
            return
        before = _state_of(path)
        try:
            with self.trying(what):
                path.parent.mkdir(parents=True, exist_ok=True)
                make(path)
                self.written[what] = path
        except KeyboardInterrupt:
            # Files are put into their place when they are complete: one that has changed is whole.
            if _state_of(path) != before:
                self.written[what] = path
            raise
        if what in self.written:
            self.say(f"Wrote the {what} to {path}")

    @contextmanager
    def trying(self, what: str) -> Iterator[None]:
        """Do one of the last steps; its failure is noted, and keeps no other from being done."""
        try:
            yield
        except Exception as error:
            self._show_place(error)
            self.failed[what] = _reason(error)

    @property
    def unwritten(self) -> dict[str, str]:
        """Why what was wanted is not there."""
        return {what: "interrupted" for what in self.wanted if what not in self.written} | self.failed

    def finish(self, summary: Callable[[], Mapping[str, Any]]) -> None:
        """Print the summary for --json, the last step of a command."""
        if not self.as_json:
            return
        with self.trying("summary"):
            about = {"version": version("symclust"), **summary(), "warnings": self.careful}
            about |= {"written": {what: str(path.resolve()) for what, path in self.written.items()}}
            about |= {"not_written": self.unwritten, "interrupted": self.is_interrupted}
            about |= {"seconds": round(self.seconds, 3)}
            sys.stdout.write(json.dumps(about, indent=2, default=_plain, ensure_ascii=True) + "\n")

    # How it ends --------------------------------------------------------------------------------------------

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C was pressed, whatever became of it."""
        return self.was_interrupted or interrupts.count > 0

    def keep(self, text: str) -> None:
        """Say that the work was interrupted, and what is kept of it."""
        self.was_interrupted = True
        self._warn_once(f"Interrupted: what was found until now is kept. {text}")

    def best_so_far(self, bar: Bar, choose: Callable[..., Any]) -> Any:
        """The answer of `choose`, which takes a callback; after Ctrl-C the best one until then."""
        best = None

        def follow(step: Any) -> None:
            nonlocal best
            best = best if step.so_far is None else step.so_far
            bar.steps(step)

        try:
            return choose(callback=follow)
        except KeyboardInterrupt:
            from symclust.storage import stop_recording

            if best is None:
                raise
            stop_recording()
            self.keep(best.sentence)
            return best

    def load(self) -> None:
        """Import what the command works with: nothing for those that only look things up."""

    def run(self, work: Callable[[], None]) -> None:
        """Do the work of a command, and end it: with a line if something went wrong, and the exit code.

        Threads are limited, and warnings become lines.
        """
        self.load()  # before Ctrl-C is an exception, which the import of compiled code may lose
        error: BaseException | None = None
        try:
            try:
                interrupts.begin_work()
                with _limited(self.threads), warnings.catch_warnings():
                    self._take_warnings()
                    work()
            finally:
                interrupts.begin_end()
        except BaseException as caught:
            error = caught
        interrupts.begin_end()  # again: a second interrupt right after the first may have kept it from that
        code = self._conclude(error)
        with suppress(OSError):  # of a pipe that nobody reads
            sys.stdout.flush()
        interrupts.end(code)
        if code:
            raise typer.Exit(code)

    def _take_warnings(self) -> None:
        warnings.simplefilter("always")
        if not self.debug:
            for category in FOR_DEVELOPERS:
                warnings.simplefilter("ignore", category)
        warnings.showwarning = self._warn

    def _warn(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        from symclust.exceptions import InterruptedWarning

        text = as_options(" ".join(str(message).split()))
        if issubclass(category, InterruptedWarning):
            self.keep(text)
        else:
            self._warn_once(text, "" if self.is_interrupted else "Careful: ")

    def _warn_once(self, text: str, mark: str = "") -> None:
        if text not in self.careful:
            self.careful.append(text)
            if not self.quiet:
                print_line(errors, mark + text, "yellow")

    def _conclude(self, error: BaseException | None) -> int:
        """Write how it ended, unless all went well; return the exit code."""
        if isinstance(error, typer.Exit) and not self.is_interrupted:
            return error.exit_code
        if error is not None:
            self._show_place(error)
        # An interrupt inside another library may come out as any error of its own.
        if self.is_interrupted or isinstance(error, KeyboardInterrupt):
            print_line(errors, self._interruption(), "yellow")
            return INTERRUPTED
        if error is not None:
            is_expected = isinstance(error, SymclustError | OSError | MemoryError)
            _say_error(_reason(error), "" if is_expected else UNEXPECTED)
        elif self.failed:
            _say_error(self._files())
        return FAILED if error is not None or self.failed else 0

    def _show_place(self, error: BaseException) -> None:
        if self.debug:
            traceback.print_exception(error)

    def _interruption(self) -> str:
        if self.has_answer:
            return f"Interrupted. {self._files() or 'No file was asked for.'}"
        return f"Interrupted, before there was anything to keep{': nothing was written' * bool(self.wanted)}."

    def _files(self) -> str:
        """The files that are written, and why others are not."""
        there = [f"the {what} {path}" for what, path in self.written.items()]
        lacking = [
            f"the {what} {self.wanted.get(what, '')}".rstrip() + f" ({reason.rstrip('.')})"
            for what, reason in self.unwritten.items()
        ]
        kinds = {"Written": there, "Not written": lacking}
        return " ".join(f"{kind}: {', '.join(names)}." for kind, names in kinds.items() if names)


@dataclass
class Work(Session):
    """Options of commands that compute."""

    seed: Annotated[
        int, _option("--seed", min=0, max=2**32 - 1, help="The same seed gives the same answer.")
    ] = 0
    threads: Annotated[int | None, _option("--threads", min=1, help=THREADS)] = None  # type: ignore[misc]
    quiet: Annotated[bool, _option("--quiet", "-q", help="Print errors alone.")] = False  # type: ignore[misc]

    def load(self) -> None:
        """Import the package, which takes two seconds: the help of a command does without."""
        import_module("symclust.report")


def _reason(error: BaseException) -> str:
    """The message of an error in one line, in the words of the command."""
    if isinstance(error, SymclustError):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = f"There is not enough memory. {error}"
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'A file'}: {error.strerror}."
    else:
        text = f"{type(error).__name__}: {error}"
    return as_options(" ".join(text.split()))


def _say_error(*texts: str) -> None:
    line = escape(showable(" ".join(text for text in texts if text)))
    errors.print(f"[bold red]Error:[/bold red] {line}", soft_wrap=True)


def _state_of(path: Path) -> tuple[int, ...] | None:
    """The numbers that change if a file is replaced; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


@contextmanager
def _limited(threads: int | None) -> Iterator[None]:
    """Limit the kernels, OpenMP and BLAS of other libraries, and our own pool.

    The first three through threadpoolctl; our pool looks at the environment, as do processes that are started
    from here.
    """
    if threads is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = str(threads)
    try:
        with threadpool_limits(limits=threads):
            yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _plain(value: Any) -> Any:
    """Numbers of NumPy as those of Python, and paths as text."""
    import numpy as np

    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else str(value)
