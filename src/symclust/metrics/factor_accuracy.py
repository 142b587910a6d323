"""How close a factor is to the true one, after the best renaming of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse

from symclust.exceptions import InputError
from symclust.validation import check_features

__all__ = ["factor_accuracy"]


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
            f"H_true has shape {H_true.shape} and H {H.shape}; expected equal shapes: one row a sample and "
            "one column a cluster. Add columns of zeros to the narrower one if it has found fewer clusters."
        )
    _, order = linear_sum_assignment(H_true.T @ H, maximize=True)
    return float(1 - np.sqrt(np.mean((H[:, order] - H_true) ** 2)))  # (16)


def _factor(name: str, H: Any) -> NDArray[np.float64]:
    H = check_features(H, name=name)
    return np.asarray(H.toarray() if issparse(H) else H, dtype=np.float64)
