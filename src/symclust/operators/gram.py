"""A = X Xᵀ, never formed: inner products of data, or cosines through a row scaling."""

from __future__ import annotations

from typing import Any

from symclust.operators._factored import Factored
from symclust.operators._reading import read_factor

__all__ = ["Gram"]


class Gram(Factored):
    """A = diag(s) X Xᵀ diag(s), with or without its diagonal.

    With s_i = 1/‖x_i‖ the entries are cosine similarities (symnmf (21)). A product is X (Xᵀ H) and costs two
    passes over X; no n x n array is formed. Without self-edges the diagonal is subtracted from the product,
    so that a product of nonnegative X and H may come out negative by rounding.

    Parameters
    ----------
    X : array or SciPy sparse array of shape (n, d)
        One row an object. A sparse X is also kept transposed once a product is taken.
    scale : array of shape (n,), optional
        The row scaling s; ones by default.
    self_edges : bool, default=True
        With False the diagonal of A is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.operators import Gram
    >>> X = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 2.0]])
    >>> cosine = Gram(X, scale=1 / np.linalg.norm(X, axis=1), self_edges=False)
    >>> cosine.toarray().round(2).tolist()
    [[0.0, 0.96, 0.8], [0.96, 0.0, 0.6], [0.8, 0.6, 0.0]]
    """

    def __init__(self, X: Any, scale: Any = None, self_edges: bool = True) -> None:
        super().__init__(read_factor(X), scale=scale, self_edges=self_edges)
