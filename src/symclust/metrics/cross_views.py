"""Whether two halves of the features would put samples into the same clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score
from sklearn.utils import check_random_state

from symclust._types import Array, Features, RandomState
from symclust.exceptions import InputError
from symclust.validation import check_features, check_number


def cross_view_agreement(
    X: Features, labels: Array, *, n_splits: int = 2, random_state: RandomState = None
) -> float | Array:
    r"""Agreement of clusters found again from two halves of the features, without known classes.

    Features are split at random into two halves v. In each half a cluster has a centre, and every sample goes
    to the nearest one by the cosine,

    .. math:: c_j^v = \sum_{i : l(i) = j} x_i^v / \|x_i\|, \qquad
        a^v(i) = \arg\max_j \frac{\langle x_i^v, c_j^v \rangle}{\|c_j^v\|}

    The agreement is the normalised mutual information of :math:`a^1` and :math:`a^2`, averaged over splits. A
    border between two subjects is found again by other words, an arbitrary border through one subject is not:
    of several clusterings with one number of clusters, that with the larger agreement is more often the one
    that people would make.

    Parameters
    ----------
    X : array-like or sparse of shape (n_samples, n_features)
        Samples with many features of one kind, such as weighted words.
    labels : ndarray of shape (n_samples,) or (n_clusterings, n_samples)
        Clusters; −1 for samples in none, which take no part.
    n_splits : int, default=2
        Random splits of the features; the same ones for all clusterings.
    random_state : int, RandomState or None, default=None
        Makes the splits repeatable.

    Returns
    -------
    float, or ndarray of shape (n_clusterings,)
        Between 0 and 1; larger is better, and one for a single cluster, which says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.metrics import cross_view_agreement
    >>> X = np.random.default_rng(0).poisson(np.kron(np.eye(2), np.full((20, 30), 0.2)))
    >>> true, wrong = np.repeat([0, 1], 20), np.tile([0, 1], 20)
    >>> cross_view_agreement(X, [true, wrong], random_state=0).round(1).tolist()
    [1.0, 0.1]
    """
    check_number("n_splits", n_splits, least=1, whole=True)
    X = check_features(X)
    labels = np.asarray(labels)
    clusterings = np.atleast_2d(labels)
    if labels.ndim not in (1, 2) or clusterings.shape[1] != X.shape[0] or labels.dtype.kind not in "iu":
        raise InputError(
            f"labels must be whole numbers, one for each of the {X.shape[0]} samples, or rows of such; got "
            f"shape {labels.shape} and dtype {labels.dtype}."
        )
    rng = check_random_state(random_state)
    found = [_agreements(X, clusterings, rng.permutation(X.shape[1])) for _ in range(n_splits)]
    means = np.mean(found, axis=0)
    return means if labels.ndim == 2 else float(means[0])


def _agreements(X: Any, clusterings: Array, order: Array) -> list[float]:
    """The agreement of each clustering in the two halves of the features in this order."""
    lengths = np.sqrt(_squares(X))
    weights = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    views = [X[:, np.sort(half)] for half in np.array_split(order, 2)]
    seen = np.flatnonzero(np.all([_squares(view) > 0 for view in views], axis=0))
    views = [_scaled(view[seen], weights[seen]) for view in views]
    return [
        float(normalized_mutual_info_score(*(_nearest(view, own) for view in views)))
        for own in clusterings[:, seen]
    ]


def _nearest(X: Any, labels: Array) -> Array:
    """The nearest centre of each sample that is in a cluster."""
    inside = np.flatnonzero(labels >= 0)
    own = np.unique(labels[inside], return_inverse=True)[1]
    Z = sparse.csr_array((np.ones(len(own), dtype=X.dtype), own, np.arange(len(own) + 1)))
    S = Z.T @ X[inside]
    S = S.toarray() if sparse.issparse(S) else S
    lengths = np.sqrt(_squares(S))
    centers = S / np.where(lengths > 0, lengths, 1)[:, np.newaxis]
    return np.asarray(X[inside] @ np.ascontiguousarray(centers.T)).argmax(axis=1)


def _squares(X: Any) -> Array:
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else np.einsum("ij,ij->i", X, X)
    return np.asarray(squares, dtype=np.float64).reshape(-1)


def _scaled(X: Any, weights: Array) -> Any:
    scale = weights.astype(X.dtype)[:, np.newaxis]
    return sparse.csr_array(X.multiply(scale)) if sparse.issparse(X) else X * scale
