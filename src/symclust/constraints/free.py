"""No constraint at all."""

from __future__ import annotations

from typing import ClassVar

from symclust._types import Array
from symclust.constraints._base import Constraint

__all__ = ["Free"]


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

    def project(self, H: Array) -> Array:
        """Return H."""
        return H

    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Return the gradient."""
        return gradient

    def violation(self, H: Array) -> float:
        """Return 0.0."""
        return 0.0
