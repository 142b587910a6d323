"""The Laplacian of a graph of samples, seen through products."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.operators import Operator

__all__ = ["Laplacian"]


class Laplacian:
    """L = D − S for nonnegative similarities S with row sums D.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Dense
    >>> from symclust.two_factors.laplacian import Laplacian
    >>> Laplacian(Dense(1 - np.eye(2))).roughness(np.array([[1.0], [3.0]])).tolist()
    [4.0]
    """

    def __init__(self, graph: Operator) -> None:
        self.graph = graph
        self.degrees = graph.degrees()

    def parts(self, W: Array) -> tuple[Array, Array]:
        """Return DW and SW."""
        return self.degrees[:, None] * W, self.graph @ W

    def __matmul__(self, W: Array) -> Array:
        """Return LW."""
        product, neighbours = self.parts(W)
        product -= neighbours
        return product

    def roughness(self, W: Array) -> Array:
        """Return w_lᵀLw_l = ½ Σ s_ij (w_il − w_jl)² for each column, at least zero, in double precision."""
        return np.maximum(np.einsum("ij,ij->j", W, self @ W, dtype=np.float64), 0)
