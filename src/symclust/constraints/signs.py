"""All matrices, or those without negative entries."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from symclust._types import Array
from symclust.constraints._base import Constraint

__all__ = ["Free", "Nonnegative"]


class Free(Constraint):
    """All matrices; entries of both signs.

    The minimum of ‖M − HHᵀ‖² is then known (Eckart and Young): H = VΛ^½ from the k largest eigenvalues, with
    max(λ, 0) in the place of negative ones, and every rotation HQ of it.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Free
    >>> Free().project(np.array([[-1.0, 2.0]])).tolist()
    [[-1.0, 2.0]]
    """

    offers: ClassVar[frozenset[str]] = frozenset({"entrywise", "convex"})
    on_device: ClassVar[bool] = True

    def project(self, H: Array) -> Array:
        """H itself."""
        return H

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """The gradient."""
        return gradient

    def violation(self, H: Array) -> float:
        """0.0: every matrix is in the set."""
        return 0.0


class Nonnegative(Constraint):
    """The nonnegative orthant.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.constraints import Nonnegative
    >>> H = np.array([[0.0, 2.0]])
    >>> Nonnegative().projected_gradient(H, np.array([[3.0, 1.0]])).tolist()
    [[0.0, 1.0]]
    """

    offers: ClassVar[frozenset[str]] = frozenset({"nonnegative", "entrywise", "convex"})
    on_device: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = True

    def project(self, H: Array) -> Array:
        """max(H, 0)."""
        return np.maximum(H, 0)

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Keep the entries with H > 0 and the negative ones, thesis (9)."""
        return gradient * ((H > 0) | (gradient < 0))

    def random(self, shape: tuple[int, int], rng: np.random.RandomState, level: float = 1.0) -> Array:
        """Magnitudes of normal numbers: a projection would leave every second entry at zero."""
        return level * np.abs(rng.standard_normal(shape))

    def violation(self, H: Array) -> float:
        """Distance of the smallest entry below zero."""
        return float(max(0.0, -H.min(initial=0.0)))
