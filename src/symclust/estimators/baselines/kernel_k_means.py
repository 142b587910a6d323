"""Kernel k-means."""

from __future__ import annotations

import time
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from symclust._types import AffinityLike, Array, Data, Options, RandomState
from symclust.estimators._base import HardEstimator, is_given
from symclust.estimators.baselines._definite import INDEFINITE, make_definite
from symclust.exceptions import CombinationError, InputError
from symclust.k_means import KERNEL_INITS, KernelRuns, first_labels, read_weights
from symclust.operators import Operator
from symclust.validation import check_known, check_n_clusters, check_number, check_similarity


class KernelKMeans(HardEstimator):
    r"""K-means on the points whose inner products are the similarities.

    Minimises

    .. math:: \sum_j \sum_{i \in j} w_i \|\phi_i - c_j\|^2

    where c_j is the weighted mean of cluster j and K_il = φ_iᵀφ_l; the φ are never formed. With
    ``weights="degree"`` the kernel is D⁻¹KD⁻¹ and the weights are the degrees D: the objective is then the
    normalised cut (Dhillon, Guan and Kulis 2007).

    Parameters
    ----------
    n_clusters, affinity, affinity_params
        Number of clusters or "auto", and similarities of the samples, as in `SymNMF`; they may be negative.
    weights : None, "degree" or array of shape (n_samples,), default=None
        Weights w of the samples, unless `fit` is given a `sample_weight`; None means ones.
    indefinite : {"auto", "clip", "shift", "ignore"}, default="auto"
        What to do with negative eigenvalues, which inner products never have: "clip" them (dense matrices),
        "shift" the diagonal, which changes the objective by a constant, or "ignore" them, so that an
        iteration may raise the objective. "auto" clips dense matrices of up to 2,000 rows and shifts others.
        With weights, the eigenvalues are those of W^½KW^½, and the shift adds σ/w_i to K_ii.
    init : {"auto", "samples", "spectral"}, default="auto"
        Start from k samples as centres, or from k-means on the leading eigenvectors. "auto" takes samples for
        dense matrices; in a sparse graph most samples have nothing in common with any of k.
    n_init : int, default=10
        Number of starts, run side by side.
    max_iter : int, default=300
        Stop after this many iterations.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.

    Attributes
    ----------
    labels_, membership_, history_, n_iter_, converged_, stop_reason_, affinity_matrix_, node_names_
        As in `SymNMF`; `membership_` has a single one in each row.
    objective_ : float
        The objective, for the shifted or clipped kernel.
    inits_ : ndarray of shape (n_init,)
        Objectives that the starts ended at.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import KernelKMeans
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> labels = KernelKMeans(2, affinity="precomputed", random_state=0).fit(K).labels_
    >>> labels[0] == labels[1] == labels[2] != labels[3] == labels[4] == labels[5]
    np.True_
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        weights: str | ArrayLike | None = None,
        indefinite: str = "auto",
        init: str = "auto",
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.weights = weights
        self.indefinite = indefinite
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Data, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts, positive; for models with ``weights=None``. The choice of
            ``n_clusters="auto"`` does not use it.
        """
        self._check_options()
        if sample_weight is not None and self.weights is not None:
            raise CombinationError(
                "fit(sample_weight=...) and the parameter weights both weight the samples: set weights=None."
            )
        clock = time.perf_counter()
        similarity = self._read(X)
        k = check_n_clusters(self.n_clusters, similarity.operator.n)
        check_similarity(similarity.operator, nonnegative=False)
        K, weights = self._weighted(similarity.operator, sample_weight)
        quiet = not is_given(similarity)
        K, shift = make_definite(K, self.indefinite, type(self).__name__, quiet, weights)
        rng = check_random_state(self.random_state)
        iterations = KernelRuns(K, k, weights, shift)
        runs = iterations.run(first_labels(iterations, self.init, self.n_init, rng), self.max_iter)
        self.inits_ = np.array([run.objectives[-1] for run in runs])
        best = runs[int(self.inits_.argmin())]
        done = "no sample changes its cluster" if best.done else "samples still change clusters"
        self._store_labels(
            similarity,
            best.labels,
            k,
            objective=best.objectives[-1],
            objectives=best.objectives,
            seconds=np.array(best.clock) - clock,
            converged=best.done,
            stop_reason=f"stopped after {len(best.objectives)} iterations: {done}",
        )
        return self

    def _weighted(self, K: Operator, sample_weight: ArrayLike | None) -> tuple[Operator, Array | None]:
        if sample_weight is not None:
            return K, read_weights(sample_weight, K.n)
        if not isinstance(self.weights, str):
            return K, read_weights(self.weights, K.n, "weights")
        degrees = K.degrees().astype(np.float64)
        if degrees.min() < 0:
            raise InputError("weights='degree' needs degrees that are not negative: use no weights.")
        inverse = np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        # A sample without similarities is at the origin, and pulls at nothing.
        return K.scaled(inverse), np.where(degrees > 0, degrees, degrees[degrees > 0].min(initial=1.0))

    def _check_options(self) -> None:
        check_n_clusters(self.n_clusters)
        check_known("indefinite", self.indefinite, INDEFINITE)
        check_known("init", self.init, KERNEL_INITS)
        if isinstance(self.weights, str):
            check_known("weights", self.weights, ("degree",), ", or give None or an array")
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
