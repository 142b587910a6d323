"""Spectral clustering: k-means on rows of eigenvectors, or the rows turned until each has one large entry."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from symclust._threads import single_threaded_blas
from symclust._types import AffinityLike, Array, Data, Options, RandomState
from symclust.estimators._base import HardEstimator
from symclust.exceptions import warn
from symclust.graphs import normalized_cut
from symclust.k_means import plain_k_means
from symclust.operators import Operator, Shifted
from symclust.validation import check_n_clusters, check_number, check_similarity

NEAR = 1e-5  # of the largest eigenvalue to that of a normalised cut
DISTINCT = 1e-3  # range of degrees, relative to the largest, below which a normalised cut changes little


class SpectralEstimator(HardEstimator):
    """Spectral methods: eigenvectors of a similarity before any normalised cut, and labels of their rows."""

    _nonnegative: ClassVar[bool] = True
    _normalizes: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        n_init: int = 10,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.n_init = n_init
        self.random_state = random_state

    @abstractmethod
    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[Array, float]:
        """Return the labels, and the objective of the step after the eigenvectors."""

    def fit(self, X: Data, y: object = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
        """
        check_n_clusters(self.n_clusters)
        check_number("n_init", self.n_init, least=1, whole=True)
        similarity = self._read(X)
        K = similarity.operator
        k = check_n_clusters(self.n_clusters, K.n)
        check_similarity(K)
        labels, objective = self._cluster(K, k, check_random_state(self.random_state))
        self._store_labels(similarity, labels, k, objective=objective)
        return self

    def _k_means(self, rows: Array, k: int, rng: np.random.RandomState) -> tuple[Array, float]:
        model = plain_k_means(rows, k, self.n_init, rng)
        return model.labels_, float(model.inertia_)


class NormalizedSpectral(SpectralEstimator):
    """Spectral methods of the normalised cut: its leading eigenvectors, with rows of length 1."""

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        normalize: bool = True,
        n_init: int = 10,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            affinity_params=affinity_params,
            n_init=n_init,
            random_state=random_state,
        )
        self.normalize = normalize

    def _rows(self, K: Operator, k: int) -> Array:
        if self.normalize and self.affinity == "precomputed" and _was_normalized(K):
            warn(
                f"{type(self).__name__} applies the normalised cut, and this similarity seems to have been "
                "through it already: its largest eigenvalue is 1. A second one changes the eigenvectors; "
                "normalize=False takes the similarity as it is."
            )
        return embedded_rows(normalized_cut(K) if self.normalize else K, k)


class SpectralNJW(NormalizedSpectral):
    """K-means on the unit rows of the leading eigenvectors of D^-1/2 K D^-1/2 (Ng, Jordan and Weiss 2002).

    Parameters
    ----------
    n_clusters, affinity, affinity_params
        Number of clusters or "auto", and similarities as in `SymNMF`, before any normalised cut.
    normalize : bool, default=True
        Apply the normalised cut. Set it to False for an A that has been through it, such as the result of
        `graphs.nearest_neighbors`: a second one changes the eigenvectors.
    n_init : int, default=10
        Number of starts of k-means; the best is kept.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; `membership_` has a single one in each row.
    objective_ : float
        Sum of squared distances of the rows to their centres.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SpectralNJW
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralNJW(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[Array, float]:
        return self._k_means(self._rows(K, k), k, rng)


class SpectralUnnormalized(SpectralEstimator):
    """K-means on the rows of the eigenvectors of the k smallest eigenvalues of the Laplacian D − K.

    A relaxation of the ratio cut. It tends to cut off single samples: of the three spectral methods it is the
    one to compare with, not the one to use.

    Parameters
    ----------
    n_clusters, affinity, affinity_params
        Number of clusters or "auto", and similarities as in `SymNMF`, before any normalised cut.
    n_init : int, default=10
        Number of starts of k-means; the best is kept.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; `membership_` has a single one in each row.
    objective_ : float
        Sum of squared distances of the rows to their centres.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SpectralUnnormalized
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralUnnormalized(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[Array, float]:
        nothing = sparse.csr_array(K.shape, dtype=K.dtype)
        _, vectors = Shifted(nothing, K, 1.0).eigsh(k)  # the largest of −L
        return self._k_means(vectors, k, rng)


class SpectralYuShi(NormalizedSpectral):
    """Leading eigenvectors of D^-1/2 K D^-1/2, turned until each row has one large entry (Yu and Shi 2003).

    The rows are scaled to unit length and rotated; rounding each to its largest entry, and finding the
    rotation nearest to the rounded rows, alternate.

    Parameters
    ----------
    n_clusters, affinity, affinity_params
        Number of clusters or "auto", and similarities as in `SymNMF`, before any normalised cut.
    normalize : bool, default=True
        Apply the normalised cut. Set it to False for an A that has been through it, such as the result of
        `graphs.nearest_neighbors`: a second one changes the eigenvectors.
    n_init : int, default=10
        Number of starting rotations; the best is kept.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, membership_, affinity_matrix_, node_names_
        As in `SymNMF`; `membership_` has a single one in each row.
    objective_ : float
        Squared distance of the turned rows to the rounded ones.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SpectralYuShi
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = SpectralYuShi(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def _cluster(self, K: Operator, k: int, rng: np.random.RandomState) -> tuple[Array, float]:
        return discretize(self._rows(K, k), self.n_init, rng)


ROUNDS = 100  # of turning and rounding; a few dozen are enough


def _was_normalized(K: Operator) -> bool:
    """Whether K has the eigenvalue of a normalised cut, 1, and another one would change it."""
    degrees = K.degrees()
    some = degrees[degrees > 0]
    if some.size < 2 or np.ptp(some) <= DISTINCT * some.max() or some.max() < 1 or some.min() > 1:
        return False  # degrees of one size change nothing, and those of a normalised cut lie around 1
    return abs(float(K.eigsh(1, tol=NEAR)[0][0]) - 1) <= NEAR


def embedded_rows(K: Operator, k: int) -> Array:
    """Return the k leading eigenvectors of K with rows of unit length, or zero."""
    _, vectors = K.eigsh(k)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def discretize(rows: Array, n_init: int, rng: np.random.RandomState) -> tuple[Array, float]:
    """Return labels and their squared distance to the rows, turned until each has one large entry.

    Yu and Shi (2003); the best of n_init starting rotations.
    """
    with single_threaded_blas():
        found = [_alternate(rows, _far_apart(rows, rng)) for _ in range(n_init)]
    return min(found, key=lambda pair: pair[1])


def _far_apart(rows: Array, rng: np.random.RandomState) -> Array:
    """Return k rows that are far from parallel to each other, the first at random, as columns."""
    chosen = [int(rng.randint(len(rows)))]
    nearness = np.zeros(len(rows), dtype=rows.dtype)
    for _ in range(rows.shape[1] - 1):
        nearness += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(nearness.argmin()))
    return rows[chosen].T


def _alternate(rows: Array, R: Array) -> tuple[Array, float]:
    """Alternate between rounding the turned rows and turning them towards the rounded ones."""
    k, before = rows.shape[1], -np.inf
    labels = (rows @ R).argmax(axis=1)
    for _ in range(ROUNDS):
        Z = np.eye(k, dtype=rows.dtype)[labels]
        U, values, Vt = np.linalg.svd(rows.T @ Z)
        R = U @ Vt
        labels = (rows @ R).argmax(axis=1)
        if values.sum() <= before * (1 + 1e-12):
            break
        before = float(values.sum())
    return labels, float(np.sum((rows @ R - np.eye(k)[labels]) ** 2))
