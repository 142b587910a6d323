"""Share of samples put in a wrong cluster, after the best renaming of clusters."""

from __future__ import annotations

from numpy.typing import ArrayLike

from symclust.metrics.clustering_accuracy import clustering_accuracy

__all__ = ["misclassification_rate"]


def misclassification_rate(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples in a wrong cluster under the best one-to-one matching of clusters to classes.

    One less `clustering_accuracy`; the name under which papers on similarities report it.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Known classes and found clusters.

    Examples
    --------
    >>> from symclust.metrics import misclassification_rate
    >>> misclassification_rate(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.25
    """
    return 1.0 - clustering_accuracy(labels_true, labels_pred)
