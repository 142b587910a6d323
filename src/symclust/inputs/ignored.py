"""Pairs of samples that carry no information."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.validation import check_stored, kind_of, refuse_masked


def read_ignored(ignore: Any, n: int) -> sparse.csr_array:
    """Return the mask of ignored pairs as a canonical CSR pattern of ones without its diagonal."""
    mask = sparse.csr_array(
        check_stored(ignore, "ignore") if sparse.issparse(ignore) else _mask_array(ignore)
    )
    if mask.shape != (n, n):
        raise InputError(
            f"ignore has shape {mask.shape}, but there are {n} samples: give a symmetric mask of shape "
            f"({n}, {n}), nonzero at the pairs that carry no information."
        )
    rows, columns = mask.nonzero()
    away = rows != columns
    pattern = sparse.csr_array((np.ones(away.sum()), (rows[away], columns[away])), shape=(n, n))
    pattern.sum_duplicates()
    pattern.data[:] = 1
    _check_both_ways(pattern)
    return pattern


def _mask_array(ignore: Any) -> Array:
    if kind_of(ignore) == "Dask array":
        raise InputTypeError(
            "ignore is a Dask array, and pairs to be ignored are kept in memory. Give a SciPy sparse mask, "
            "or ignore.compute() if n × n numbers fit."
        )
    refuse_masked(ignore, name="ignore", gaps="Give a mask of zeros and ones: ones at pairs to be ignored.")
    array = np.asarray(ignore)
    if array.ndim != 2 or array.dtype.kind not in "bifu":
        raise InputError(
            f"ignore must be a sparse or dense mask with two dimensions, or None; got "
            f"{type(ignore).__name__} with {array.ndim} dimensions and dtype {array.dtype}."
        )
    return array


def _check_both_ways(pattern: sparse.csr_array) -> None:
    lonely = (pattern - pattern.T).tocoo()
    lonely.eliminate_zeros()
    if lonely.nnz:
        i, j = int(lonely.coords[0][0]), int(lonely.coords[1][0])
        raise InputError(
            f"ignore is not symmetric: only one of the pairs ({i}, {j}) and ({j}, {i}) is in it, and "
            f"the same holds for {lonely.nnz // 2 - 1} others. Use mask + mask.T."
        )
