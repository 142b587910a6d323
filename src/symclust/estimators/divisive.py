"""Top-down clustering: split clusters in two, one after the other."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.estimators._base import HardEstimator, SimilarityEstimator
from symclust.estimators._growing import Growing
from symclust.exceptions import CombinationError, InputError, InterruptedWarning, OptionError
from symclust.hierarchy import Node, Tree, Within, grow, splinter
from symclust.inputs.similarity import Similarity
from symclust.operators import Operator
from symclust.validation import check_n_clusters, check_similarity

IN_A_SPLIT = {"n_clusters": 2, "affinity": "precomputed"}


class TreeEstimator(HardEstimator):
    """Top-down clustering: split the leaf of least within-cluster similarity until there are enough.

    A subclass says how a cluster is split, from the similarity of its samples alone.
    """

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        affinity: str | Callable[..., Any] = "auto",
        affinity_params: dict[str, Any] | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.time_limit = time_limit
        self.random_state = random_state

    @abstractmethod
    def _bisect(self, K: Operator) -> Array | None:
        """Mask of the samples that go right, or None if a cluster cannot be split.

        An InputError says the same of a part; that of all samples is passed on.
        """

    def _comment(self, similarity: Similarity) -> None:
        """Warn of what the method does with such a similarity; most take it as it is."""

    def _check_options(self) -> None:
        check_n_clusters(self.n_clusters)
        check_random_state(self.random_state)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Split the samples top-down. Ctrl-C keeps the splits so far, and raises before there is one.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
        """
        self._check_options()
        ending = Growing(self.time_limit)
        similarity = self._read(X)
        K = similarity.operator
        n_clusters = check_n_clusters(self.n_clusters, K.n)
        check_similarity(K, nonnegative=False)
        self._comment(similarity)
        within = Within(K)
        self.tree_ = self._grow(K, n_clusters, within, ending)
        leaves = self.tree_.leaves()
        outcome: dict[str, Any] = {"objective": within.average(leaves)}
        if len(leaves) < n_clusters or self.tree_.interrupted:
            reason = ending.why(self.tree_, n_clusters) or (
                f"stopped at {len(leaves)} clusters of {n_clusters}: the samples of each are too alike to be "
                "split"
            )
            outcome |= {"converged": False, "interrupted": self.tree_.interrupted, "stop_reason": reason}
        self._store_labels(similarity, self.tree_.cut(len(leaves)), len(leaves), **outcome)
        return self

    def _grow(self, K: Operator, n_clusters: int, within: Within, ending: Growing) -> Tree:
        tree = Tree(K.n)
        cuts = {0: K}  # of the leaves: together no larger than K, and each is cut from its parent's

        def split(node: Node) -> list[Array] | None:
            cut = cuts.pop(node.number)
            try:
                right = self._bisect(cut)
            except InputError:
                if node.parent is None:  # the method cannot take this similarity at all
                    raise
                return None  # too little structure for two clusters
            if right is None or right.all() or not right.any():
                return None
            for number, part in enumerate((~right, right), start=len(tree.nodes)):
                cuts[number] = cut.submatrix(part)
                within.note(number, cuts[number])
            return [node.members[~right], node.members[right]]

        with single_threaded_blas():  # once for all splits: many are too small to pay for it each time
            return grow(tree, n_clusters, split, within, ending.is_over, ending.after)


class Diana(TreeEstimator):
    """Divisive analysis: clusters lose a splinter group, the least similar cluster first.

    DIANA (MacNaughton-Smith, Williams, Dale and Mockett 1964) for similarities instead of distances, as in
    Arora, Gupta, Kapila and Fazel (2013), 4.1: the sample least similar to the rest leaves the cluster, and
    takes along those that are more similar, on average, to the ones that left than to the ones that stay.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of leaves. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How samples become similarities, as in `SymNMF`; negative similarities are allowed.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    time_limit : float, default=None
        Seconds after which the tree is left as it is then, with one split at least.
    random_state : int, RandomState or None, default=None
        Makes the choice of ``n_clusters="auto"`` repeatable; nothing else is left to chance.

    Attributes
    ----------
    labels_, membership_, tree_, objective_, affinity_matrix_, node_names_
        As in `HierarchicalLeftStochastic`.

    Notes
    -----
    A split reads one row of K for each sample that leaves: O(n²) for dense K, O(n² + nonzeros) for sparse K,
    which stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import Diana
    >>> K = np.kron(np.eye(2), np.ones((3, 3)))
    >>> Diana(2, affinity="precomputed").fit(K).labels_.tolist()
    [1, 1, 1, 0, 0, 0]
    """

    _fits_by_chance: ClassVar[bool] = False

    def _bisect(self, K: Operator) -> Array | None:
        if K.is_remote:
            raise CombinationError(
                f"Diana reads A row by row, and each row of {K!r} would be a message to the workers of a "
                "cluster. Use DivisiveClustering(SymNMF(2)), which multiplies, or an array in memory."
            )
        return splinter(K)


class DivisiveClustering(TreeEstimator):
    """Split clusters in two by another method, the least similar cluster first.

    The rule of `HierarchicalLeftStochastic` (Arora, Gupta, Kapila and Fazel 2013, 3.3) with any method in
    place of the left-stochastic decomposition.

    Parameters
    ----------
    estimator : clusterer
        The method that splits a cluster: an estimator of symclust, or any of scikit-learn's that accepts
        similarities as ``affinity="precomputed"``. It is cloned for each split, with two clusters and that
        affinity; others of its own are refused.
    n_clusters : int or "auto", default=2
        Number of leaves. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md).
    affinity : str or callable, default="auto"
        How samples become similarities, once, for the root.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    time_limit : float, default=None
        Seconds after which the tree is left as it is then, with one split at least.
    random_state : int, RandomState or None, default=None
        Makes the choice of ``n_clusters="auto"`` repeatable, and splits by an estimator whose own
        `random_state` is None.

    Attributes
    ----------
    labels_, membership_, tree_, objective_, affinity_matrix_, node_names_
        As in `HierarchicalLeftStochastic`.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import DivisiveClustering, SpectralNJW
    >>> K = np.kron(np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 3.0]]), np.ones((2, 2)))
    >>> model = DivisiveClustering(SpectralNJW(random_state=0), 3, affinity="precomputed").fit(K)
    >>> len({tuple(model.labels_[pair]) for pair in ([0, 1], [2, 3], [4, 5])})
    3
    """

    def __init__(
        self,
        estimator: Any,
        n_clusters: int | str = 2,
        *,
        affinity: str | Callable[..., Any] = "auto",
        affinity_params: dict[str, Any] | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            affinity_params=affinity_params,
            time_limit=time_limit,
            random_state=random_state,
        )
        self.estimator = estimator

    def _check_options(self) -> None:
        super()._check_options()
        usable = hasattr(self.estimator, "get_params") and not isinstance(self.estimator, type)
        known = self.estimator.get_params() if usable else {}
        if not {"n_clusters", "affinity"} <= set(known):
            raise OptionError(
                f"estimator={self.estimator!r} must be a clusterer with the parameters n_clusters and "
                "affinity, such as SpectralNJW(), KernelKMeans() or SymNMF()."
            )
        defaults = signature(type(self.estimator)).parameters
        for name, needed in IN_A_SPLIT.items():
            if known[name] not in (needed, defaults[name].default):
                raise CombinationError(
                    f"{name}={known[name]!r} of the estimator has no meaning in a split, which makes two "
                    "clusters of given similarities. Give it to DivisiveClustering, and leave it out in "
                    f"{type(self.estimator).__name__}."
                )

    def _bisect(self, K: Operator) -> Array | None:
        if K.n < 2:
            return None
        splitter = clone(self.estimator).set_params(**IN_A_SPLIT)
        if getattr(splitter, "random_state", 0) is None:
            splitter.set_params(random_state=self.random_state)
        given = K if isinstance(splitter, SimilarityEstimator) else K.matrix
        with warnings.catch_warnings():
            # A warning about the similarity would be repeated for each of its parts.
            warnings.simplefilter("ignore")
            # An interrupt ends the whole tree: half a split would be another clustering.
            warnings.simplefilter("error", InterruptedWarning)
            try:
                labels = splitter.fit(given).labels_
            except InterruptedWarning as interrupted:
                raise KeyboardInterrupt from interrupted
        return _right_half(np.asarray(labels))


def _right_half(labels: Array) -> Array | None:
    """The samples in another cluster than the first; those in none, −1, go with the larger part."""
    placed = labels >= 0
    if not placed.any():
        return None
    right = placed & (labels != labels[placed.argmax()])
    return right | ~placed if 2 * right.sum() > placed.sum() else right
