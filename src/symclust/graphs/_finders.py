"""Three ways to propose the nearest rows: a tree, scikit-learn's blocked search, a sparse product.

Each runs on one thread; `_neighbors` shares the rows out and checks the proposals.
"""

from __future__ import annotations

from math import log2
from typing import Protocol

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from symclust._threads import single_threaded_libraries
from symclust._types import Features

__all__ = ["Brute", "Finder", "SparseProduct", "Tree", "choose_finder"]

TREE = 0.6  # trees win up to about this times log2(n) dimensions (measured: 8 for n = 20,000)
LOST = 1e6 * np.finfo(np.float64).eps  # squared distances below this share of ‖x‖² have lost their order


class Finder(Protocol):
    """Proposes neighbours of rows: fast, right up to rounding."""

    def candidates(self, Q: Features, count: int) -> np.ndarray:
        """Return the numbers of the `count` nearest rows, in any order."""
        ...


class Tree:
    """A k-d tree on the rows; costs grow with 2^d but hardly with n."""

    def __init__(self, X: np.ndarray) -> None:
        self._tree = cKDTree(X)

    def candidates(self, Q: np.ndarray, count: int) -> np.ndarray:
        """Return the numbers of the `count` nearest rows."""
        return self._tree.query(Q, count)[1].reshape(Q.shape[0], count)


class Brute:
    """scikit-learn's search through ‖x‖² + ‖y‖² − 2xᵀy, on centred rows so that less cancels."""

    def __init__(self, X: np.ndarray) -> None:
        self._center = X.mean(axis=0, dtype=np.float64)
        self._search = NearestNeighbors(algorithm="brute").fit(X - self._center)

    def candidates(self, Q: np.ndarray, count: int) -> np.ndarray:
        """Return the numbers of the `count` nearest rows."""
        # Among ties scikit-learn's own threads would let the fastest win. The limit is the calling thread's.
        with single_threaded_libraries():
            return self._search.kneighbors(Q - self._center, count, return_distance=False)

    def lost(self, Q: np.ndarray, farthest: np.ndarray) -> np.ndarray:
        """Return the rows whose neighbours, the farthest at the given distance, may have been misjudged."""
        norms = np.square(Q - self._center).sum(axis=1)
        return np.flatnonzero((farthest > 0) & (farthest**2 < LOST * norms))


class SparseProduct:
    """The same expansion by a sparse product: each block of rows meets the transpose, made once."""

    def __init__(self, X: sparse.csr_array) -> None:
        self._transpose = X.T.tocsr().astype(np.float64)
        self._norms = X.astype(np.float64).power(2).sum(axis=1)

    def candidates(self, Q: sparse.csr_array, count: int) -> np.ndarray:
        """Return the numbers of the `count` nearest rows."""
        closeness = (Q.astype(np.float64) @ self._transpose).toarray()
        closeness *= -2
        closeness += self._norms  # ‖q‖² is the same for all candidates
        return np.argpartition(closeness, count - 1, axis=1)[:, :count]


def choose_finder(X: Features) -> Finder:
    """Return the way that is fastest for the form and shape of X."""
    if sparse.issparse(X):
        return SparseProduct(X)
    n, d = X.shape
    return Tree(X) if d <= max(2.0, TREE * log2(n)) else Brute(X)
