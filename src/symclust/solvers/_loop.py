"""The only loop: clock, history, stopping, callback, interrupt.

Starts run side by side; one that is done leaves the batch and the others go on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from symclust._threads import keeps_results, single_threaded_blas
from symclust._types import Array
from symclust.exceptions import (
    CombinationError,
    InputError,
    InterruptedWarning,
    NotConvergedWarning,
    warn,
)
from symclust.operators import Operator
from symclust.solvers._base import Problem, Solver, State, multiply
from symclust.storage import PieceUnderWay, is_recording, recorded, stop_recording
from symclust.validation import check_callback, check_number, is_true

logger = logging.getLogger("symclust")

# An iteration on a sparse factor that brings less than this many tol of the decrease so far brings nonzeros.
SETTLED = 2
# A descent from a clustering is done when an iteration moves at most this share of the samples: going on
# until it is stationary lost .01 to .02 of NMI on labelled vectors, since columns become smooth bumps.
MOVED = 0.005
KEPT = {"reference": Real, "rounding": Real, "reason": str, "converged": bool}  # of a run, in checkpoints
KEPT_OF_STATE = {
    **{"objective": Real, "stationarity": Real, "measured": bool},
    **{"memory": dict, "stalled": str, "settled": str},
}
HISTORY = np.dtype([("iteration", "i8"), ("seconds", "f8"), ("objective", "f8"), ("stationarity", "f8")])


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each iteration of each start.

    `stationarity` is ‖∇ᴾf(H)‖ relative to the first point's. Returning True from the callback stops the run.
    """

    start: int
    iteration: int
    seconds: float
    objective: float
    stationarity: float


@dataclass(frozen=True)
class Control:
    """When to stop, and whom to tell: the options that every estimator on the loop has.

    Its clock starts when it is made, which is where a fit begins. Values that cannot be are refused.
    """

    tol: float = 1e-2
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Progress], object] | None = None
    clock: float = field(default_factory=time.perf_counter)
    settles: bool = False  # whether a descent from a clustering may also end when few samples move

    def __post_init__(self) -> None:
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, least=0, exclusive=True)
        check_callback(self.callback)

    def seconds(self) -> float:
        """Seconds since the work began."""
        return time.perf_counter() - self.clock

    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.time_limit is not None and self.seconds() >= self.time_limit


@dataclass
class Result:
    """Where one start ended; `stationarity` is relative to `reference`, ‖∇ᴾf‖ at the first point.

    `interrupted` says that Ctrl-C ended the run that this start was part of.
    """

    H: Array
    objective: float
    stationarity: float
    reference: float
    history: np.recarray
    converged: bool
    stop_reason: str
    interrupted: bool = False

    @property
    def n_iter(self) -> int:
        """Iterations taken."""
        return int(self.history.iteration[-1])

    def warn(self, name: str) -> None:
        """Warn, in the name of an estimator, of an end other than convergence."""
        if self.interrupted or not self.converged:
            category = InterruptedWarning if self.interrupted else NotConvergedWarning
            warn(f"{name} {self.stop_reason}.", category)


class _Run:
    """One start: its state, its history, and whether it is done."""

    def __init__(
        self, number: int, H: Array, reference: float | None, control: Control, settles: bool
    ) -> None:
        self.number, self.state, self.control = number, State(H), control
        self.given, self.settles = reference, settles
        self.reference = self.rounding = 0.0
        self.rows: list[tuple[int, float, float, float]] = []
        self.labels: Array | None = None  # after the last iteration, if they are watched
        self.reason = ""
        self.converged = self.interrupted = False

    def begin(self, rounding: float) -> None:
        """Take the point that was measured as the first."""
        self.reference = self.state.stationarity if self.given is None else self.given
        self.rounding = rounding
        self.record(0)

    @property
    def relative(self) -> float:
        return self.state.stationarity / self.reference if self.reference > 0 else 0.0

    def record(self, iteration: int) -> None:
        self.rows.append((iteration, self.control.seconds(), self.state.objective, self.relative))

    def reaches_tol(self) -> bool:
        return self.relative <= self.control.tol

    def is_rounding(self) -> bool:
        return self.state.stationarity <= self.rounding

    def has_settled(self) -> bool:
        """Whether the last iteration has brought at most a share of 2 `tol` of what all have."""
        first, before, now = (self.rows[i][2] for i in (0, -2, -1))
        return self.settles and before - now < SETTLED * self.control.tol * (first - now)

    def watch(self) -> None:
        self.labels = self.state.H.argmax(axis=1)

    def few_moved(self) -> str:
        """Return how many samples the last iteration has moved if they are few, else nothing."""
        if self.labels is None:
            return ""
        before = self.labels
        self.watch()
        moved, n = int(np.count_nonzero(self.labels != before)), len(before)
        return f"{moved:,} of {n:,}" if moved <= MOVED * n else ""

    def looks_stationary(self) -> bool:
        return self.reaches_tol() or self.is_rounding()

    def finish(self, reason: str, converged: bool = False) -> None:
        self.reason, self.converged = reason, converged

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        kept = {name: getattr(self, name) for name in KEPT}
        return {**kept, "rows": np.array(self.rows, dtype=HISTORY), "state": dict(vars(self.state))}

    def restore(self, saved: dict[str, Any], n: int, seconds: float) -> None:
        """Go on from there, with the clock as it was; the start, whose rows may be gone, says what H is."""
        state, H = State(**saved["state"]), self.state.H
        if type(state.H) is not type(H) or state.H.dtype != H.dtype or state.H.shape != (n, H.shape[1]):
            raise ValueError(f"a factor of shape {state.H.shape} and {state.H.dtype}")
        if state.AH is not None and (state.AH.shape, state.AH.dtype) != (state.H.shape, state.H.dtype):
            raise ValueError(f"a product of shape {state.AH.shape} and {state.AH.dtype}")
        for given, kinds in ((saved, KEPT), (saved["state"], KEPT_OF_STATE)):
            if wrong := [name for name, kind in kinds.items() if not isinstance(given[name], kind)]:
                raise TypeError(f"{wrong[0]} is a {type(given[wrong[0]]).__name__}")
        if saved["rows"].dtype != HISTORY or saved["rows"].ndim != 1 or not len(saved["rows"]):
            raise ValueError(f"a history of {saved['rows'].dtype}")
        self.state, self.rows = state, saved["rows"].tolist()
        for name in KEPT:
            setattr(self, name, saved[name])
        self.control = replace(self.control, clock=time.perf_counter() - float(seconds))

    def interrupt(self) -> None:
        self.interrupted = True
        n_iter = self.rows[-1][0] if self.rows else 0
        kept = f"interrupted after {n_iter} iterations; the result so far is kept"
        self.reason = f"{self.reason}; then the run was interrupted" if self.reason else kept

    def result(self, A: Operator) -> Result:
        state = self.state
        self.rows[-1] = (*self.rows[-1][:2], state.objective, self.relative)
        history = np.array(self.rows, dtype=HISTORY).view(np.recarray)
        end = self.converged, self.reason, self.interrupted
        return Result(A.from_device(state.H), state.objective, self.relative, self.reference, history, *end)


def run(
    problem: Problem,
    solver: Solver,
    starts: Sequence[Array],
    control: Control,
    reference: Sequence[float] | None = None,
    *,
    certify: bool = True,
    least: int = 1,
    settles: bool = False,
    watch_labels: bool = False,
    interrupted: bool = False,
) -> list[Result]:
    """Descend from every start until it is stationary or a limit is met.

    Ctrl-C ends it at the points that are there; a second one, while they are measured, is raised.

    Parameters
    ----------
    problem, solver
        What to minimise and how. A combination that cannot work is refused before the first product.
    starts : sequence of ndarray of shape (n, k)
        The solver may change them in place.
    control : Control
        Limits and callback.
    reference : sequence of float, optional
        What stationarity is relative to, one per start; by default ‖∇ᴾf‖ at the start itself.
    certify : bool, default=True
        Spend a last product on the exact objective and stationarity of points known only from their way.
    least : int, default=1
        Iterations that are taken even if the time is up before them.
    settles : bool, default=False
        Whether a start is also done when an iteration lowers the objective by less than 2 `tol` of what all
        iterations have. For solvers that know the decrease exactly, and starts from labels, where the
        first iterations bring nearly all and stationarity is far away.
    watch_labels : bool, default=False
        Whether a start is also done when an iteration moves next to no sample to another cluster.
    interrupted : bool, default=False
        Whether Ctrl-C has come while the starts were made: they are measured, and that is all.
    """
    solver.check(problem)
    if is_recording() and problem.operator.on_device:
        raise CombinationError(
            "A checkpoint holds NumPy arrays, and with A on a device H stays there. Fit without a "
            "checkpoint, or give A as a NumPy array or a SciPy sparse array."
        )
    how = _How(problem, solver, control, certify, least, settles, watch_labels)
    given: Sequence[float | None] = reference or [None] * len(starts)
    work = partial(_descend, how, starts, given, interrupted)
    results = recorded("descent", work, fits=partial(_can_be_results, problem, starts))
    return [replace(result) for result in results]  # the journal keeps its own, which nobody changes


def _can_be_results(problem: Problem, starts: Sequence[Array], answer: Any) -> bool:
    """Whether an answer from a file has an end for each start; of a start only the rows may be gone."""
    return len(answer) == len(starts) and all(
        isinstance(end, Result)
        and type(end.H) is type(H)
        and (end.H.shape, end.H.dtype) == ((problem.operator.n, H.shape[1]), H.dtype)
        and end.history.dtype.names == HISTORY.names
        and len(end.history) > 0
        for end, H in zip(answer, starts, strict=True)
    )


@dataclass(frozen=True)
class _How:
    """Options that all starts of a run share, see `run`."""

    problem: Problem
    solver: Solver
    control: Control
    certify: bool
    least: int
    settles: bool
    watch_labels: bool


def _descend(
    how: _How, starts: Sequence[Array], given: Sequence[float | None], interrupted: bool
) -> list[Result]:
    problem, control, piece = how.problem, how.control, PieceUnderWay()
    with single_threaded_blas():
        A = problem.operator
        runs = [_Run(i, A.to_device(H), given[i], control, how.settles) for i, H in enumerate(starts)]
        try:
            saved = piece.take_state()
            iteration = _begin(problem, runs) if saved is None else _go_on(A.n, runs, saved)
            if interrupted:
                _end_at_the_start(runs)
            if how.watch_labels:
                for r in runs:
                    r.watch()
            _iterate(how, runs, iteration, piece, None if saved is None else iteration)
            if how.certify:
                _measure(problem, [r.state for r in runs if r.state.was_swept])
                _certify(problem, runs)
        except KeyboardInterrupt:
            stop_recording()
            if not keeps_results():
                raise
            _keep_what_is_there(problem, runs, how.certify)
        return [r.result(A) for r in runs]


def _begin(problem: Problem, runs: list[_Run]) -> int:
    """Measure the starts; return the number of iterations so far, none."""
    _measure(problem, [r.state for r in runs])
    for r in runs:
        r.begin(problem.objective.rounding(r.state.H, r.state.AH))
        if r.is_rounding() or (r.control.tol > 0 and r.reaches_tol()):
            r.finish("stationary from the start", converged=True)
    return 0


def _go_on(n: int, runs: list[_Run], saved: dict[str, Any]) -> int:
    """Take up the states of a checkpoint, and its clock; return the number of iterations so far."""
    with _of_a_checkpoint():
        for r, own in zip(runs, saved["runs"], strict=True):
            r.restore(own, n, saved["seconds"])
        return int(saved["iteration"])


def _end_at_the_start(runs: list[_Run]) -> None:
    for r in runs:
        r.finish("interrupted while the start was made; what there was of it is kept")
        r.interrupted = True


def _keep_what_is_there(problem: Problem, runs: list[_Run], certify: bool) -> None:
    """End an interrupted run.

    A solver may have been changing H in place, so that nothing known of it holds: it is measured afresh.
    """
    for r in runs:
        r.interrupt()
    unsure = [r for r in runs if not r.converged and (certify or not r.rows)]
    for r in unsure:
        r.state.AH, r.state.measured = None, False
    _measure(problem, [r.state for r in unsure])
    for r in unsure:
        if not r.rows:
            r.begin(0.0)
    if certify:
        _certify(problem, runs)


def _measure(problem: Problem, states: Sequence[State]) -> None:
    """Fill in objective and stationarity; products that are missing take one reading of A together."""
    unknown = [s for s in states if s.AH is None and problem.objective.needs_product(s.H)]
    if unknown:
        for state, AH in zip(unknown, multiply(problem.operator, [s.H for s in unknown]), strict=True):
            state.AH = AH
    for state in states:
        state.objective, state.stationarity = problem.measure(state.H, state.AH)
        state.measured = True
    _refuse_nonfinite(problem, states)


def _refuse_nonfinite(problem: Problem, states: Sequence[State]) -> None:
    """Refuse to go on from a point whose objective is NaN or infinite: nothing that follows has a meaning."""
    found = [s.objective for s in states if not np.isfinite(s.objective)]
    if found:
        problem.operator.refuse_nonfinite()
        raise InputError(
            f"The objective has become {found[0]}: the matrix was changed during the fit, or its entries are "
            "so large that their sums overflow. Check it, or divide it by its largest entry."
        )


def _certify(problem: Problem, runs: Sequence[_Run]) -> None:
    for r in runs:
        r.state.objective = problem.objective.certify(r.state.H, r.state.objective)


def _advance(problem: Problem, solver: Solver, active: Sequence[_Run]) -> None:
    """Take one iteration, and measure where it has led."""
    solver.advance(problem, [r.state for r in active])
    _measure(problem, [r.state for r in active if not r.state.was_swept])
    _refuse_nonfinite(problem, [r.state for r in active])
    # Where stationarity was gathered on the way, ask A once more before believing it.
    _measure(problem, [r.state for r in active if r.state.was_swept and r.looks_stationary()])


@contextmanager
def _of_a_checkpoint() -> Iterator[None]:
    """Refuse a state that raises whatever it raises: what a solver remembers was written by anybody."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"The checkpoint is damaged: its descent is not one of these ({error}).") from error


def _iterate(how: _How, runs: list[_Run], iteration: int, piece: PieceUnderWay, resumed: int | None) -> None:
    problem, control = how.problem, runs[0].control
    piece.settle(partial(_snapshot, runs, iteration))
    while active := [r for r in runs if not r.reason]:
        if limit := _limit_met(iteration, control, how.least):
            for r in active:
                r.finish(f"{limit} with stationarity {r.relative:.1e} (tol {control.tol:.1e})")
            break
        piece.unsettle()
        with _of_a_checkpoint() if iteration == resumed else nullcontext():
            _advance(problem, how.solver, active)
            iteration += 1
            for r in active:
                r.record(iteration)
                _judge(r, iteration, control)
        piece.settle(partial(_snapshot, runs, iteration))
        if _told_to_stop(active, iteration, control):
            break
    piece.unsettle()


def _snapshot(runs: list[_Run], iteration: int) -> dict[str, Any]:
    """Return all that a run needs to go on after an iteration."""
    seconds = runs[0].control.seconds()
    return {"iteration": iteration, "seconds": seconds, "runs": [r.saved() for r in runs]}


def _limit_met(iteration: int, control: Control, least: int) -> str:
    if iteration >= control.max_iter:
        return f"stopped at max_iter={control.max_iter}"
    if iteration >= least and control.is_over():
        return f"stopped at time_limit={control.time_limit:g} s after {iteration} iterations"
    return ""


def _judge(r: _Run, iteration: int, control: Control) -> None:
    few = r.few_moved()
    if r.state.measured and r.reaches_tol():
        r.finish(
            f"converged: stationarity {r.relative:.1e} after {iteration} iterations (tol {control.tol:.1e})",
            True,
        )
    elif r.state.measured and r.is_rounding():
        r.finish(f"converged: stationary to rounding after {iteration} iterations", True)
    elif r.has_settled():
        r.finish(
            f"converged: iteration {iteration} brought less than {SETTLED * control.tol:.1e} of the decrease "
            "of all",
            True,
        )
    elif few:
        r.finish(f"converged: iteration {iteration} moved {few} samples to another cluster", True)
    elif r.state.settled:
        r.finish(f"converged: {r.state.settled}, after {iteration} iterations", True)
    elif r.state.stalled:
        r.finish(
            f"stopped after {iteration} iterations with stationarity {r.relative:.1e}: {r.state.stalled}"
        )


def _told_to_stop(active: Sequence[_Run], iteration: int, control: Control) -> bool:
    stop = False
    for r in active:
        logger.debug(
            "start %d, iteration %d: objective %.6g, stationarity %.2e",
            r.number,
            iteration,
            r.state.objective,
            r.relative,
        )
        if control.callback is not None:
            progress = Progress(r.number, iteration, control.seconds(), r.state.objective, r.relative)
            stop = is_true(control.callback(progress)) or stop
    if stop:
        for r in (r for r in active if not r.reason):
            r.finish(f"stopped by the callback after {iteration} iterations")
    return stop
