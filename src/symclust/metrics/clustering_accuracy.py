"""Share of samples put in the right cluster, after the best renaming of clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from symclust.exceptions import InputError

__all__ = ["clustering_accuracy"]


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of samples in the right cluster under the best one-to-one matching of clusters to classes.

    .. math:: \max_\pi \; \frac{1}{n} \sum_i [\, y_i = \pi(\hat y_i) \,]

    over all one-to-one maps :math:`\pi` from clusters to classes. With more clusters than classes (or fewer),
    the unmatched ones count as errors.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and found clusters. Any labels that sort will do: integers, strings; the two need not
        share names.

    Returns
    -------
    float
        Between 0 and 1; 1 means equal partitions.

    Notes
    -----
    The matching is solved exactly on the classes × clusters table of counts, in cubic time of its smaller
    side.

    Examples
    --------
    >>> from symclust.metrics import clustering_accuracy
    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    y, z = _labels("labels_true", labels_true), _labels("labels_pred", labels_pred)
    if len(y) != len(z):
        raise InputError(
            f"labels_true has {len(y)} entries and labels_pred {len(z)}; both need one entry for each sample."
        )
    counts = contingency_matrix(y, z)
    classes, clusters = linear_sum_assignment(counts, maximize=True)
    return float(counts[classes, clusters].sum() / len(y))


def _labels(name: str, labels: ArrayLike) -> NDArray[np.generic]:
    array = np.asarray(labels)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{name} has shape {array.shape}; expected a list of labels, one for each sample.")
    return array
