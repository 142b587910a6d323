"""Spherical k-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust._labels import (
    NOWHERE,
    OF_FEATURES,
    empty_rows,
    labels_of,
    memberships_of,
    warn_of_degenerate,
)
from symclust._threads import single_threaded_blas
from symclust._types import Array, Features, RandomState
from symclust.estimators._base import Clusterer
from symclust.graphs import unit_rows
from symclust.k_means import SphericalRun, SphericalRuns, read_weights, scattered_samples
from symclust.validation import check_features, check_n_clusters, check_number


class SphericalKMeans(Clusterer):
    r"""K-means on directions: documents by their cosines (Dhillon and Modha 2001).

    Minimises

    .. math:: \sum_i w_i \left(1 - \frac{x_i^T c_{l(i)}}{\|x_i\|}\right), \qquad \|c_j\| = 1

    The lengths of samples do not matter, so tf-idf without normalisation gives the same as with it. The
    weights w are ones unless `fit` is given others.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters; "auto" chooses it, and `selection_` says why.
    n_init : int, default=10
        Number of starts, run side by side so that X is read once for all: k samples far apart, as in
        k-means++.
    max_iter : int, default=300
        Stop after this many iterations.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, −1 for a sample without entries.
    membership_ : ndarray of shape (n_samples, n_clusters)
        A one in each row, zeros alone for a sample without entries.
    components_ : ndarray of shape (n_clusters, n_features)
        The centres, of unit length. Those of sparse samples are held sparse, and written out at each use.
    objective_ : float
        The objective above.
    inits_ : ndarray of shape (n_init,)
        Objectives that the starts ended at.
    n_iter_, converged_, stop_reason_
        Iterations of the best start, whether its last one moved no sample, and the same as a sentence.
    node_names_ : list or None
        Names of the samples: the index of a DataFrame, `obs_names` of an AnnData.

    Notes
    -----
    An empty cluster is given the sample farthest from its centre. A sample without entries has no direction:
    it adds its weight to the objective wherever it is, moves no centre, and belongs to no cluster.

    Examples
    --------
    >>> from symclust import SphericalKMeans
    >>> X = [[1, 0], [9, 1], [0, 2], [1, 8]]
    >>> labels = SphericalKMeans(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Features, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts, positive. The choice of ``n_clusters="auto"`` does not use it.
        """
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        X = self._read(X, reset=True)
        weights = read_weights(sample_weight, X.shape[0])
        iterations = SphericalRuns(X, check_n_clusters(self.n_clusters, X.shape[0]), weights=weights)
        with single_threaded_blas():
            starts = scattered_samples(iterations, self.n_init, check_random_state(self.random_state))
            runs = iterations.run(starts, self.max_iter)
        self.inits_ = np.array([run.objectives[-1] for run in runs])
        best = runs[int(self.inits_.argmin())]
        self._components = iterations.components(best.centers)
        self._store(best, X)
        name, k = type(self).__name__, self._n_features_out
        warn_of_degenerate(name, self.labels_, k, OF_FEATURES, self.node_names_)
        return self

    def _store(self, run: SphericalRun, X: Any) -> None:
        self.labels_ = np.where(empty_rows(X), NOWHERE, run.labels)
        self.membership_ = memberships_of(self.labels_, self._n_features_out, X.dtype)
        self.objective_, self.n_iter_, self.converged_ = run.objectives[-1], len(run.objectives), run.done
        done = "no sample changes its cluster" if run.done else "samples still change clusters"
        self.stop_reason_ = f"stopped after {self.n_iter_} iterations: {done}"

    @property
    def components_(self) -> Array:
        """The centres, one per row; made of the sparse ones that a model of sparse samples holds."""
        check_is_fitted(self)
        return self._components.toarray() if sparse.issparse(self._components) else self._components

    def transform(self, X: Features) -> Array:
        """Return the cosine of each sample with each centre.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = self._read(X, reset=False)
        with single_threaded_blas():
            runs = SphericalRuns(X, self._n_features_out)
            return runs.cosines([runs.centers(self._components)])[:, 0]

    def predict(self, X: Features) -> Array:
        """Return the nearest centre of each sample, −1 for a sample that is at right angles to all.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        """
        return labels_of(self.transform(X))

    def _read(self, X: Any, reset: bool) -> Any:
        checked = check_features(X)
        self._note_features(X, reset=reset)
        return unit_rows(checked)

    @property
    def _gives_degrees(self) -> bool:
        return False

    @property
    def _n_features_out(self) -> int:
        return self._components.shape[0]
