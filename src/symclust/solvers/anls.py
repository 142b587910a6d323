"""Alternating nonnegative least squares with block pivoting."""

from __future__ import annotations

from symclust._types import Array
from symclust.nnls import block_pivoting
from symclust.solvers._coupled import CoupledSolver

__all__ = ["Anls"]


class Anls(CoupledSolver):
    """Symnmf Algorithm 2: every step solves its nonnegative least squares problem exactly.

    The coupled objective g(W, H) never rises: g is symmetric in W and H, and H minimises it for the W at
    hand.
    """

    def minimise(self, left: Array, right: Array, W: Array, V: Array) -> Array:
        """Solve exactly, pivoting from the support of W: it hardly changes from step to step."""
        return block_pivoting(left, right, W)
