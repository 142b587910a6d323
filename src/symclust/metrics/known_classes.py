"""How well clusters agree with known classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from symclust._types import Array, Matrix
from symclust.exceptions import InputError
from symclust.validation import check_number, is_missing

CALIBRATION = np.dtype([("confidence", "f8"), ("agreement", "f8"), ("count", "i8")])


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of samples in the right cluster under the best one-to-one matching of clusters to classes.

    .. math:: \max_\pi \; \frac{1}{n} \sum_i [\, y_i = \pi(\hat y_i) \,]

    over all one-to-one maps :math:`\pi` from clusters to classes. With more clusters than classes (or fewer),
    the unmatched ones count as errors.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and found clusters. Any labels that sort will do: integers, strings; the two need not
        share names. Samples that a method leaves without a cluster, labelled −1, are one more cluster, as for
        the metrics of scikit-learn.

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
    y, z = _label_pair(labels_true, labels_pred)
    counts, classes, clusters = _match(y, z)
    return float(counts[classes, clusters].sum() / len(y))


def conditional_perplexity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Average number of classes in a cluster, 2 to the conditional entropy of classes given clusters.

    .. math:: 2^{H(L|C)}, \quad H(L|C) = -\sum_{l,c} p(l, c) \log_2 p(l|c)

    (Arora, Gupta, Kapila and Fazel 2013, 4.2.3). One where every cluster holds a single class; it does not
    punish clusters for being many.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and found clusters.

    Examples
    --------
    >>> from symclust.metrics import conditional_perplexity
    >>> conditional_perplexity([0, 1, 0, 1], [0, 0, 1, 1])
    2.0
    """
    y, z = _label_pair(labels_true, labels_pred)
    counts = contingency_matrix(y, z).astype(np.float64)
    shares = counts / counts.sum(axis=0)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return float(2 ** (-np.sum(counts * logs) / y.size))


def _label_pair(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[Array, Array]:
    y, z = np.asarray(labels_true), np.asarray(labels_pred)
    if y.ndim != 1 or y.shape != z.shape or y.size == 0:
        raise InputError(
            f"labels_true has shape {y.shape} and labels_pred {z.shape}; both need one entry for each sample."
        )
    return y, z


def _match(y: Array, z: Array) -> tuple[Array, Array, Array]:
    """The classes × clusters table of counts, and the best one-to-one pairs of rows and columns."""
    counts = contingency_matrix(y, z)
    return counts, *linear_sum_assignment(counts, maximize=True)


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
    # A sample without memberships is in no cluster, so not in the right one.
    confidence, right = P.max(axis=1), _right(y, P.argmax(axis=1)) & P.any(axis=1)
    least = 1 / P.shape[1]
    bins = np.clip(((confidence - least) / max(1 - least, 1e-300) * n_bins).astype(int), 0, n_bins - 1)
    rows = [
        (confidence[bins == number].mean(), right[bins == number].mean(), np.count_nonzero(bins == number))
        for number in np.unique(bins)
    ]
    return np.array(rows, dtype=CALIBRATION).view(np.recarray)


def _right(y: Array, labels: Array) -> Array:
    """Mask of the samples in the cluster matched to their class."""
    counts, classes, clusters = _match(y, labels)
    matched = np.zeros(counts.shape, dtype=bool)
    matched[classes, clusters] = True
    return matched[tuple(np.unique(values, return_inverse=True)[1] for values in (y, labels))]


def nmi_by_level(paths: Matrix, labels: ArrayLike) -> Array:
    """Normalised mutual information at each level of a tree of classes (Kuang 2014, (8) and 5.6.3).

    Parameters
    ----------
    paths : sequence of paths, or array or DataFrame of shape (n_samples, n_levels)
        The classes of each sample from the top of the tree down, such as ``("rec", "sport", "hockey")``.
        Paths may differ in length, or end in None or NaN: a sample whose path has ended stays, at the deeper
        levels, in its last class, as a leaf of the tree would.
    labels : array-like of shape (n_samples,)
        The cluster of each sample. Outliers with the label -1 are one more cluster, as in the thesis.

    Returns
    -------
    ndarray of shape (n_levels,)
        scikit-learn's ``normalized_mutual_info_score`` at each level, the top first; n_levels is the length
        of the longest path. Classes are told apart by their whole path: ``("rec", "misc")`` and
        ``("talk", "misc")`` are two.

    Examples
    --------
    >>> from symclust.metrics import nmi_by_level
    >>> paths = [("rec", "hockey"), ("rec", "autos"), ("sci",), ("sci",)]
    >>> nmi_by_level(paths, [0, 0, 1, 1]).round(3).tolist()
    [1.0, 0.8]
    """
    labels = np.asarray(labels)
    rows = np.asarray(paths, dtype=object) if hasattr(paths, "columns") else paths
    read = [_path(path, number) for number, path in enumerate(rows)]
    if not read or labels.shape != (len(read),):
        raise InputError(
            f"There are {len(read)} paths, and labels have shape {labels.shape}: give both for each sample."
        )
    levels = range(1, max(map(len, read)) + 1)
    return np.array([normalized_mutual_info_score(_numbered(read, level), labels) for level in levels])


def _path(path: Any, number: int) -> tuple[Hashable, ...]:
    if isinstance(path, str) or not isinstance(path, Sequence | Array):
        raise InputError(
            f"The path of sample {number}, {path!r}, must be a sequence of classes from the top down, "
            "for example ('rec', 'sport', 'hockey'); for one level give ('rec',)."
        )
    classes = list(path)
    while classes and is_missing(classes[-1]):
        classes.pop()
    if not classes or any(map(is_missing, classes)):
        raise InputError(f"The path of sample {number}, {path!r}, needs a class at the top and has no gaps.")
    return tuple(classes)


def _numbered(paths: list[tuple[Hashable, ...]], level: int) -> list[int]:
    numbers: dict[tuple[Hashable, ...], int] = {}
    return [numbers.setdefault(path[:level], len(numbers)) for path in paths]
