"""Similarities divided by the square roots of the degrees."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust._threads import split
from symclust._types import Array, Matrix, SimilarityLike
from symclust.exceptions import InputError
from symclust.operators import Dense, Operator, Sparse, as_operator

__all__ = ["normalized_cut"]

ROWS = 256  # of a dense matrix scaled at a time: the temporary stays small


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
        return NormalizedCut().fit(operator)
    return NormalizedCut().fit((operator.array if isinstance(operator, Dense) else operator.csr).copy())


class NormalizedCut:
    """The step from a graph to its normalised cut, for the nodes there are and for those that join later.

    A new node with the edges of an old one gets the old one's row of A, to the bit.

    Attributes
    ----------
    degrees_ : ndarray of shape (n,)
        Row sums of the similarities.
    """

    def fit(self, E: SimilarityLike, degrees: Array | None = None) -> SimilarityLike:
        """Return the normalised cut of E and remember its degrees; an array is scaled in place."""
        self.degrees_ = row_sums(E) if degrees is None else degrees
        self._roots = inverse_roots(self.degrees_, E.dtype)
        if isinstance(E, Operator):
            return E.scaled(self._roots)  # (25)
        return scale(E, self._roots, self._roots)  # (25)

    def extend(self, E: Matrix) -> Matrix:
        """Return the rows of new nodes, given by their similarities to those of `fit`, scaled in place."""
        return scale(E, inverse_roots(row_sums(E), E.dtype), self._roots)  # (25)


def row_sums(E: SimilarityLike) -> Array:
    """Return the degrees of a graph; those of an array are accumulated in float64."""
    if isinstance(E, Operator):
        return E.degrees()
    return E @ np.ones(E.shape[1]) if sparse.issparse(E) else E.sum(axis=1, dtype=np.float64)


def inverse_roots(d: Array, dtype: np.dtype) -> Array:
    """Return d^-1/2, and 0 where a node has no edges.

    Degrees below the smallest normal number of `dtype` have underflowed and count as zero; so the product
    of two roots cannot overflow.
    """
    if not np.isfinite(d).all():
        raise InputError("Similarities contain NaN or infinity: the degrees of the graph are not finite.")
    if (d < 0).any():
        worst = int(np.argmin(d))
        raise InputError(
            f"The normalised cut needs degrees >= 0, but {np.count_nonzero(d < 0)} of {d.size} are negative "
            f"(the smallest, {d[worst]:.3g}, at node {worst}). Use nonnegative similarities, for example by "
            "making the features nonnegative or with affinity='self_tuning', or leave out the normalisation."
        )
    roots = np.zeros(d.shape, dtype=dtype)
    connected = d >= np.finfo(dtype).tiny
    roots[connected] = 1 / np.sqrt(d[connected])
    return roots


def scale(E: Matrix, left: Array, right: Array) -> Matrix:
    """Replace e_ij by e_ij left_i right_j in place; with left = right a symmetric E stays so to the bit."""
    if sparse.issparse(E):
        E.data *= np.repeat(left, np.diff(E.indptr)) * right[E.indices]
        return E
    for rows in split(E.shape[0], ROWS):
        E[rows] *= left[rows, None] * right
    return E
