"""Similarities divided by the square roots of the degrees."""

from __future__ import annotations

from typing import Any

from symclust._types import SimilarityLike
from symclust.graphs._degrees import degrees, inverse_roots, scale
from symclust.operators import Dense, Operator, Sparse, as_operator

__all__ = ["normalized_cut"]


def normalized_cut(similarity: Any) -> SimilarityLike:
    """Normalise: a_ij = e_ij d_i^-1/2 d_j^-1/2 with d_i = Σ_j e_ij (Kuang, Yun and Park 2015, (25)).

    Nodes of large degree no longer outweigh the others: factoring A approximates the normalised cut, and the
    largest eigenvalue of A is 1.

    Parameters
    ----------
    similarity : ndarray, sparse array or matrix, networkx or igraph graph, or Operator
        Square, symmetric, with row sums of at least 0. It is not changed.

    Returns
    -------
    A : ndarray, csr_array or Operator
        Of the kind given; a sparse matrix of any format and a graph give a csr_array.

    Raises
    ------
    InputError
        If a degree is negative or not finite.

    Notes
    -----
    A node without edges keeps its zero row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.graphs import normalized_cut
    >>> normalized_cut(np.array([[0.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    operator = as_operator(similarity)
    if isinstance(similarity, Operator) or not isinstance(operator, Dense | Sparse):
        return operator.scaled(inverse_roots(operator.degrees(), operator.dtype))  # (25)
    A = (operator.array if isinstance(operator, Dense) else operator.csr).copy()
    roots = inverse_roots(degrees(A), A.dtype)
    scale(A, roots, roots)  # (25)
    return A
