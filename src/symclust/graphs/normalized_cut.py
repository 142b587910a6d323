"""Similarities divided by the square roots, or other powers, of the degrees."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from symclust._threads import split
from symclust._types import Array, Matrix, SimilarityLike
from symclust.exceptions import InputError
from symclust.operators import Operator, as_operator
from symclust.validation import check_number

__all__ = ["normalized_cut"]

ROWS = 256  # of a dense matrix scaled at a time: the temporary stays small


def normalized_cut(similarity: SimilarityLike, exponent: float = 0.5) -> SimilarityLike:
    """Normalise: a_ij = e_ij (d_i d_j)^-α with d_i = Σ_j e_ij; α = 1/2 is (25) of Kuang, Yun and Park (2015).

    Nodes of large degree no longer outweigh the others. With α = 1/2 factoring A approximates the normalised
    cut, and the largest eigenvalue of A is 1; but each piece of a network that hangs on the rest by an edge
    then has an eigenvalue near 1 too, and passes for a cluster. A little less than 1/2 favours large ones.

    Parameters
    ----------
    similarity : ndarray, sparse array or matrix, networkx or igraph graph, or Operator
        Square, symmetric, with row sums of at least 0. It is not changed.
    exponent : float from 0 to 1, default=0.5
        α; 0 changes nothing.

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
    is_array = operator.is_stored and not isinstance(similarity, Operator)
    return NormalizedCut(exponent).fit(operator.matrix.copy() if is_array else operator)


class NormalizedCut:
    """The step from a graph to its normalised cut, for its nodes and for those that join later.

    A new node with the edges of an old one gets the old one's row of A, to the bit. `exponent` is α of
    `normalized_cut`; `degrees_` are the row sums of the similarities.
    """

    def __init__(self, exponent: float = 0.5) -> None:
        self.exponent = exponent

    def fit(self, E: SimilarityLike, degrees: Array | None = None) -> SimilarityLike:
        """Return the normalised cut of E and remember its degrees; an array is scaled in place."""
        self.degrees_ = row_sums(E) if degrees is None else degrees
        check_number("exponent", self.exponent, least=0, most=1)
        self._factors = inverse_powers(self.degrees_, self.exponent, E.dtype)
        if isinstance(E, Operator):
            return E.scaled(self._factors)  # (25)
        return scale(E, self._factors, self._factors)  # (25)

    def extend(self, E: Matrix) -> Matrix:
        """Return the rows of new nodes, given by their similarities to those of `fit`, scaled in place."""
        return scale(E, inverse_powers(row_sums(E), self.exponent, E.dtype), self._factors)  # (25)

    def before(self, A: SimilarityLike) -> SimilarityLike:
        """Return the graph, fresh, whose normalised cut `fit` has made: A times the powers of the degrees."""
        powers = np.divide(1, self._factors, out=np.zeros_like(self._factors), where=self._factors > 0)
        return A.scaled(powers) if isinstance(A, Operator) else scale(A.copy(), powers, powers)

    def grown(self, A: SimilarityLike, E: SimilarityLike) -> tuple[NormalizedCut, SimilarityLike]:
        """Return the step and the normalised cut of a graph that has grown to E, which is scaled in place."""
        step = NormalizedCut(self.exponent)
        return step, step.fit(E)


def row_sums(E: SimilarityLike) -> Array:
    """Return the degrees of a graph; those of stored entries are accumulated in float64."""
    if isinstance(E, Operator):
        return E.sums_in_double()
    return E @ np.ones(E.shape[1]) if sparse.issparse(E) else E.sum(axis=1, dtype=np.float64)


def inverse_powers(d: Array, exponent: float, dtype: np.dtype) -> Array:
    """Return d^-α, and 0 if a node has no edges.

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
    powers = np.zeros(d.shape, dtype=dtype)
    connected = d >= np.finfo(dtype).tiny
    # The root is rounded better than a power.
    powers[connected] = 1 / np.sqrt(d[connected]) if exponent == 0.5 else d[connected] ** -exponent
    return powers


def scale(E: Matrix, left: Array, right: Array) -> Matrix:
    """Replace e_ij by e_ij left_i right_j in place; with left = right a symmetric E stays so to the bit."""
    if sparse.issparse(E):
        E.data *= np.repeat(left, np.diff(E.indptr)) * right[E.indices]
        return E
    for rows in split(E.shape[0], ROWS):
        E[rows] *= left[rows, None] * right
    return E
