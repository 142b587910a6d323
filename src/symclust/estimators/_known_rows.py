"""Recognise training samples among new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


class KnownRows:
    """Finds, for every row of a new matrix, the first row of the training matrix with the very same entries.

    Holds a hash a row, not the rows.
    """

    def __init__(self, X: Any) -> None:
        self._first: dict[int, int] = {}
        for i, key in enumerate(_row_keys(X)):
            self._first.setdefault(key, i)

    def find(self, X: Any) -> np.ndarray:
        """Return the number of the matching training row for each row of X, -1 where there is none."""
        return np.array([self._first.get(key, -1) for key in _row_keys(X)], dtype=np.intp)


def _row_keys(X: Any) -> list[int]:
    if not sparse.issparse(X):
        return [hash(row.tobytes()) for row in np.ascontiguousarray(X)]
    X = sparse.csr_array(X)
    pairs = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [hash((X.indices[a:b].astype(np.int64).tobytes(), X.data[a:b].tobytes())) for a, b in pairs]
