"""HALS that looks ahead: the coupled step is taken from a point extrapolated over the last two."""

from __future__ import annotations

from typing import Any, ClassVar

from symclust import _kernels
from symclust._types import Array
from symclust.nnls import hals
from symclust.solvers._base import Problem, State, Steps
from symclust.solvers.coupled import CoupledSolver

__all__ = ["ExtrapolatedHals"]

FIRST = 0.5  # β, the share of the last change by which a point is extrapolated
GROWTH, CEILING_GROWTH = 1.05, 1.01  # of β, and of the bound on it, after a step that lowers f
FALL = 1.5  # what β is divided by after one that does not


class ExtrapolatedHals(CoupledSolver):
    """The coupled sweep of `hals` with W = H + β(H − H₋) in place of W = H.

    AW follows from the products at H and H₋, so that looking ahead costs none. A step that does not lower f
    is dropped, β is divided by 1.5, and the sweep is done from H itself, without extrapolation: then g(W, H)
    of symnmf (15) falls below f(W), as in `hals`. After a step that does lower f, β grows by 5 %.

    References
    ----------
    A. M. S. Ang and N. Gillis, Accelerating nonnegative matrix factorization algorithms using extrapolation,
    Neural Computation 31 (2019), whose rule for β and whose restarts these are.
    """

    on_device: ClassVar[bool] = True
    # Extrapolation lengthens steps by itself: from a tenth they overshoot, and take ten times as many.
    _least: ClassVar[float] = 1.0

    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Sweep once from W, which is the last H."""
        return hals(left, right, W)

    def step(self, problem: Problem, state: State) -> Steps:
        """Sweep from the extrapolated point; where that does not lower f, from H."""
        if state.AH is None:
            state.move(state.H, (yield state.H))
        H, AH, memory = state.H, state.AH, state.memory
        assert AH is not None
        alpha = memory.setdefault("coupling", self._first_coupling(problem.operator))
        value = problem.objective.value(H, AH, _kernels.gram(H)[0])
        before, memory["before"] = memory.get("before"), (H, AH)
        if before is not None:
            beta = H.dtype.type(memory.setdefault("beta", FIRST))
            W, AW = H + beta * (H - before[0]), AH + beta * (AH - before[1])
            trial = self._swept(problem, W, AW, H, alpha)
            product = yield trial
            lowers = problem.objective.value(trial, product, _kernels.gram(trial)[0]) <= value
            _adapt(memory, lowers)
            if lowers:
                self._compare(memory, H, trial)
                state.move(trial, product)
                return
        trial = self._swept(problem, H, AH, H, alpha)
        self._compare(memory, H, trial)
        state.move(trial, (yield trial))

    def _swept(self, problem: Problem, W: Array, AW: Array, H: Array, alpha: float) -> Array:
        left, right = problem.objective.normal_equations(W, AW, _kernels.gram(W)[0], alpha)
        return self.minimise(left, right, H, H)


def _adapt(memory: dict[str, Any], lowers: bool) -> None:
    """Change β, and the bound on it, after a step."""
    beta, ceiling = memory["beta"], memory.get("ceiling", 1.0)
    if lowers:
        memory["beta"] = min(ceiling, GROWTH * beta)
        memory["ceiling"] = min(1.0, CEILING_GROWTH * ceiling)
    else:
        memory["beta"], memory["ceiling"] = beta / FALL, memory.get("good", beta)
    memory["good"] = beta if lowers else memory.get("good", beta)
