"""What the solvers with two coupled factors share: the coupling weight and the step."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.exceptions import OptionError
from symclust.objectives import GivesNormalEquations
from symclust.operators import Operator
from symclust.solvers._base import Problem, ProductSolver, State, Steps

GROWTH = 1.01  # of an increasing coupling, symnmf 6.3
NEGLIGIBLE = 1e-8  # ‖W − H‖ / ‖H‖ at which an increasing coupling stops growing, symnmf 6.3


class CoupledSolver(ProductSolver):
    """Minimise ‖A − WHᵀ‖² + α‖W − H‖² over H with W the previous H, symnmf Algorithm 2.

    A fixed point of the step has W = H and is a stationary point of the symmetric objective, whatever α is.

    Parameters
    ----------
    coupling : "auto", "increasing" or float, default="auto"
        The weight α. It has the unit of A. "auto" takes the largest eigenvalue of A, which is the α = 1 of
        the paper for normalised-cut similarities; "increasing" starts there and grows by 1 % a step until ‖W
        − H‖ / ‖H‖ < 1e-8.
    """

    needs: ClassVar[tuple[type, ...]] = (GivesNormalEquations,)

    def __init__(self, coupling: float | str = "auto") -> None:
        if isinstance(coupling, str) and coupling not in ("auto", "increasing"):
            raise OptionError(
                f"coupling={coupling!r} is not known. Give 'auto', 'increasing' or a positive number."
            )
        if not isinstance(coupling, str) and not coupling > 0:
            raise OptionError(
                f"coupling={coupling!r} must be positive: without it W and H would drift apart."
            )
        self.coupling = coupling
        self._largest: float | None = None

    @abstractmethod
    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Return H ≥ 0 no worse than V, the factor before W, for the problem with these normal equations."""

    def step(self, problem: Problem, state: State) -> Steps:
        """W ← H, then H from its least squares problem."""
        W, AW, memory = state.H, state.AH, state.memory
        if AW is None:
            AW = yield W
        alpha = memory.setdefault("coupling", self._first_coupling(problem.operator))
        left, right = problem.objective.normal_equations(W, AW, _kernels.gram(W)[0], alpha)
        H = self.minimise(left, right, W, memory.get("before", W))
        memory["before"] = W
        memory["coupled_objective"] = problem.objective.coupled_value(W, AW, H, alpha)
        memory["gap"] = _kernels.norm(W - H) / max(_kernels.norm(H), np.finfo(H.dtype).tiny)
        if self.coupling == "increasing" and memory["gap"] >= NEGLIGIBLE:
            memory["coupling"] = alpha * GROWTH
        state.move(H, (yield H))

    def _first_coupling(self, operator: Operator) -> float:
        if not isinstance(self.coupling, str):
            return float(self.coupling)
        if self._largest is None:
            self._largest = largest_eigenvalue(operator)
        return self._largest


def largest_eigenvalue(operator: Operator, steps: int = 20) -> float:
    """Estimate the largest eigenvalue of a nonnegative A by power iterations; two digits suffice."""
    x = np.asarray(operator.degrees(), dtype=operator.dtype)
    estimate = 0.0
    for _ in range(steps):
        norm = _kernels.norm(x)
        if norm == 0.0:
            break
        x = x / operator.dtype.type(norm)
        product = operator @ x
        estimate = _kernels.norm(product)
        x = product
    return estimate or 1.0
