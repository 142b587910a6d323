"""Kernel convex NMF."""

from __future__ import annotations

import time
from typing import ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from symclust._labels import leave_out_isolated
from symclust._threads import single_threaded_blas
from symclust._types import AffinityLike, Array, Data, Options, RandomState
from symclust.estimators._base import SimilarityEstimator, as_result, is_given
from symclust.estimators.baselines._definite import INDEFINITE, make_definite
from symclust.exceptions import CombinationError
from symclust.inputs.placing import Placer
from symclust.inputs.similarity import Similarity
from symclust.k_means import KernelRuns, first_labels
from symclust.operators import Dense, Operator, Sparse
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
    n_clusters, affinity, affinity_params
        Number of clusters or "auto", and similarities of the samples, as in `SymNMF`; they may be negative in
        dense and sparse matrices.
    indefinite : {"auto", "clip", "shift", "ignore"}, default="auto"
        What to do with negative eigenvalues, as in `KernelKMeans`; with "ignore", the objective may have no
        lower bound.
    tol : float, default=1e-4
        Stop when ten iterations have lowered the objective by less than ten times this share of tr K.
    max_iter : int, default=1000
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
        affinity: AffinityLike = "auto",
        affinity_params: Options = None,
        indefinite: str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        random_state: RandomState = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.indefinite = indefinite
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Data, y: object = None) -> Self:
        """Factor the similarity of the samples.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
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


FLOOR = 0.2  # added to the indicators that the descent starts from, as Ding, Li and Jordan do


class SignedParts:
    """K + σI = K⁺ − K⁻, seen through products; a K with negative entries must be a dense or sparse matrix."""

    def __init__(self, operator: Operator, shift: float = 0.0) -> None:
        self.plus, self.minus = _parts(operator)
        self.dtype = operator.dtype
        self.shift = operator.dtype.type(shift)
        self.trace = float(operator.diagonal().sum(dtype=np.float64)) + shift * operator.n

    def products(self, H: Array) -> tuple[Array, Array]:
        """Return (K⁺H, K⁻H)."""
        plus = self.plus @ H
        plus += self.shift * H
        return plus, np.zeros_like(H) if self.minus is None else self.minus @ H


def _parts(operator: Operator) -> tuple[Operator, Operator | None]:
    if operator.is_nonnegative():
        return operator, None
    if isinstance(operator, Dense):
        return Dense(np.maximum(operator.array, 0)), Dense(np.maximum(-operator.array, 0))
    if isinstance(operator, Sparse):
        parts = operator.csr.maximum(0), (-operator.csr).maximum(0)
        return Sparse(parts[0]), Sparse(parts[1])
    raise CombinationError(
        f"Negative similarities can be told from others in matrices only, not in {operator!r}: pass a dense "
        "or sparse matrix, or similarities that are not negative."
    )


class ConvexDescent:
    """The updates of Ding, Li and Jordan (2010), (27) and (28) for kernels, from the clusters `labels`.

    The factors G and W are n × k; `objectives` and `clock` hold the objective after each update of G and its
    time.
    """

    def __init__(self, parts: SignedParts, labels: Array, k: int) -> None:
        self.parts = parts
        H = np.eye(k, dtype=parts.dtype)[labels]
        self.G = H + parts.dtype.type(FLOOR)
        self.W = self.G / np.maximum(H.sum(axis=0), 1)
        self.objectives: list[float] = []
        self.clock: list[float] = []

    def run(self, tol: float, max_iter: int) -> bool:
        """Update until ten iterations lower the objective by less than 10 tol tr K; return whether so."""
        trace = abs(self.parts.trace)
        for iteration in range(max_iter):
            self._step()
            if iteration >= 10 and self.objectives[-11] - self.objectives[-1] <= 10 * tol * trace:
                return True
        return False

    def objective(self) -> float:
        """Return the objective of W and G, for a product with K."""
        plus, minus = self.parts.products(self.W)
        return self._value(self.W, plus - minus, self.G.T @ self.G)

    def _value(self, W: Array, KW: Array, gram: Array) -> float:
        return self.parts.trace - 2 * float(np.sum(self.G * KW)) + float(np.sum((W.T @ KW) * gram))

    def _step(self) -> None:
        (plus, minus), W = self.parts.products(self.W), self.W
        attraction = plus + self.G @ (W.T @ minus)
        repulsion = minus + self.G @ (W.T @ plus)
        self.G = _scaled(self.G, attraction, repulsion)
        gram = self.G.T @ self.G
        of_G = self.parts.products(self.G)
        self.W = _scaled(W, of_G[0] + minus @ gram, of_G[1] + plus @ gram)
        self.objectives.append(self._value(W, plus - minus, gram))  # of the new G and the old W
        self.clock.append(time.perf_counter())


def _scaled(factor: Array, attraction: Array, repulsion: Array) -> Array:
    ratio = np.divide(attraction, repulsion, out=np.ones_like(factor), where=repulsion > 0)
    return factor * np.sqrt(np.maximum(ratio, 0))
