"""Candidates for neighbours among very many dense rows: inverted lists of faiss.

k-means sorts the rows into about 2√n lists, and a row is compared with those in the lists whose centres are
nearest. The number of lists that this takes is measured, on rows drawn with a fixed seed whose true
neighbours are found by comparing them with all others. Everything runs on the calling thread, whose blocks of
rows depend on the data alone: the same rows get the same candidates, on any number of threads.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from symclust._threads import single_threaded_libraries, split
from symclust._types import Array
from symclust.graphs._finders import Finder

RECALL = 0.98  # share of the true neighbours that enough lists find
LISTS = 2.0  # times √n: with more, centres take longer to compare than rows
LEAST_ROWS = 64  # a list, for centres that mean something; so many are also enough to find its centre
ITERATIONS = 10  # of k-means: more do not change which lists are near
FIRST = 8  # lists tried first
SHARE = 8  # with more than one list in so many, comparing all rows is as fast
SAMPLE = 256  # rows whose recall is measured
SEED = 0  # of the sample and of k-means
EQUAL = 1e-6  # distances that agree to this share are equal in single precision
CELLS = 1 << 22  # distances computed at a time


class TooScattered(Exception):
    """So many lists would be needed that comparing all rows is as fast."""


def has_faiss() -> bool:
    """Whether the extra `ann` is installed."""
    return find_spec("faiss") is not None


class InvertedLists(Finder):
    """Lists of near rows, and the number of them that finds enough neighbours.

    With `all_lists` any number of lists may be searched; otherwise a large number raises `TooScattered`.
    """

    is_exact = False

    def __init__(self, X: Array, all_lists: bool = False) -> None:
        self._X, self._center = X, X.mean(axis=0, dtype=np.float64)
        # faiss has single precision, where lengths beyond 1e19 would overflow when squared.
        self._scale = 1 / (float(np.abs(X - self._center).max()) or 1.0)
        n = X.shape[0]
        self._n_lists = max(1, min(int(LISTS * n**0.5), n // LEAST_ROWS))
        with single_threaded_libraries():
            self._index = self._build(self._single(X))
        most = self._n_lists if all_lists else self._n_lists // SHARE
        self._n_probed, self.recall = self._calibrate(min(n.bit_length() + 1, n), most)

    def _single(self, Q: Array) -> Array:
        return np.ascontiguousarray((Q - self._center) * self._scale, dtype=np.float32)

    def _build(self, X: Array) -> Any:
        import faiss

        quantizer = faiss.IndexFlatL2(X.shape[1])
        index = faiss.IndexIVFFlat(quantizer, X.shape[1], self._n_lists)
        index.cp.seed, index.cp.niter = SEED + 1, ITERATIONS
        index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, LEAST_ROWS
        index.train(X)
        index.add(X)
        return index

    def _calibrate(self, count: int, most: int) -> tuple[int, float]:
        """Return the number of lists that find enough neighbours of a sample of rows, and their share."""
        n = self._X.shape[0]
        rows = np.sort(np.random.default_rng(SEED).choice(n, min(SAMPLE, n), replace=False))
        Q = self._X[rows]
        last = np.concatenate([self._last(Q[part], count) for part in split(len(Q), max(1, CELLS // n))])
        probed = min(FIRST, self._n_lists)
        while True:
            recall = self._recall(Q, last, count, probed)
            if recall >= RECALL or probed == self._n_lists:
                return probed, recall
            probed = min(2 * probed, self._n_lists)
            if probed > most:
                raise TooScattered

    def _last(self, Q: Array, count: int) -> Array:
        """Return the distances of the last of the true neighbours."""
        return np.partition(cdist(Q, self._X), count - 1, axis=1)[:, count - 1]

    def _recall(self, Q: Array, last: Array, count: int, probed: int) -> float:
        found = self._search(Q, count, probed)
        distances = np.array([cdist(q[None], self._X[near])[0] for q, near in zip(Q, found, strict=True)])
        return float(np.mean((distances <= last[:, None] * (1 + EQUAL)) & (found >= 0)))

    def _block(self, Q: Array, count: int) -> Array:
        found = self._search(Q, count, self._n_probed)
        # The lists of a row may hold fewer rows than are wanted: it is compared with all.
        for row in np.flatnonzero((found < 0).any(axis=1)):
            found[row] = np.argpartition(cdist(Q[row : row + 1], self._X)[0], count - 1)[:count]
        return found

    def _search(self, Q: Array, count: int, probed: int) -> Array:
        import faiss

        # The number of lists goes with the call: as a setting of the index all threads would share it.
        params = faiss.SearchParametersIVF()
        params.nprobe = probed
        with single_threaded_libraries():
            return self._index.search(self._single(Q), count, params=params)[1]

    def errors(self, Q: Array, squared: Array) -> Array:
        """Return infinity: any row may be missed."""
        return np.full(Q.shape[0], np.inf)

    def within(self, Q: Array, last: Array, reach: Array, count: int) -> list[Array]:
        """Not asked of an inexact finder."""
        raise NotImplementedError
