"""What a solver may ask of a constraint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import ClassVar

import numpy as np

from symclust import _kernels
from symclust._types import Array


class Constraint(ABC):
    """A closed set that H is kept in.

    A subclass needs `project` and `violation`; the rest has defaults that are right for every set.

    Attributes
    ----------
    offers : frozenset of str
        What solvers may rely on besides the projection: "nonnegative" for the orthant H ≥ 0 itself,
        "entrywise" if every entry is projected by itself, "convex".
    by_rows : bool
        Whether every row is projected by itself, so that H can be handled in blocks of rows.
    nonnegative : bool
        Whether no point of the set has a negative entry.
    most_per_row : int or None
        How many entries of a row may differ from zero; None where that is not limited.
    """

    offers: ClassVar[frozenset[str]] = frozenset()
    by_rows: bool = True
    nonnegative: ClassVar[bool] = False
    most_per_row: int | None = None

    @abstractmethod
    def project(self, H: Array) -> Array:
        """Return the nearest point of the set, one of them where several are equally near."""

    @abstractmethod
    def violation(self, H: Array) -> float:
        """Return the largest amount by which H leaves the set, 0.0 inside."""

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Return the part of the gradient that the constraint does not hold; zero at stationary points.

        By default (H − P(H − t∇)) / t, which is zero where a projected gradient step of size t goes nowhere.
        Where that holds for a step it holds for all shorter ones, so t is short, ‖t∇‖ = ε^⅓ ‖H‖: as far as
        rounding allows, the limit t → 0.
        """
        slope = _kernels.norm(gradient)
        size = _kernels.norm(H)
        if slope == 0.0:
            return gradient
        t = H.dtype.type(float(np.finfo(H.dtype).eps) ** (1 / 3) * (size or 1.0) / slope)
        return (H - self.project(H - t * gradient)) / t

    def random(self, shape: tuple[int, int], rng: np.random.RandomState, level: float = 1.0) -> Array:
        """Return a random point of the set, made from normal numbers of standard deviation `level`."""
        return self.project(level * rng.standard_normal(shape))

    def __repr__(self) -> str:
        names = signature(type(self)).parameters
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"
