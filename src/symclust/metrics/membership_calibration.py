"""How far memberships can be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from symclust.exceptions import InputError
from symclust.validation import check_number

__all__ = ["membership_calibration"]

CALIBRATION = np.dtype([("confidence", "f8"), ("agreement", "f8"), ("count", "i8")])


def membership_calibration(labels_true: ArrayLike, membership: ArrayLike, n_bins: int = 10) -> np.recarray:
    """Compare the largest membership of samples with how often their cluster is right.

    Clusters are matched to classes one to one as in `clustering_accuracy`. Samples are put into bins by their
    largest membership; memberships are calibrated if in each bin as large a share of samples is right.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes.
    membership : array-like of shape (n_samples, n_clusters)
        Nonnegative; rows are scaled to sum to one.
    n_bins : int, default=10
        Bins of equal width between 1/n_clusters and 1.

    Returns
    -------
    recarray
        `confidence`, `agreement` and `count` of the bins that hold samples.

    Examples
    --------
    >>> from symclust.metrics import membership_calibration
    >>> P = [[1.0, 0.0], [1.0, 0.0], [0.6, 0.4], [0.4, 0.6]]
    >>> found = membership_calibration([0, 0, 1, 1], P, n_bins=2)
    >>> found.confidence.round(2).tolist(), found.agreement.tolist(), found["count"].tolist()
    ([0.6, 1.0], [0.5, 1.0], [2, 2])
    """
    check_number("n_bins", n_bins, least=1, whole=True)
    y, P = np.asarray(labels_true), np.asarray(membership, dtype=np.float64)
    if P.ndim != 2 or y.shape != P.shape[:1] or P.size == 0 or not 0 <= P.min() <= P.max() < np.inf:
        raise InputError(
            f"membership has shape {P.shape} and labels_true {y.shape}; expected a row of finite nonnegative "
            "memberships for each label."
        )
    P = P / np.maximum(P.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    confidence, right = P.max(axis=1), _right(y, P.argmax(axis=1))
    least = 1 / P.shape[1]
    bins = np.clip(((confidence - least) / max(1 - least, 1e-300) * n_bins).astype(int), 0, n_bins - 1)
    rows = [
        (confidence[bins == number].mean(), right[bins == number].mean(), np.count_nonzero(bins == number))
        for number in np.unique(bins)
    ]
    return np.array(rows, dtype=CALIBRATION).view(np.recarray)


def _right(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return which samples are in the cluster matched to their class."""
    counts = contingency_matrix(y, labels)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    matched = dict(zip(np.unique(labels)[clusters], np.unique(y)[classes], strict=True))
    return np.array(
        [label in matched and matched[label] == true for label, true in zip(labels, y, strict=True)]
    )
