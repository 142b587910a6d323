"""Hierarchical alternating least squares on the coupled problem."""

from __future__ import annotations

from symclust.nnls.hals import hals
from symclust.solvers._base import Array
from symclust.solvers._coupled import CoupledSolver


class Hals(CoupledSolver):
    """The coupling of `anls` with one exact sweep over the columns of H in place of the exact solution."""

    def minimise(self, left: Array, right: Array, W: Array) -> Array:
        """Sweep once from W."""
        return hals(left, right, W)
