"""Parts read off labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from symclust._types import Array
from symclust.hierarchy.splits._base import Halves, halves


def by_labels(X: sp.csr_array, labels: Array, n_iter: int) -> Halves | None:
    """Return the two parts of labels 0 and 1 with their mean rows, of unit length, as term weights."""
    Z = np.stack([labels == 0, labels == 1], axis=1).astype(X.dtype)
    return halves(unit_columns(X.T @ Z), Z, n_iter)


def unit_columns(C: Array) -> Array:
    """Return C with columns of unit length; zero columns stay zero."""
    lengths = np.sqrt(np.square(C, dtype=np.float64).sum(axis=0))
    return (C / np.where(lengths > 0, lengths, 1)).astype(C.dtype)
