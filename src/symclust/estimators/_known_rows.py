"""Recognise training samples among new ones."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse


class KnownRows:
    """Finds, for every row of a new matrix, the first row of the training matrix with the very same entries.

    Holds 16 bytes a row, not the rows. Dense and sparse rows of the same numbers are the same.
    """

    def __init__(self, X: Any) -> None:
        self._sparse, self._dtype = sparse.issparse(X), X.dtype
        self._keys = self.keys(X)
        self._first: dict[bytes, int] = {}
        for i, key in enumerate(self._keys):
            self._first.setdefault(key, i)

    def find(self, keys: list[bytes]) -> np.ndarray:
        """Return the number of the matching training row for each key, -1 where there is none."""
        if keys == self._keys:  # the training matrix itself: duplicates keep what each of them was given
            return np.arange(len(keys))
        return np.array([self._first.get(key, -1) for key in keys], dtype=np.intp)

    def keys(self, X: Any) -> list[bytes]:
        """Return a key for each row of X, equal for equal rows."""
        # A digest rather than `hash`, which differs from process to process: models are pickled.
        if not self._sparse:
            X = X.toarray() if sparse.issparse(X) else X
            return [_digest(row) for row in np.ascontiguousarray(X, dtype=self._dtype) + 0.0]  # -0.0 is 0.0
        X = sparse.csr_array(X, dtype=self._dtype, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        columns = X.indices.astype(np.int64)
        borders = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [_digest(columns[a:b].tobytes() + X.data[a:b].tobytes()) for a, b in borders]


def _digest(row: Any) -> bytes:
    return blake2b(row, digest_size=16).digest()
