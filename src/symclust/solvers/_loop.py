"""The only loop: clock, history, stopping, callback, interrupt.

Starts run side by side; one that is done leaves the batch and the others go on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np

from symclust._threads import keeps_results, single_threaded_blas
from symclust._types import Array
from symclust.exceptions import CombinationError, InputError, InterruptedWarning, NotConvergedWarning, warn
from symclust.operators import Operator
from symclust.solvers._base import Problem, Solver, State, multiply
from symclust.storage import PieceUnderWay, is_recording, recorded, stop_recording
from symclust.validation import check_callback, check_number, is_true

logger = logging.getLogger("symclust")

# An iteration on a sparse factor that lowers the objective by less than this many tol of the decrease so far
# brings nonzeros and little else.
SETTLED = 2
KEPT = {"reference": Real, "rounding": Real, "reason": str, "converged": bool}  # of a run, in checkpoints
KEPT_OF_STATE = {
    **{"objective": Real, "stationarity": Real, "measured": bool},
    **{"memory": dict, "stalled": str, "settled": str},
}
HISTORY = np.dtype([("iteration", "i8"), ("seconds", "f8"), ("objective", "f8"), ("stationarity", "f8")])


@dataclass(frozen=True)
class Progress:
    """The argument of a callback, after each iteration of each start; returning True stops the run.

    `stationarity` is ‖∇ᴾf(H)‖ relative to the first point's.
    """

    start: int
    iteration: int
    seconds: float
    objective: float
    stationarity: float


@dataclass(frozen=True)
class Control:
    """Limits and callback: the options that every estimator on the loop has.

    Its clock starts when it is made, as a fit begins.
    """

    tol: float = 1e-2
    max_iter: int = 500
    time_limit: float | None = None
    callback: Callable[[Progress], object] | None = None
    clock: float = field(default_factory=time.perf_counter)
    settles: float = 0.0  # share of the samples: a descent from a clustering also ends when no more move

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
    """The end of one start; `stationarity` is relative to `reference`, ‖∇ᴾf‖ at the first point.

    `interrupted` means that Ctrl-C ended the run with this start.
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
        """Warn of an end other than convergence, in the name of an estimator."""
        if self.interrupted or not self.converged:
            category = InterruptedWarning if self.interrupted else NotConvergedWarning
            warn(f"{name} {self.stop_reason}.", category)


class _Run:
    """One start: its state, its history, and why it ended, once it has."""

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

    @property
    def relative(self) -> float:
        return self.state.stationarity / self.reference if self.reference > 0 else 0.0

    def begin(self, rounding: float) -> None:
        """Take the point that was measured as the first."""
        self.reference = self.state.stationarity if self.given is None else self.given
        self.rounding = rounding
        self.record(0)

    def record(self, iteration: int) -> None:
        self.rows.append((iteration, self.control.seconds(), self.state.objective, self.relative))

    def reaches_tol(self) -> bool:
        return self.relative <= self.control.tol

    def is_rounding(self) -> bool:
        return self.state.stationarity <= self.rounding

    def has_settled(self) -> bool:
        """Whether the last iteration has brought at most a share of 2 `tol` of the decrease so far."""
        first, before, now = (self.rows[i][2] for i in (0, -2, -1))
        return self.settles and before - now < SETTLED * self.control.tol * (first - now)

    def watch_labels(self) -> None:
        if isinstance(self.state.H, np.ndarray):  # on a device memberships stay there
            self.labels = self.state.H.argmax(axis=1)

    def few_moved(self) -> str:
        """Number of samples that the last iteration has moved, in words; nothing if they are many."""
        if self.labels is None:
            return ""
        before = self.labels
        self.watch_labels()
        moved, n = int(np.count_nonzero(self.labels != before)), len(before)
        return f"{moved:,} of {n:,}" if moved <= self.control.settles * n else ""

    def finish(self, reason: str, converged: bool = False) -> None:
        self.reason, self.converged = reason, converged

    def end_if_done(self, iteration: int) -> None:
        """Finish if the point is good enough, or if the solver cannot go on."""
        state, tol, after = self.state, self.control.tol, f"after {iteration} iterations"
        few = self.few_moved()
        if state.measured and self.reaches_tol():
            self.finish(f"converged: stationarity {self.relative:.1e} {after} (tol {tol:.1e})", True)
        elif state.measured and self.is_rounding():
            self.finish(f"converged: stationary to rounding {after}", True)
        elif self.has_settled():
            share = f"less than {SETTLED * tol:.1e} of the decrease of all"
            self.finish(f"converged: iteration {iteration} brought {share}", True)
        elif few:
            self.finish(f"converged: iteration {iteration} moved {few} samples to another cluster", True)
        elif state.settled:
            self.finish(f"converged: {state.settled}, {after}", True)
        elif state.stalled:
            self.finish(f"stopped {after} with stationarity {self.relative:.1e}: {state.stalled}")

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

    def saved(self) -> dict[str, Any]:
        """The entries of a checkpoint."""
        kept = {name: getattr(self, name) for name in KEPT}
        return {**kept, "rows": np.array(self.rows, dtype=HISTORY), "state": dict(vars(self.state))}

    def restore(self, saved: dict[str, Any], n: int, seconds: float) -> None:
        """Go on from there, with the clock as it was; the rows of the start itself may be gone."""
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
        The problem and its solver. A combination that cannot work is refused before the first product.
    starts : sequence of ndarray of shape (n, k)
        The solver may change them in place.
    control : Control
        Limits and callback.
    reference : sequence of float, optional
        The number that stationarity is relative to, for each start; by default ‖∇ᴾf‖ at the start itself.
    certify : bool, default=True
        Spend a last product on the exact objective and stationarity of points known only from their way.
    least : int, default=1
        Iterations that are taken even if the time is up before them.
    settles : bool, default=False
        Whether a start is also done when an iteration lowers the objective by less than 2 `tol` of the whole
        decrease. For solvers that know the decrease exactly, and starts from labels: there the first
        iterations bring nearly all, and stationarity is far away.
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

    def descend() -> list[Result]:
        with single_threaded_blas():
            factors = [problem.operator.to_device(H) for H in starts]
            given = dict(enumerate(reference or []))
            runs = [_Run(i, H, given.get(i), control, settles) for i, H in enumerate(factors)]
            return _Loop(problem, solver, runs, certify, least, watch_labels).results(interrupted)

    def can_be_results(answer: Any) -> bool:
        """Whether an answer from a file has an end for each start; of a start only the rows may be gone."""
        return len(answer) == len(starts) and all(
            isinstance(end, Result)
            and type(end.H) is type(H)
            and (end.H.shape, end.H.dtype) == ((problem.operator.n, H.shape[1]), H.dtype)
            and end.history.dtype.names == HISTORY.names
            and len(end.history) > 0
            for end, H in zip(answer, starts, strict=True)
        )

    results = recorded("descent", descend, fits=can_be_results)
    return [replace(result) for result in results]  # the journal keeps its own


class _Loop:
    """The runs of all starts, side by side, and the checkpoint they are part of."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        runs: list[_Run],
        certify: bool,
        least: int,
        watch_labels: bool,
    ) -> None:
        self.problem, self.solver, self.runs = problem, solver, runs
        self.certifies, self.least, self.watches = certify, least, watch_labels
        self.iteration, self.piece = 0, PieceUnderWay()

    def results(self, interrupted: bool) -> list[Result]:
        """The ends of all starts."""
        try:
            resumed = self.begin()
            for r in self.runs if interrupted else []:
                r.finish("interrupted while the start was made; what there was of it is kept")
                r.interrupted = True
            for r in self.runs if self.watches else []:
                r.watch_labels()
            self.iterate(resumed)
            if self.certifies:
                self.measure([r for r in self.runs if r.state.was_swept])
                self.certify()
        except KeyboardInterrupt:
            stop_recording()
            if not keeps_results():
                raise
            self.keep_what_is_there()
        return [r.result(self.problem.operator) for r in self.runs]

    def begin(self) -> int | None:
        """Measure the starts; or take up the states of a checkpoint, and return their iteration."""
        saved = self.piece.take_state()
        if saved is not None:
            with _of_a_checkpoint():
                for r, own in zip(self.runs, saved["runs"], strict=True):
                    r.restore(own, self.problem.operator.n, saved["seconds"])
                self.iteration = int(saved["iteration"])
            return self.iteration
        self.measure(self.runs)
        for r in self.runs:
            r.begin(self.problem.objective.rounding(r.state.H, r.state.AH))
            if r.is_rounding() or (r.control.tol > 0 and r.reaches_tol()):
                r.finish("stationary from the start", converged=True)
        return None

    def iterate(self, resumed: int | None) -> None:
        control = self.runs[0].control
        self.piece.settle(self.snapshot)
        while active := [r for r in self.runs if not r.reason]:
            if limit := self.limit_met(control):
                for r in active:
                    r.finish(f"{limit} with stationarity {r.relative:.1e} (tol {control.tol:.1e})")
                break
            self.piece.unsettle()
            with _of_a_checkpoint() if self.iteration == resumed else nullcontext():
                self.advance(active)
            self.piece.settle(self.snapshot)
            if self.stopped_by_callback(active, control):
                break
        self.piece.unsettle()

    def limit_met(self, control: Control) -> str:
        if self.iteration >= control.max_iter:
            return f"stopped at max_iter={control.max_iter}"
        if self.iteration >= self.least and control.is_over():
            return f"stopped at time_limit={control.time_limit:g} s after {self.iteration} iterations"
        return ""

    def advance(self, active: list[_Run]) -> None:
        """Take one iteration, measure where it has led, and end the runs that are done."""
        self.solver.advance(self.problem, [r.state for r in active])
        self.measure([r for r in active if not r.state.was_swept])
        self.refuse_nonfinite(active)
        # If stationarity was gathered on the way, A decides: one more product before it is believed.
        self.measure([r for r in active if r.state.was_swept and (r.reaches_tol() or r.is_rounding())])
        self.iteration += 1
        for r in active:
            r.record(self.iteration)
            r.end_if_done(self.iteration)

    def measure(self, runs: list[_Run]) -> None:
        """Fill in objective and stationarity; products that are missing take one reading of A together."""
        problem, states = self.problem, [r.state for r in runs]
        unknown = [s for s in states if s.AH is None and problem.objective.needs_product(s.H)]
        if unknown:
            for state, AH in zip(unknown, multiply(problem.operator, [s.H for s in unknown]), strict=True):
                state.AH = AH
        for state in states:
            state.objective, state.stationarity = problem.measure(state.H, state.AH)
            state.measured = True
        self.refuse_nonfinite(runs)

    def refuse_nonfinite(self, runs: list[_Run]) -> None:
        """Refuse to go on from an objective that is NaN or infinite: nothing that follows has a meaning."""
        found = [r.state.objective for r in runs if not np.isfinite(r.state.objective)]
        if found:
            self.problem.operator.refuse_nonfinite()
            raise InputError(
                f"The objective has become {found[0]}: the matrix was changed during the fit, or its entries "
                "are so large that their sums overflow. Check it, or divide it by its largest entry."
            )

    def certify(self) -> None:
        for r in self.runs:
            r.state.objective = self.problem.objective.certify(r.state.H, r.state.objective)

    def stopped_by_callback(self, active: list[_Run], control: Control) -> bool:
        stop, message = False, "start %d, iteration %d: objective %.6g, stationarity %.2e"
        for r in active:
            logger.debug(message, r.number, self.iteration, r.state.objective, r.relative)
            if control.callback is not None:
                at = r.number, self.iteration, control.seconds(), r.state.objective, r.relative
                stop = is_true(control.callback(Progress(*at))) or stop
        for r in active if stop else []:
            if not r.reason:
                r.finish(f"stopped by the callback after {self.iteration} iterations")
        return stop

    def keep_what_is_there(self) -> None:
        """End an interrupted run.

        A solver may have been changing H in place, so that nothing known of it holds: it is measured afresh.
        """
        for r in self.runs:
            r.interrupt()
        unsure = [r for r in self.runs if not r.converged and (self.certifies or not r.rows)]
        for r in unsure:
            r.state.AH, r.state.measured = None, False
        self.measure(unsure)
        for r in unsure:
            if not r.rows:
                r.begin(0.0)
        if self.certifies:
            self.certify()

    def snapshot(self) -> dict[str, Any]:
        """All that a run needs to go on after an iteration."""
        seconds = self.runs[0].control.seconds()
        return {"iteration": self.iteration, "seconds": seconds, "runs": [r.saved() for r in self.runs]}


@contextmanager
def _of_a_checkpoint() -> Iterator[None]:
    """Refuse a state that raises any error: anybody can write the memory of a solver."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"The checkpoint is damaged: its descent is not one of these ({error}).") from error
