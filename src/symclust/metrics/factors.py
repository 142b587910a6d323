"""How close a factor is to a known one, and how sparse it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from symclust._types import Array, Matrix
from symclust.exceptions import InputError
from symclust.validation import check_features, check_number


def factor_accuracy(H_true: ArrayLike, H: ArrayLike) -> float:
    r"""One minus the root mean square error of a factor under the best order of its columns.

    .. math:: 1 - \min_P \sqrt{\frac{\|H_P - H^*\|_F^2}{r n}}

    over all permutations P of the r columns (Moutier, Vandaele and Gillis 2021, equation (16), where the
    minimum is meant). Unlike `clustering_accuracy` it looks at the values: a factor that finds every cluster
    but writes 0.8 for each 1 is not perfect.

    Parameters
    ----------
    H_true, H : array-like of shape (n_samples, n_clusters)
        The known factor, for example of zeros and ones, and the found one.

    Returns
    -------
    float
        1 for equal factors. With entries between 0 and 1 it is at least 0; larger entries can push it below.

    Notes
    -----
    The norms of the columns do not depend on their order, so the best order maximises the sum of the inner
    products of matched columns: an assignment problem, solved exactly in cubic time of r.

    Examples
    --------
    >>> from symclust.metrics import factor_accuracy
    >>> factor_accuracy([[1, 0], [1, 0], [0, 1]], [[0, 1], [0, 1], [1, 0]])
    1.0
    >>> round(factor_accuracy([[1, 0], [1, 0], [0, 1]], [[0, 0], [0, 0], [0, 0]]), 3)
    0.293
    """
    H_true, H = _factor("H_true", H_true), _factor("H", H)
    if H_true.shape != H.shape:
        raise InputError(
            f"H_true has shape {H_true.shape} and H {H.shape}; expected equal shapes: one row per sample "
            "and one column per cluster. If the narrower one has found fewer clusters, add columns of zeros."
        )
    _, order = linear_sum_assignment(H_true.T @ H, maximize=True)
    return float(1 - np.sqrt(np.mean((H[:, order] - H_true) ** 2)))  # (16)


def factor_sparseness(factor: Matrix, *, threshold: float = 0.0) -> float:
    r"""Share of entries with :math:`|h_{ij}| \le` threshold (Kuang 2014, table 4, where it is zero).

    Sparse memberships read as a hard clustering, sparse weights of terms as a few words per topic.

    Parameters
    ----------
    factor : array-like or sparse
        For example `membership_` or `components_`.
    threshold : float, default=0.0
        Entries up to this size count as zero. Multiplicative updates, for example, never reach zero itself.

    Returns
    -------
    float
        Between 0 and 1; the table lists it in percent.

    Examples
    --------
    >>> from symclust.metrics import factor_sparseness
    >>> factor_sparseness([[0.0, 0.3], [0.7, 0.0], [0.0, 0.9]])
    0.5
    """
    check_number("threshold", threshold, least=0)
    H = sparse.csr_array(factor) if sparse.issparse(factor) else np.asarray(factor)
    size = int(np.prod(H.shape))
    if size == 0:
        raise InputError(f"A factor of shape {H.shape} has no entries to count.")
    values = H.data if sparse.issparse(H) else H
    return 1.0 - float(np.count_nonzero(~(np.abs(values) <= threshold))) / size  # NaN is not zero


def _factor(name: str, H: Any) -> Array:
    H = check_features(H, name=name)
    return np.asarray(H.toarray() if sparse.issparse(H) else H, dtype=np.float64)
