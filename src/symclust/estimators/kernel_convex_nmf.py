"""Kernel convex NMF."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.baselines import INDEFINITE, ConvexDescent, KernelRuns, SignedParts, first_labels, make_definite
from symclust.estimators._base import SimilarityEstimator, as_result, is_given
from symclust.estimators._input import Similarity
from symclust.estimators._labels import leave_out_isolated
from symclust.estimators._placing import Placer
from symclust.operators import Operator
from symclust.validation import check_known, check_n_clusters, check_number, check_similarity

STARTS = 10  # of the kernel k-means that finds the indicators


class KernelConvexNMF(SimilarityEstimator):
    r"""Centres that are combinations of samples, samples that are combinations of centres.

    Minimises over W, G ≥ 0

    .. math:: \mathrm{tr}(K - 2 G^T K W + W^T K W G^T G),

    which is ‖Φ − ΦWGᵀ‖² where K = ΦᵀΦ (Ding, Li and Jordan 2010), by their multiplicative updates from the
    clusters of kernel k-means.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters k. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How samples become similarities, as in `SymNMF`; negative similarities are allowed in dense and sparse
        matrices.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    indefinite : {"auto", "clip", "shift", "ignore"}, default="auto"
        What to do with negative eigenvalues, as in `KernelKMeans`; with "ignore", the objective may have no
        lower bound.
    tol : float, default=1e-4
        Stop when ten iterations have lowered the objective by less than ten times this share of tr K.
    max_iter : int, default=500
        Stop after this many iterations.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.

    Attributes
    ----------
    labels_, history_, n_iter_, converged_, stop_reason_, affinity_matrix_, node_names_
        As in `SymNMF`.
    membership_ : ndarray of shape (n_samples, n_clusters)
        G.
    weights_ : ndarray of shape (n_samples, n_clusters)
        W: how the centres are made of samples.
    objective_ : float
        The objective. `history_` has it after each update of G, half an iteration earlier.

    Notes
    -----
    The loop of `SymNMF` moves one factor; here two of different kinds move in turn, so this method has a loop
    of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import KernelConvexNMF
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> model = KernelConvexNMF(2, affinity="precomputed", random_state=0).fit(K)
    >>> labels = model.labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    _nonnegative: ClassVar[bool] = False

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: str | Callable[..., Any] = "auto",
        affinity_params: dict[str, Any] | None = None,
        indefinite: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.indefinite = indefinite
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelConvexNMF:
        """Factor the similarity of the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
        """
        self._check_options()
        clock = time.perf_counter()
        similarity = self._read(X)
        k = check_n_clusters(self.n_clusters, similarity.operator.n)
        check_similarity(similarity.operator, nonnegative=False)
        quiet = not is_given(similarity)
        K, shift = make_definite(similarity.operator, self.indefinite, type(self).__name__, quiet)
        rng = check_random_state(self.random_state)
        iterations = KernelRuns(K, k, shift=shift)
        runs = iterations.run(first_labels(iterations, "auto", STARTS, rng), 100)
        labels = min(runs, key=lambda run: run.objectives[-1]).labels
        with single_threaded_blas():
            descent = ConvexDescent(SignedParts(K, shift), labels, k)
            converged = descent.run(self.tol, self.max_iter)
        self.weights_ = descent.W
        n_iter = len(descent.objectives)
        result = as_result(
            descent.G,
            descent.objective(),
            descent.objectives,
            np.array(descent.clock) - clock,
            converged,
            f"stopped after {n_iter} iterations: the objective "
            f"{'has stopped' if converged else 'is still'} falling",
        )
        self._similarities = K @ descent.W  # of the centres ΦW to the samples
        self._store(similarity, result)
        return self

    def _fit_labels(self, H: Array, A: Operator) -> Array:
        return leave_out_isolated(self._labels_of(H), A)

    def _make_placer(self, similarity: Similarity) -> Placer:
        # A new sample's similarities are those of ΦWg to the others: KWg.
        return Placer(similarity, self._similarities, members=self.membership_)

    def _check_options(self) -> None:
        check_n_clusters(self.n_clusters)
        check_known("indefinite", self.indefinite, INDEFINITE)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("tol", self.tol, least=0)
