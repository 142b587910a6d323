"""Solvers: one step on a state.

A solver never loops, never looks at the clock and never multiplies with A by itself. It is a coroutine that
yields a matrix and is sent its product with A; the driver collects the requests of all starts and reads A
once for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from symclust import _kernels, registry
from symclust._types import Array
from symclust.constraints import Constraint
from symclust.exceptions import CombinationError
from symclust.objectives import Objective, missing_methods
from symclust.operators import Operator

Steps = Generator[Array, Array, None]


@dataclass(frozen=True)
class Problem:
    """Minimise `objective`, an `Objective` with the methods that the solver needs, over `constraint`."""

    operator: Operator
    objective: Any
    constraint: Constraint

    def measure(self, H: Array, AH: Array | None) -> tuple[float, float]:
        """The objective and how far H is from stationary, as the objective counts it."""
        objective: Objective = self.objective
        return objective.measure(H, AH, self.constraint)


@dataclass
class State:
    """The state of one start.

    Attributes
    ----------
    H : ndarray of shape (n, k)
        The current point.
    AH : ndarray or None
        The product for this H, if it is known.
    measured : bool
        Whether `objective` and `stationarity` were computed at this H. If not, and H was swept over, they
        were gathered on the way: the objective exactly, the stationarity while the entries were changing.
    memory : dict
        The solver's own, from one step to the next.
    stalled : str
        Set by a solver that cannot go on: the reason, as a sentence.
    settled : str
        Set by a solver that is done by a criterion of its own: which one, as a sentence.
    """

    H: Array
    AH: Array | None = None
    objective: float = np.inf
    stationarity: float = np.inf
    measured: bool = False
    memory: dict[str, Any] = field(default_factory=dict)
    stalled: str = ""
    settled: str = ""

    def move(self, H: Array, AH: Array) -> None:
        """Go to a point whose product is known."""
        self.H, self.AH, self.measured = H, AH, False

    def sweep(self, H: Array, decrease: float, stationarity: float) -> None:
        """Go to a point that was reached by a sweep, with the measures gathered on the way."""
        self.H, self.AH, self.measured = H, None, False
        self.objective = max(self.objective - decrease, 0.0)
        self.stationarity = stationarity

    @property
    def was_swept(self) -> bool:
        """Whether objective and stationarity were gathered on the way to the point, and not at it."""
        return self.AH is None and not self.measured


class Solver(ABC):
    """One step for all starts at once.

    Attributes
    ----------
    needs : tuple of protocols
        The methods that the objective must have, beside measuring points, from `symclust.objectives`.
    constraint_needs : frozenset of str
        The properties that the constraint must offer; H ≥ 0 by default.
    on_device : bool
        Whether a step is written in NumPy's operators and functions alone, and so works on factors that are
        on a device.
    family : str
        The registry's family of solvers for problems of the same kind.
    aliases : tuple of str
        Further names as an option.
    """

    needs: ClassVar[tuple[type, ...]] = ()
    constraint_needs: ClassVar[frozenset[str]] = frozenset({"nonnegative"})
    on_device: ClassVar[bool] = False
    family: ClassVar[str] = "solvers"
    aliases: ClassVar[tuple[str, ...]] = ()

    def check(self, problem: Problem) -> None:
        """Refuse an objective or constraint that lacks a need of this solver, before the first product."""
        if not self.constraint_needs <= problem.constraint.offers:
            raise CombinationError(
                f"{type(self).__name__} needs a constraint that is "
                f"{' and '.join(sorted(self.constraint_needs))}, which {problem.constraint!r} is not. "
                "solver='projected_gradient' works with every constraint."
            )
        if missing := self.lacks(problem.objective):
            others = ", ".join(map(repr, solvers_for(problem.objective, self.family)))
            raise CombinationError(
                f"{type(self).__name__} needs {', '.join(missing)} of the objective, which "
                f"{type(problem.objective).__name__} does not offer. "
                f"Solvers that work with it: {others}."
            )
        if problem.operator.on_device:
            self._check_device(problem)

    def _check_device(self, problem: Problem) -> None:
        """Refuse a combination that needs the factor as a NumPy array while it is on a device."""
        objective, what, known = problem.objective, "", []
        if not problem.constraint.on_device:
            what, known = repr(problem.constraint), _on_device("constraints", registry.options("constraints"))
        elif not (self.on_device and objective.on_device):
            what = f"{type(self).__name__} with {type(objective).__name__}"
            known = _on_device(self.family, solvers_for(objective, self.family)) * objective.on_device
        if what:
            others = f"These work there: {', '.join(map(repr, known))}. Or give" if known else "Give"
            raise CombinationError(
                f"With A on a device H stays there, and {what} needs it as a NumPy array. {others} A as a "
                "NumPy array or a SciPy sparse array."
            )

    @classmethod
    def lacks(cls, objective: Objective) -> list[str]:
        """The needs of this solver that an objective lacks, in words."""
        return missing_methods(cls.needs, objective)

    @abstractmethod
    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Take every state one iteration further."""


def solvers_for(objective: Objective, family: str = "solvers") -> list[str]:
    """The names of the solvers of a family that an objective has all methods for.

    Parameters
    ----------
    objective : Objective
        The objective, with its operator.
    family : str, default="solvers"
        The folder of the solvers; "two_factors.solvers" for X ≈ WCᵀ.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.objectives import Absolute
    >>> from symclust.operators import as_operator
    >>> from symclust.solvers import solvers_for
    >>> solvers_for(Absolute(as_operator(np.eye(2))))
    ['coordinate']
    """
    known = {name: registry.resolve(family, name) for name in registry.options(family)}
    return [name for name, solver in known.items() if not solver.lacks(objective)]


def _on_device(family: str, names: Iterable[str]) -> list[str]:
    """Those of the options that work with factors on a device."""
    return [name for name in names if registry.resolve(family, name).on_device]


class ProductSolver(Solver):
    """A solver written as a coroutine over products with A."""

    @abstractmethod
    def step(self, problem: Problem, state: State) -> Steps:
        """Take one step: yield a matrix, receive its product with A."""

    def advance(self, problem: Problem, states: Sequence[State]) -> None:
        """Run the steps of all states side by side."""
        drive(problem.operator, [self.step(problem, state) for state in states])


def known(state: State) -> Generator[Array, Array, tuple[Array, Array]]:
    """H and AH, which takes one more product unless it is known."""
    if state.AH is None:
        state.move(state.H, (yield state.H))
    assert state.AH is not None
    return state.H, state.AH


@dataclass
class Point:
    """A matrix, its product with A, its Gram matrix, and the objective there."""

    H: Array
    AH: Array
    G: Array
    value: float

    @classmethod
    def at(cls, problem: Problem, H: Array, AH: Array) -> Point:
        """The point with its objective."""
        G = _kernels.gram(H)[0]
        return cls(H, AH, G, problem.objective.value(H, AH, G))

    def gradient(self, problem: Problem) -> Array:
        """∇f."""
        return problem.objective.gradient(self.H, self.AH, self.G)


def slack(problem: Problem) -> float:
    """A difference of two objectives by the trace form that is rounding, not ascent."""
    return 4 * float(np.finfo(np.float64).eps) * problem.objective.squared_norm


def relative_length(H: Array, direction: Array) -> float:
    """‖H‖ / ‖direction‖, the step that would change H by all of its length; 1 if there is none."""
    H_norm, length = _kernels.norm(H), _kernels.norm(direction)
    return H_norm / length if H_norm > 0 and length > 0 else 1.0


def drive(operator: Operator, coroutines: Sequence[Steps]) -> None:
    """Run coroutines to their ends, answering each round of requests with a single product."""
    pending = [(coroutine, wish) for coroutine in coroutines if (wish := next(coroutine, None)) is not None]
    while pending:
        products = multiply(operator, [wish for _, wish in pending])
        following = []
        for (coroutine, _), product in zip(pending, products, strict=True):
            try:
                following.append((coroutine, coroutine.send(product)))
            except StopIteration:
                continue
        pending = following


def multiply(operator: Operator, factors: Sequence[Array]) -> list[Array]:
    """A @ H for several H while reading A once."""
    return side_by_side(operator.__matmul__, factors)


def side_by_side(multiply_by: Callable[[Array], Array], factors: Sequence[Array]) -> list[Array]:
    """The products of several blocks of columns from one wide product."""
    if len(factors) == 1:
        return [multiply_by(factors[0])]
    product = multiply_by(np.concatenate(factors, axis=1))
    borders = np.cumsum([factor.shape[1] for factor in factors])[:-1].tolist()
    return [part.copy() for part in np.split(product, borders, axis=1)]
