"""Column by column on two coupled factors."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.constraints import Constraint
from symclust.exceptions import CombinationError, OptionError
from symclust.objectives import GivesNormalEquations
from symclust.operators import Operator
from symclust.solvers._base import Problem, ProductSolver, State, Steps

__all__ = ["Columnwise"]

ACCURACY = 1e-3  # of the smallest eigenvalue, relative to ‖M‖
MARGIN = 1e-6  # by which the coupling exceeds the bound, relative to it


class Columnwise(ProductSolver):
    """Constrained Algorithm 1: minimise ‖M − HPᵀ‖² + μ‖H − P‖² (11) over one column of H or P at a time.

    Each minimiser is exact, for H ≥ 0 after clipping too, so (11) never rises. With μ as large as
    corollary 1 asks, every critical point of (11) has H = P and is one of ‖M − HHᵀ‖² (10): that is where the
    iteration ends. An iteration multiplies M with 2k columns, k of them one by one.

    Parameters
    ----------
    coupling : "auto" or float, default="auto"
        The weight μ (called λ in (11), like the weight of the graph regulariser). "auto" takes the bound of
        corollary 1, ½(‖M‖ + ‖M − H₀H₀ᵀ‖ − σ_n(M)), with the smallest eigenvalue by Lanczos. Smaller values
        take longer steps, and may end with H ≠ P.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesNormalEquations,)
    constraint_needs: ClassVar[frozenset[str]] = frozenset({"entrywise"})

    def __init__(self, coupling: float | str = "auto") -> None:
        positive = isinstance(coupling, Real) and not isinstance(coupling, bool) and coupling > 0
        if coupling != "auto" and not positive:
            raise OptionError(
                f"coupling={coupling!r} is not possible for solver='columnwise': give 'auto' or a positive "
                "number."
            )
        self.coupling = coupling
        self._smallest: float | None = None

    def check(self, problem: Problem) -> None:
        """Refuse an L1 term too: it ties the columns of a row together."""
        super().check(problem)
        if problem.objective.sparsity:
            raise CombinationError(
                "solver='columnwise' minimises the squared distance alone: leave out sparsity, or choose "
                "solver='row_descent'."
            )

    def step(self, problem: Problem, state: State) -> Steps:
        """Go once over the columns: h₁, p₁, h₂, p₂, ..."""
        memory, constraint = state.memory, problem.constraint
        H, P = np.asfortranarray(state.H), np.asfortranarray(memory.get("P", state.H))
        H, P = H.copy(order="F"), P.copy(order="F")
        if "coupling" not in memory:
            if state.AH is None:
                state.move(state.H, (yield state.H))
            memory["coupling"] = self._first_coupling(problem, state)
        mu = H.dtype.type(memory["coupling"])
        MP = yield P
        MH = np.empty_like(P)
        for i in range(H.shape[1]):
            _minimise(constraint, H, P, i, MP[:, i], mu)
            product = yield H[:, i : i + 1]
            MH[:, i] = product[:, 0]
            # M − Σ hⱼpⱼᵀ is not symmetric while H ≠ P: for p its transpose counts, the factors change places.
            _minimise(constraint, P, H, i, MH[:, i], mu)
        H, P, MH = np.ascontiguousarray(H), np.ascontiguousarray(P), np.ascontiguousarray(MH)
        memory["P"] = P
        memory["coupled_objective"] = problem.objective.coupled_value(H, MH, P, float(mu))
        memory["gap"] = _kernels.norm(H - P) / max(_kernels.norm(H), np.finfo(H.dtype).tiny)
        state.move(H, MH)

    def _first_coupling(self, problem: Problem, state: State) -> float:
        if not isinstance(self.coupling, str):
            return float(self.coupling)
        if self._smallest is None:
            self._smallest = smallest_eigenvalue(problem.operator)
        assert state.AH is not None
        norm = np.sqrt(problem.objective.squared_norm)
        misfit = np.sqrt(problem.objective.value(state.H, state.AH, _kernels.gram(state.H)[0]))
        bound = (norm + misfit - self._smallest) / 2  # corollary 1
        return float(bound * (1 + MARGIN)) or 1.0


def smallest_eigenvalue(operator: Operator) -> float:
    """Return a number just below σ_n(M): Lanczos comes from above, by no more than its accuracy."""
    values, _ = operator.eigsh(1, "SA", tol=ACCURACY)
    size, _ = operator.eigsh(1, "LM", tol=ACCURACY)
    return float(values[0]) - ACCURACY * abs(float(size[0]))


def _minimise(constraint: Constraint, H: Array, P: Array, i: int, Mp: Array, mu: Array) -> None:
    """Set hᵢ to its minimiser ((M − Σ_{j≠i} hⱼpⱼᵀ) pᵢ + μpᵢ) / (‖pᵢ‖² + μ), (19)."""
    p = P[:, i]
    overlaps = P.T @ p
    pull = Mp + mu * p - H @ overlaps + overlaps[i] * H[:, i]
    H[:, i] = constraint.project((pull / (overlaps[i] + mu))[:, None])[:, 0]
