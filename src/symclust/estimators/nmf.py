"""Nonnegative matrix factorization of a data matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symclust.estimators._data_factors import DataFactors
from symclust.operators import Bipartite
from symclust.two_factors import TwoFactors


class NMF(DataFactors):
    r"""Cluster samples by factoring their data matrix.

    Finds W, C ≥ 0 that minimise

    .. math:: \|X - WC^T\|_F^2

    (thesis, chapter 2). The rows of `components_` are the columns of C scaled to length 1, and `membership_`
    is W with the scale of C; a sample belongs to the cluster of its largest membership.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters k.
    solver : {"bpp", "hals", "multiplicative", "projected_gradient"}, default="bpp"
        How: each factor in turn by block principal pivoting (exact), by a sweep over its columns, by
        multiplicative updates, or by projected gradient steps. Every iteration of each takes one product with
        X and one with Xᵀ.
    init : {"spectral", "random", "nndsvd", "nndsvda", "nndsvdar"} or pair of arrays, default="spectral"
        Where the descent starts: leading singular vectors, turned to be as nonnegative as possible; uniform
        random numbers; nonnegative parts of the singular vectors, with zeros, with entries that would give
        the mean of X or with small random numbers in their place; or W (n_samples, k) and C (n_features, k)
        themselves.
    n_init : int, default=1
        Number of starts, run side by side so that X is read once for all; the one with the lowest objective
        is kept. Only "random" and "nndsvdar" differ from start to start.
    tol : float, default=1e-3
        Stop when the projected gradient, thesis (9)-(10), is tol times that of the start.
    max_iter : int, default=1000
        Stop after so many iterations.
    time_limit : float, default=None
        Stop after so many seconds.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each iteration of each start with an object that has `start`, `iteration`, `seconds`,
        `objective` and `stationarity`; returning True stops the run, and what was found so far is kept.

    Attributes
    ----------
    components_ : ndarray of shape (n_clusters, n_features)
        What the clusters look like, each of length 1.
    membership_ : ndarray of shape (n_samples, n_clusters)
        How much of each cluster is in a sample: ``membership_ @ components_`` approximates X.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    objective_ : float
        The objective at the factors as they were found.
    relative_error_ : float
        ‖X − WCᵀ‖ / ‖X‖.
    history_ : recarray
        `iteration`, `seconds`, `objective` and `stationarity` (relative) after every iteration of the start
        that was kept.
    n_iter_, converged_, stop_reason_
        Iterations of that start, whether `tol` was reached, and why it stopped, in words.
    inits_ : ndarray of shape (n_init,)
        Objectives that the starts ended at.

    See Also
    --------
    SparseNMF : memberships with fewer entries.
    AffineNMF : with a baseline that all samples share.
    GraphNMF : with a graph of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import NMF
    >>> X = np.array([[3.0, 3.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 5.0]])
    >>> model = NMF(2).fit(X)
    >>> model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3]
    np.True_
    >>> model.inverse_transform(model.membership_).round(3).tolist() == X.tolist()
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: str = "bpp",
        init: Any = "spectral",
        n_init: int = 1,
        tol: float = 1e-3,
        max_iter: int = 1000,
        time_limit: float | None = None,
        random_state: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback

    def _make_objective(self, A: Bipartite, X: Any) -> TwoFactors:
        return TwoFactors(A)
