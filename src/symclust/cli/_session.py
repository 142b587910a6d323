"""One run of a command: what it says, how it is limited, and how it ends.

Exit codes: 0 for an answer, 1 for input that cannot be used or a failure, 2 for a wrong call, 130 for Ctrl-C.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Annotated, Any, ClassVar

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from symclust.cli._console import as_options, errors, print_line, screen
from symclust.cli._progress import Bar, show_progress
from symclust.exceptions import InterruptedWarning, SymclustError

__all__ = ["FAILED", "INTERRUPTED", "PANEL", "Session", "Work"]

FAILED, INTERRUPTED = 1, 130
PANEL = "How it runs"
# Of other libraries only what concerns the user is passed on; --debug shows all.
FOR_DEVELOPERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, RuntimeWarning)


@dataclass
class Session:
    """Options of every command, and what happens while it runs."""

    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON, and nothing else.", rich_help_panel=PANEL)
    ] = False
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from.", rich_help_panel=PANEL)
    ] = False
    careful: list[str] = field(init=False, default_factory=list)
    is_interrupted: bool = field(init=False, default=False)
    began: float = field(init=False, default_factory=time.perf_counter)
    quiet: ClassVar[bool] = False  # a field for those who can be
    threads: ClassVar[int | None] = None

    # What is said -------------------------------------------------------------------------------------------

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

    def finish(self, summary: Mapping[str, Any]) -> None:
        """End a command that has an answer, also where it was interrupted on the way."""
        if self.as_json:
            about = {"version": version("symclust"), **summary, "warnings": self.careful}
            about |= {"interrupted": self.is_interrupted, "seconds": round(self.seconds, 3)}
            sys.stdout.write(json.dumps(about, indent=2, default=_plain, ensure_ascii=True) + "\n")
        if self.is_interrupted:
            raise typer.Exit(INTERRUPTED)

    @property
    def seconds(self) -> float:
        """Time since the command began."""
        return time.perf_counter() - self.began

    # What goes wrong ----------------------------------------------------------------------------------------

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Limit threads; make lines of warnings and errors, and exit codes of what ends the command."""
        try:
            with _limited(self.threads), warnings.catch_warnings():
                self._take_warnings()
                yield
        except (SymclustError, OSError, MemoryError, KeyboardInterrupt) as error:
            self._end(error)
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except Exception as error:
            self._end(error, "This was not expected. Run it again with --debug, and report what it shows.")

    def _take_warnings(self) -> None:
        warnings.simplefilter("always")
        if not self.debug:
            for category in FOR_DEVELOPERS:
                warnings.simplefilter("ignore", category)
        warnings.showwarning = self._warn

    def _warn(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = as_options(" ".join(str(message).split()))
        if issubclass(category, InterruptedWarning):
            self.is_interrupted = True
            text = f"Interrupted: what was found until now is kept. {text}"
        if text not in self.careful:
            self.careful.append(text)
            if not self.quiet:
                print_line(errors, text if self.is_interrupted else f"Careful: {text}", "yellow")

    def _end(self, error: BaseException, hint: str = "") -> None:
        """Say in one line what went wrong, and end with the code for it."""
        if self.debug:
            raise error
        if isinstance(error, KeyboardInterrupt):
            print_line(errors, "Interrupted, before there was anything to keep.", "yellow")
            raise typer.Exit(INTERRUPTED) from None
        errors.print(f"[bold red]Error:[/bold red] {_escaped(_reason(error), hint)}", soft_wrap=True)
        raise typer.Exit(FAILED) from None


@dataclass
class Work(Session):
    """Options of commands that compute."""

    seed: Annotated[
        int,
        typer.Option(
            "--seed",
            min=0,
            max=2**32 - 1,
            help="The same seed gives the same answer.",
            rich_help_panel=PANEL,
        ),
    ] = 0
    threads: Annotated[  # type: ignore[misc]
        int | None,
        typer.Option(
            "--threads",
            min=1,
            help="Use at most so many threads; all processors by default. The answer does not depend on it.",
            rich_help_panel=PANEL,
            show_default=False,
        ),
    ] = None
    quiet: Annotated[  # type: ignore[misc]
        bool, typer.Option("--quiet", "-q", help="Print errors alone.", rich_help_panel=PANEL)
    ] = False


def _reason(error: BaseException) -> str:
    """Return what an error says, in one line and in the words of the command."""
    if isinstance(error, SymclustError):
        text = str(error)
    elif isinstance(error, MemoryError):
        text = f"There is not enough memory. {error}"
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'A file'}: {error.strerror}."
    else:
        text = f"{type(error).__name__}: {error}"
    return as_options(" ".join(text.split()))


def _escaped(*texts: str) -> str:
    from rich.markup import escape

    from symclust._text import showable

    return escape(showable(" ".join(text for text in texts if text)))


@contextmanager
def _limited(threads: int | None) -> Iterator[None]:
    """Limit OpenMP, BLAS and our own threads.

    Our kernels ask OpenMP, which was started when they were loaded and now takes the number of this thread;
    our pool asks the environment, as do processes that are started from here.
    """
    if threads is None:
        yield
        return
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
    """Return numbers of NumPy as those of Python, and paths as text."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else str(value)
