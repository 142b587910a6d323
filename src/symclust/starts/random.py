"""Uniform random entries on the scale of A."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from symclust._types import Array
from symclust.objectives import Objective
from symclust.starts._base import Formula, Setting, Start

__all__ = ["Random", "RandomAsPrinted"]


class Random(Formula):
    """Independent entries uniform on [0, 2 √(m/k)], m the mean of A.

    A product HHᵀ of such a factor has about the mean of A, so that the descent starts on the right scale.
    If negative entries leave no positive mean, m is the root of the mean square instead. A problem on another
    set starts at random points of that set.
    """

    two_factors: ClassVar[bool] = True
    least_iterations: ClassVar[int] = 1

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """Return H; without `rng`, that of a fixed seed."""
        H = (rng or np.random.RandomState(0)).random_sample((objective.operator.n, n_columns))
        H *= 2 * entry_level(objective, n_columns)
        return H.astype(objective.operator.dtype, copy=False)

    def find(self, setting: Setting) -> list[Start]:
        """Return the points, after a few sweeps of another objective if that leads to this one."""
        points = super().find(setting)
        if not setting.has_surrogate:
            return points
        results = setting.descend_briefly([point.H for point in points])
        return [Start(result.H, interrupted=result.interrupted) for result in results]

    def find_in_set(self, setting: Setting, orthant: Setting, level: float) -> list[Start]:
        """Return random points of the set."""
        draw, shape = setting.problem.constraint.random, (setting.problem.operator.n, setting.n_columns)
        return [Start(draw(shape, setting.rng, level)) for _ in range(setting.n_init)]


class RandomAsPrinted(Random):
    """Independent entries uniform on [0, 1], whatever the scale of A, and no few sweeps of another objective.

    The random start of offdiagonal, for comparison: under the absolute loss it leads nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.starts import RandomAsPrinted
    >>> from symclust.objectives import Absolute
    >>> from symclust.operators import as_operator
    >>> RandomAsPrinted().factor(Absolute(as_operator(np.ones((4, 4)))), 2).max() < 1
    np.True_
    """

    two_factors: ClassVar[bool] = False

    def factor(self, objective: Any, n_columns: int, rng: np.random.RandomState | None = None) -> Array:
        """Return H; without `rng`, that of a fixed seed."""
        H = (rng or np.random.RandomState(0)).random_sample((objective.operator.n, n_columns))
        return H.astype(objective.operator.dtype, copy=False)

    def find(self, setting: Setting) -> list[Start]:
        """Return the points as they are."""
        return Formula.find(self, setting)


def entry_level(objective: Objective, n_columns: int) -> float:
    """Return √(m/k), m the mean of A: a product HHᵀ of such entries has the mean of A.

    If negative entries leave no positive mean, m is the root of the mean square instead: H = 0 would be
    a stationary point.
    """
    mean = objective.operator.mean()
    if mean <= 0:
        mean = float(np.sqrt(objective.operator.squared_norm())) / objective.operator.n
    return float(np.sqrt(mean / n_columns))
