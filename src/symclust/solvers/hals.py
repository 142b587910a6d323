"""Hierarchical alternating least squares on the coupled problem."""

from __future__ import annotations

from symclust._types import Array
from symclust.nnls import hals
from symclust.solvers._coupled import CoupledSolver

__all__ = ["Hals"]


class Hals(CoupledSolver):
    """The coupling of `anls` with one exact sweep over the columns of H in place of the exact solution.

    The sweep starts from the factor before W. Since g is symmetric, g(W, H) ≤ g(W, V) = g(V, W): the coupled
    objective never rises. From W itself only g(W, H) ≤ g(W, W) would hold.
    """

    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Sweep once from V."""
        return hals(left, right, V)
