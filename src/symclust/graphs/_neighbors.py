"""Exact nearest neighbours in blocks of rows, without an n × n array.

SciPy's k-d tree serves few dimensions, scikit-learn's blocked search many, a sparse product sparse rows.
Each runs on one thread inside a block of rows whose borders depend on the data alone, so the answer does
not depend on the number of threads. All three only propose candidates, a few more than asked for; their
distances are then computed again from differences and sorted by distance and, among equals, by row number.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from symclust._threads import map_blocks, single_threaded_blas, split
from symclust._types import Features
from symclust.exceptions import InputError
from symclust.graphs._finders import Brute, Finder, Tree, choose_finder
from symclust.graphs._pairs import pair_distances

__all__ = ["NeighborSearch"]

SPARE = 4  # candidates beyond those asked for: rounding in the search must not cost a neighbour
ROWS = 2048  # rows searched at a time
SPARSE_CELLS = 1 << 23  # numbers in the dense block that a sparse product is unpacked into: 64 MB


class NeighborSearch:
    """Nearest neighbours among the rows of X, by Euclidean distance.

    Exact up to points whose distances agree within the rounding of the search. Which of several points at
    the very same distance come in at the end of the list depends on X alone.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, d)

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.graphs._neighbors import NeighborSearch
    >>> distances, neighbors = NeighborSearch(np.array([[0.0], [1.0], [5.0]])).nearest(1)
    >>> neighbors.tolist(), distances.tolist()
    ([[1], [0], [1]], [[1.0], [1.0], [4.0]])
    """

    def __init__(self, X: Features) -> None:
        _check_range(X)
        self.X = X
        self._rows = max(1, min(ROWS, SPARSE_CELLS // X.shape[0])) if sparse.issparse(X) else ROWS

    def nearest(self, k: int, X_new: Features | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return distances (float64) and row numbers of the k nearest rows, nearest first.

        Parameters
        ----------
        k : int
            How many; where there are fewer, all.
        X_new : ndarray or csr_array of shape (m, d), optional
            Look for the neighbours of these; by default of the rows of X, none of which is its own neighbour
            (a duplicate is).

        Returns
        -------
        distances, neighbors : ndarray of shape (m, k)
        """
        Q = self.X if X_new is None else X_new
        _check_range(Q)
        k = min(k, self.X.shape[0] - (X_new is None))
        if k < 1:
            return np.empty((Q.shape[0], 0)), np.empty((Q.shape[0], 0), dtype=np.intp)

        finder = self._finder  # made here, once, and not by all threads at the same time

        def block(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            own = np.arange(rows.start, rows.stop) if X_new is None else None
            return self._block(finder, Q[rows], own, k)

        with single_threaded_blas():
            parts = map_blocks(block, split(Q.shape[0], self._rows))
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    @cached_property
    def _finder(self) -> Finder:
        return choose_finder(self.X)

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self.X)

    def _block(
        self, finder: Finder, Q: Features, own: np.ndarray | None, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        count = min(k + SPARE + 1, self.X.shape[0])
        distances, neighbors = self._refined(finder, Q, own, count, k)
        if isinstance(finder, Brute):
            # Rare: neighbours so close, against their distance from the centre, that the expansion
            # cannot tell them apart. A tree works on differences, whatever the dimension.
            lost = finder.lost(Q, distances[:, -1])
            if lost.size:
                mine = None if own is None else own[lost]
                distances[lost], neighbors[lost] = self._refined(self._tree, Q[lost], mine, count, k)
        return distances, neighbors

    def _refined(
        self, finder: Finder, Q: Features, own: np.ndarray | None, count: int, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        neighbors = finder.candidates(Q, count)
        distances = pair_distances(Q, self.X, neighbors)
        if own is not None:
            distances[neighbors == own[:, None]] = np.inf  # by number, not by distance: duplicates stay
        order = np.lexsort((neighbors, distances))[:, :k]
        return np.take_along_axis(distances, order, 1), np.take_along_axis(neighbors, order, 1)


def _check_range(X: Features) -> None:
    values = X.data if sparse.issparse(X) else X
    largest = float(max(values.max(), -values.min())) if values.size else 0.0
    if largest > 1e150:  # squared differences must stay finite
        raise InputError(
            f"Distances between the samples overflow: the largest entry is {largest:.3g} in size. "
            "Rescale the features, for example with sklearn.preprocessing.StandardScaler."
        )
