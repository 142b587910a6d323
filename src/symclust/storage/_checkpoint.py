"""Fits that survive a kill: a journal of the pieces of work that are finished, in a file.

A fit is determined by its parameters, data and random numbers. To go on with one is therefore to run it again
with its journal at hand: a finished piece is answered from there, a descent goes on from its last snapshot,
and the rest is computed. Work is divided by `recorded` and its siblings, which do nothing but the work itself
if no journal is kept. Pieces have names within the piece they are part of, and are forgotten when that is
finished: its answer holds all that is needed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from inspect import signature
from os import PathLike
from pathlib import Path
from threading import get_ident
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from symclust._text import showable
from symclust._threads import single_threaded_blas
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError, warn
from symclust.storage._allowed import allowed, name_of
from symclust.storage._archive import HEADER, write_archive
from symclust.storage._savable import read_content, read_path
from symclust.storage._values import Encoder
from symclust.validation import check_number

# From the name of a piece, its work and whether an answer fits it to the answer.
Keep = Callable[[str, Callable[[], Any], Callable[[Any], bool]], Any]

FORMAT = 1  # of journals, beside that of the archive
PAUSE = 4  # between two times of writing at the least, in multiples of what the last one took


class Checkpoint:
    """Keeps a long fit in a file, from which `symclust.resume` goes on after a crash or a kill.

    Given as `callback` to an estimator or to `select_n_clusters`. The file is written when the fit begins,
    then after an iteration, a split or another finished piece of work if the last time was `every` seconds
    ago, and when the fit ends. It is replaced as a whole, so that a kill at any moment leaves a complete
    one. A fit that begins replaces the checkpoint of another; only `symclust.resume` goes on with it.

    Parameters
    ----------
    path : str or path-like
        The file.
    every : float, default=30
        Seconds between two times of writing; 0 writes as often as is possible in a fifth of the time, and
        more than that is never spent on it.
    callback : callable, default=None
        A callback of your own, which is called as if it had been given without a checkpoint.

    Notes
    -----
    A file holds the memberships, and what the solver remembers of its last steps: a few n × k arrays for each
    start. If the disk is full a warning says so once, and the fit goes on.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import networkx as nx
    >>> import symclust
    >>> club = nx.karate_club_graph()
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "club.checkpoint"
    ...     model = symclust.SymNMF(2, random_state=0, callback=symclust.Checkpoint(path)).fit(club)
    ...     again = symclust.resume(path, club)  # after a kill it would take up the work where it was
    >>> bool((again.labels_ == model.labels_).all())
    True
    """

    def __init__(
        self,
        path: str | PathLike[str],
        every: float = 30,
        callback: Callable[..., object] | None = None,
    ) -> None:
        self.path = read_path(path)
        check_number("every", every, least=0)
        if callback is not None and not callable(callback):
            raise OptionError(f"callback={callback!r} must be a function, or None.")
        self.every, self.callback = every, callback

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, every={self.every!r})"

    def __call__(self, *progress: Any) -> object:
        """The answer of the user's callback."""
        return None if self.callback is None else self.callback(*progress)


def refuse_checkpoint(callback: Any, name: str) -> None:
    """Refuse a checkpoint as the callback of work that consists of more than one fit."""
    if isinstance(callback, Checkpoint):
        raise CombinationError(
            f"{name} keeps no checkpoints: it is more than one fit. Give a function as callback, or fit an "
            "estimator yourself."
        )


@dataclass(frozen=True)
class Task:
    """The work that a journal is of: a class whose `fit` is called, or a function, and its parameters.

    `chance` is the state of NumPy's global random numbers, which ``random_state=None`` draws from.
    """

    name: str
    params: dict[str, Any]
    chance: Any = field(default_factory=np.random.get_state, compare=False)

    @classmethod
    def of(cls, what: Any, params: Mapping[str, Any]) -> Task:
        """The task with the present random numbers; one that a file cannot hold is refused."""
        name = name_of(what)
        if name is None:
            raise InputTypeError(
                f"A checkpoint cannot hold a {what.__name__}: only symclust's own estimators can be resumed."
            )
        kept = {
            key: deepcopy(value) if isinstance(value, np.random.RandomState) else value
            for key, value in params.items()
            if key != "callback"
        }
        for key, value in kept.items():
            Encoder(where=f"{what.__name__}({key}=...)").encode(value)
        return cls(name, kept)

    def __str__(self) -> str:
        short = {key: value for key, value in self.params.items() if isinstance(value, str | int | float)}
        given = ", ".join(f"{key}={value!r}" for key, value in short.items())
        return f"{self.name.rpartition('.')[2]}({given})"

    @property
    def what(self) -> Any:
        """The class or function."""
        return allowed()[self.name]

    def is_like(self, other: Task) -> bool:
        """Whether another task has the same name and parameters, to the bit."""
        return _written(self) == _written(other)


def _written(task: Task) -> Any:
    encoder = Encoder()
    params = [[key, encoder.encode(task.params[key])] for key in sorted(task.params)]
    rows = [[flat.tobytes() for flat in row] for row in encoder.arrays.rows]
    return task.name, params, encoder.objects, rows


class Journal:
    """Answers by the names of their pieces, and how to write them."""

    def __init__(
        self, checkpoint: Checkpoint, task: Task, answers: dict[str, Any], states: dict[str, Any]
    ) -> None:
        self.checkpoint, self.task, self.answers, self.states = checkpoint, task, answers, states
        # Of pieces under way: how to get their state, or None while it is between two points.
        self.live: dict[str, Callable[[], Any] | None] = {}
        self.is_closed = self.has_failed = False
        self._next, self._owner = -np.inf, get_ident()

    def note(self, key: str, answer: Any) -> None:
        """Keep the answer of a finished piece."""
        if self.is_closed:
            return
        self.live.pop(key, None)
        self.answers[key] = answer
        self.write_if_due()

    def forget_parts(self, key: str) -> None:
        """Forget the parts of a piece that is about to be finished."""
        for inner in [other for other in list(self.answers) if other.startswith(f"{key}/")]:
            del self.answers[inner]

    def write_if_due(self) -> None:
        """Write if the last time is long enough ago; only the thread that keeps the journal does."""
        if time.perf_counter() >= self._next and get_ident() == self._owner:
            self.write()

    def write(self) -> None:
        """Write the file, unless a piece is between two points; say once that it cannot be written.

        As long as nothing is known, a file of another fit is left as it is: this one may be refused.
        """
        if self.is_closed or not self.answers or None in self.live.values():
            return
        begun = time.perf_counter()
        try:
            self.write_or_raise()
        except (OSError, ValueError, InputTypeError) as error:
            if not self.has_failed:
                self.has_failed = True
                warn(f"{_cannot_write(self.checkpoint.path, error)} The fit goes on.", RuntimeWarning)
        now = time.perf_counter()
        self._next = now + max(self.checkpoint.every, PAUSE * (now - begun))

    def write_or_raise(self) -> None:
        """Write the file."""
        encoder = Encoder()
        live = {key: state() for key, state in self.live.items() if state is not None}
        content = {
            "task": encoder.encode([self.task.name, self.task.params, self.task.chance]),
            "every": self.checkpoint.every,
            "answers": encoder.encode(dict(self.answers)),
            "states": encoder.encode({**self.states, **live}),
        }
        about = {"checkpoint": FORMAT}
        write_archive(self.checkpoint.path, about, {**content, "objects": encoder.objects}, encoder.arrays)

    def close(self) -> None:
        """Write what there is, and keep nothing from now on."""
        self.write()
        self.is_closed = True


def _cannot_write(path: Path, error: Exception) -> str:
    reason = getattr(error, "strerror", None) or error
    return f"The checkpoint cannot be written to {showable(str(path))}: {reason}."


class Scope:
    """The piece of work under way, and the names of its parts so far."""

    def __init__(self, journal: Journal, key: str = "") -> None:
        self.journal, self.key = journal, key
        self.has_parts = False
        self._counts: dict[str, int] = {}

    def named(self, name: str) -> str:
        """The key of the only part of that name."""
        self.has_parts = True
        return f"{self.key}/{name}" if self.key else name

    def next(self, name: str) -> str:
        """The key of the next part of that name."""
        self._counts[name] = self._counts.get(name, -1) + 1
        return self.named(f"{name} {self._counts[name]}")

    @contextmanager
    def within(self, key: str) -> Iterator[Scope]:
        """Make the parts of a part those that are recorded next, by this thread."""
        token = _CURRENT.set(scope := Scope(self.journal, key))
        try:
            yield scope
        finally:
            _CURRENT.reset(token)

    def recorded(
        self,
        key: str,
        work: Callable[[], Any],
        rng: np.random.RandomState | None = None,
        fits: Callable[[Any], bool] = lambda answer: True,
    ) -> Any:
        """The answer of a part: the known one, or that of the work, which is noted."""
        if key not in self.journal.answers:
            with self.within(key) as inner:
                answer = work()
            if inner.has_parts:
                self.journal.forget_parts(key)
            self.journal.note(key, (answer, None if rng is None else rng.get_state()))
            return answer
        return self.known(key, fits, rng)

    def known(self, key: str, fits: Callable[[Any], bool], rng: np.random.RandomState | None = None) -> Any:
        """The answer that the file holds; one that does not fit the work is refused."""
        try:
            answer, chance = self.journal.answers[key]
            if rng is not None:
                rng.set_state(chance)
            is_right, why = fits(answer), ""
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            is_right, why = False, f" ({type(error).__name__}: {showable(str(error))[:200]})"
        if not is_right:
            path = showable(str(self.journal.checkpoint.path))
            raise InputError(f"{path} is damaged: its answer of {key!r} does not fit the work{why}.")
        return answer


_CURRENT: ContextVar[Scope | None] = ContextVar("symclust_journal", default=None)


# Pieces of a fit ---------------------------------------------------------------------------------


def is_recording() -> bool:
    """Whether a journal is kept of what runs here."""
    return _CURRENT.get() is not None


def recorded(
    name: str,
    work: Callable[[], Any],
    rng: np.random.RandomState | None = None,
    fits: Callable[[Any], bool] = lambda answer: True,
) -> Any:
    """The answer of a piece of work, from the journal if it is there.

    Pieces are counted by their `name`. `rng` is left as it is after the work. `fits` refuses an answer from a
    file that cannot be one of this work.
    """
    scope = _CURRENT.get()
    return work() if scope is None else scope.recorded(scope.next(name), work, rng, fits)


def recorded_each(name: str, make: Callable[[int], Iterator[Any]]) -> Iterator[Any]:
    """Yield answers of pieces that come one after the other; `make` gives those from a number on."""
    scope = _CURRENT.get()
    if scope is None:
        yield from make(0)
        return
    series, done = Scope(scope.journal, scope.next(name)), 0
    while (key := series.named(str(done))) in scope.journal.answers:
        yield scope.known(key, lambda answer: True)
        done += 1
    rest = make(done)
    while True:
        key = series.named(str(done))
        try:
            with scope.within(key):
                answer = next(rest)
        except StopIteration:
            return
        scope.journal.forget_parts(key)
        scope.journal.note(key, (answer, None))
        done += 1
        yield answer


def recorded_side_by_side(
    names: Sequence[str], work: Callable[[list[int]], list[Any]], fits: Callable[[int, Any], bool]
) -> list[Any]:
    """Answers of pieces with names of their own; `work` gives those of some numbers at once."""
    scope = _CURRENT.get()
    if scope is None:
        return work(list(range(len(names))))
    keys = [scope.named(name) for name in names]
    known = {
        number: scope.known(key, partial(fits, number))
        for number, key in enumerate(keys)
        if key in scope.journal.answers
    }
    missing = [number for number in range(len(keys)) if number not in known]
    for number, answer in zip(missing, work(missing), strict=True):
        known[number] = answer
        scope.journal.note(keys[number], (answer, None))
    return [known[number] for number in range(len(keys))]


def keeper() -> Keep:
    """A `recorded` for pieces that have names of their own, which any thread may call."""
    scope = _CURRENT.get()
    if scope is None:
        return lambda name, work, fits: work()
    return lambda name, work, fits: scope.recorded(scope.named(name), work, fits=fits)


@contextmanager
def series(name: str) -> Iterator[None]:
    """Keep the names of the pieces that are recorded inside apart from those of others."""
    scope = _CURRENT.get()
    with nullcontext() if scope is None else scope.within(scope.next(name)):
        yield


class PieceUnderWay:
    """The piece of work that is under way, if a journal is kept: its state in the file, and what to write.

    Between `unsettle` and `settle` its state is not one to go on from, and nothing is written.
    """

    def __init__(self) -> None:
        self._scope = _CURRENT.get()
        self.unsettle()

    def take_state(self) -> Any:
        """The state that the file holds, None without one."""
        return None if self._scope is None else self._scope.journal.states.pop(self._scope.key, None)

    def unsettle(self) -> None:
        """Write nothing until there is a state again."""
        if self._scope is not None:
            self._scope.journal.live[self._scope.key] = None

    def settle(self, state: Callable[[], Any]) -> None:
        """Take what this function returns for the state, until it is unsettled; write if it is time."""
        if self._scope is not None:
            self._scope.journal.live[self._scope.key] = state
            self._scope.journal.write_if_due()


def stop_recording() -> None:
    """Keep nothing of what follows an interrupt: an undisturbed run would not have come there."""
    scope = _CURRENT.get()
    if scope is not None:
        scope.journal.close()


def data_are(X: Any) -> None:
    """Note the data of a fit, as a product with a fixed vector; other data than in the file are refused."""
    scope = _CURRENT.get()
    if scope is None or scope.key:  # parts of other work read parts of its data
        return
    found = _fingerprint(X)
    known = scope.recorded(scope.next("data"), lambda: found, fits=lambda answer: isinstance(answer, str))
    if known != found:
        raise InputError(
            f"{showable(str(scope.journal.checkpoint.path))} is a checkpoint of other data than X: numbers, "
            "order and dtype have to be the same, and the kind of processor, which decides how sums are "
            "rounded."
        )


def _fingerprint(X: Any) -> str:
    dtype = np.dtype(X.dtype)
    vector = np.random.RandomState(0).uniform(1, 2, (X.shape[1], 1))
    with single_threaded_blas():
        product = np.ascontiguousarray(X @ vector.astype(dtype if dtype.kind == "f" else np.float64))
    return f"{'x'.join(map(str, X.shape))} {dtype} {sha256(product.view(np.uint8)).hexdigest()}"


# From a fit to the file and back ----------------------------------------------------------------------------


@contextmanager
def recording(checkpoint: Checkpoint, what: Any, params: Mapping[str, Any]) -> Iterator[None]:
    """Keep a journal of the work inside: that which `resuming` has read, or a new one.

    A new one replaces a file of the same name once the data have been read, and is there at once otherwise.
    """
    journal = _READ.get()
    if journal is None:
        journal = Journal(checkpoint, Task.of(what, params), {}, {})
        _write_first(journal)
    token = _CURRENT.set(Scope(journal))
    try:
        yield
    except BaseException:
        journal.close()
        raise
    finally:
        _CURRENT.reset(token)
    journal.close()


def _write_first(journal: Journal) -> None:
    """Write a file without answers; one that is there is replaced later, and only if it is a checkpoint."""
    path = journal.checkpoint.path
    try:
        if not path.exists():
            journal.write_or_raise()
        elif not _is_checkpoint(path):
            raise FileExistsError(None, "it is there already, and not a checkpoint")
    except (OSError, ValueError) as error:
        raise InputError(f"{_cannot_write(path, error)} Choose another path.") from error


def _is_checkpoint(path: Path) -> bool:
    try:
        with ZipFile(path) as archive:
            return "checkpoint" in json.loads(archive.read(HEADER))
    except (BadZipFile, KeyError, TypeError, ValueError):
        return False


_READ: ContextVar[Journal | None] = ContextVar("symclust_read_journal", default=None)


def read_journal(path: str | PathLike[str], callback: Callable[..., object] | None = None) -> Journal:
    """The journal of a checkpoint; other files are refused by name."""
    path = read_path(path)
    with read_content(path, "a checkpoint that can be resumed") as (header, content, decode):
        if "checkpoint" not in header:
            raise InputError("it is a model: symclust.load reads it")
        if header["checkpoint"] != FORMAT or header["symclust"] != version("symclust"):
            raise InputError(
                f"it was written by symclust {header['symclust']}, and this is {version('symclust')}: the "
                "same bits can be promised within one version alone"
            )
        name, params, chance = decode(content["task"])
        task = Task(name, params, chance)
        signature(task.what).bind_partial(**params)
        checkpoint = Checkpoint(path, content["every"], callback)
        answers, states = decode(content["answers"]), decode(content["states"])
        if not all(isinstance(key, str) for key in [*answers.keys(), *states.keys()]):
            raise InputError("pieces of its work have no names")
        return Journal(checkpoint, task, answers, states)


@contextmanager
def resuming(journal: Journal) -> Iterator[None]:
    """Let the `recording` inside go on with a journal, with global random numbers as they were then."""
    token, chance = _READ.set(journal), np.random.get_state()
    try:
        np.random.set_state(journal.task.chance)
        yield
    finally:
        np.random.set_state(chance)
        _READ.reset(token)
