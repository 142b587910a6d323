"""Clusters of given sizes, read off probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from symclust._types import Array
from symclust.exceptions import InputError


def assign_sizes(P: Array, sizes: Any) -> Array:
    """Return labels with `sizes[j]` samples in cluster j and the largest sum of probabilities.

    A transport problem: max Σ p_ij x_ij with Σ_j x_ij = 1 and Σ_i x_ij = sizes_j, whose vertices are whole
    numbers; solved by SciPy's simplex method.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.left_stochastic.sizes import assign_sizes
    >>> assign_sizes(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), [1, 2]).tolist()
    [0, 1, 1]
    """
    n, k = P.shape
    sizes = np.asarray(sizes)
    if sizes.shape != (k,) or not _are_counts(sizes) or sizes.sum() != n:
        raise InputError(
            f"sizes must be {k} whole numbers, one a cluster, that add up to the {n} samples; got {sizes!r}."
        )
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, k)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye_array(k))
    equal = np.concatenate([np.ones(n), sizes])
    A = sparse.vstack([rows, columns]).tocsr()
    # Presolving takes a hundred times longer than solving: 33 s instead of 0.14 s for 4,000 samples.
    found = linprog(
        -P.reshape(-1).astype(np.float64),
        A_eq=A,
        b_eq=equal,
        bounds=(0, 1),
        method="highs-ds",
        options={"presolve": False},
    )
    return found.x.reshape(n, k).argmax(axis=1)


def _are_counts(sizes: Array) -> bool:
    return sizes.dtype.kind in "iuf" and bool(np.all((sizes >= 0) & (sizes == np.round(sizes))))
