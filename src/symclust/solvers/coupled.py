"""Two coupled factors that end as one: alternating least squares, and column by column."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.bounds import smallest_eigenvalue
from symclust.constraints import Constraint
from symclust.exceptions import CombinationError, OptionError
from symclust.nnls import block_pivoting, hals
from symclust.objectives import HasNormalEquations
from symclust.operators import Operator
from symclust.solvers._base import Problem, ProductSolver, State, Steps, known

__all__ = ["Anls", "Columnwise", "Hals"]

LEAST = 0.1  # where an increasing coupling begins, relative to the largest eigenvalue: steps are longer
GROWTH = 1.01  # of an increasing coupling, symnmf 6.3
NEGLIGIBLE = 1e-8  # ‖W − H‖ / ‖H‖ at which an increasing coupling stops growing, symnmf 6.3
# Relative rise of the estimate of the largest eigenvalue at which it is done: each step reads A.
STEADY = 1e-6
MARGIN = 1e-6  # by which the coupling of `Columnwise` exceeds the bound, relative to it


def _checked(coupling: Any, *names: str) -> Any:
    """The weight of two coupled factors, if it is one of the names or a positive number."""
    is_number = isinstance(coupling, Real) and not isinstance(coupling, bool)
    if not (0 < float(coupling) < np.inf if is_number else isinstance(coupling, str) and coupling in names):
        known = ", ".join(map(repr, names))
        raise OptionError(f"coupling={coupling!r} is not possible: give {known} or a positive number.")
    return coupling


class CoupledSolver(ProductSolver):
    """Minimise ‖A − WHᵀ‖² + α‖W − H‖² over H with W the previous H, symnmf Algorithm 2.

    A fixed point of the step has W = H and is a stationary point of the symmetric objective, whatever α is.

    Parameters
    ----------
    coupling : "auto", "increasing" or float, default="auto"
        The weight α. It has the unit of A. "auto" takes the largest eigenvalue of A, which is the α = 1 of
        the paper for normalised-cut similarities. "increasing" starts below that and grows by 1 % in every
        step in which the factors drift apart: H is nearer to the factor before W than to W, and ‖W −
        H‖ / ‖H‖ ≥ 1e-8. Growth in every step, as in the paper, shortens the steps until nothing moves.
    """

    needs: ClassVar[tuple[type, ...]] = (HasNormalEquations,)

    def __init__(self, coupling: float | str = "auto") -> None:
        self.coupling = _checked(coupling, "auto", "increasing")
        self._largest: float | None = None

    @abstractmethod
    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """H ≥ 0 no worse than V, the factor before W, for the problem with these normal equations."""

    def step(self, problem: Problem, state: State) -> Steps:
        """W ← H, then H from its least squares problem."""
        (W, AW), memory = (yield from known(state)), state.memory
        alpha = memory.setdefault("coupling", self._first_coupling(problem.operator))
        left, right = problem.objective.normal_equations(W, AW, _kernels.gram(W)[0], alpha)
        H = self.minimise(left, right, W, memory.get("before", W))
        memory["before"] = W
        memory["coupled_objective"] = problem.objective.coupled_value(W, AW, H, alpha)
        memory["gap"] = _kernels.norm(W - H) / max(_kernels.norm(H), np.finfo(H.dtype).tiny)
        if self.coupling == "increasing":
            V, memory["last"] = memory.get("last"), W
            if V is not None and memory["gap"] >= NEGLIGIBLE and _turns_back(V, W, H):
                memory["coupling"] *= GROWTH
        state.move(H, (yield H))

    def _first_coupling(self, operator: Operator) -> float:
        if not isinstance(self.coupling, str):
            return float(self.coupling)
        if self._largest is None:
            self._largest = largest_eigenvalue(operator)
        return self._largest * (LEAST if self.coupling == "increasing" else 1)


def _turns_back(V: Array, W: Array, H: Array) -> bool:
    """Whether H is nearer to V than to W, the two factors before it: they drift apart then."""
    return _kernels.norm(H - V) < _kernels.norm(H - W)


class Anls(CoupledSolver):
    """Symnmf Algorithm 2: every step solves its nonnegative least squares problem exactly.

    The coupled objective g(W, H) never rises: g is symmetric in W and H, and H minimises it for the W at
    hand.
    """

    aliases: ClassVar[tuple[str, ...]] = ("bpp",)

    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Solve exactly, pivoting from the support of W: it hardly changes from step to step."""
        return block_pivoting(left, right, W)


class Hals(CoupledSolver):
    """The coupling of `anls` with one exact sweep over the columns of H in place of the exact solution.

    The sweep starts from the factor before W. Since g is symmetric, g(W, H) ≤ g(W, V) = g(V, W): the coupled
    objective never rises. From W itself only g(W, H) ≤ g(W, W) would hold.
    """

    on_device: ClassVar[bool] = True

    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Sweep once from V."""
        return hals(left, right, V)


def largest_eigenvalue(operator: Operator, steps: int = 20) -> float:
    """Estimate the largest eigenvalue of a nonnegative A by at most so many power iterations."""
    x = np.asarray(operator.degrees(), dtype=operator.dtype)
    estimate = 0.0
    for _ in range(steps):
        norm = _kernels.norm(x)
        if norm == 0.0:
            break
        x = x / operator.dtype.type(norm)
        product = operator @ x
        before, estimate = estimate, _kernels.norm(product)
        if estimate <= before * (1 + STEADY):  # ‖Ax‖ never falls from step to step
            break
        x = product
    return estimate or 1.0


class Columnwise(ProductSolver):
    """Constrained Algorithm 1: minimise ‖M − HPᵀ‖² + μ‖H − P‖² (11) over one column of H or P at a time.

    Each minimiser is exact, for H ≥ 0 after clipping too, so (11) never rises. With μ as large as
    in corollary 1, every critical point of (11) has H = P and is one of ‖M − HHᵀ‖² (10): that is where the
    iteration ends. An iteration multiplies M with 2k columns, k of them one by one.

    Parameters
    ----------
    coupling : "auto" or float, default="auto"
        The weight μ (called λ in (11), like the weight of the graph regulariser). "auto" takes the bound of
        corollary 1, ½(‖M‖ + ‖M − H₀H₀ᵀ‖ − σ_n(M)), with the smallest eigenvalue by Lanczos. Smaller values
        take longer steps, and may end with H ≠ P.
    """

    needs: ClassVar[tuple[type, ...]] = (HasNormalEquations,)
    constraint_needs: ClassVar[frozenset[str]] = frozenset({"entrywise"})

    def __init__(self, coupling: float | str = "auto") -> None:
        self.coupling = _checked(coupling, "auto")
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
            yield from known(state)
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


def _minimise(constraint: Constraint, H: Array, P: Array, i: int, Mp: Array, mu: Array) -> None:
    """Set hᵢ to its minimiser ((M − Σ_{j≠i} hⱼpⱼᵀ) pᵢ + μpᵢ) / (‖pᵢ‖² + μ), (19)."""
    p = P[:, i]
    overlaps = P.T @ p
    pull = Mp + mu * p - H @ overlaps + overlaps[i] * H[:, i]
    H[:, i] = constraint.project((pull / (overlaps[i] + mu))[:, None])[:, 0]
