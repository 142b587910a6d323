"""HierarchicalNMF: trees of topics by rank-2 splits."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state

from symclust import registry
from symclust._threads import single_threaded_blas
from symclust.estimators._options import check_known
from symclust.estimators._topic_leaves import TopicLeaves
from symclust.exceptions import NotConvergedWarning, OptionError, warn
from symclust.hierarchy import Node, Samples, TopicGrowth, Tree, Trials
from symclust.validation import check_n_clusters, check_number, check_range, says_stop


class HierarchicalNMF(TopicLeaves, ClusterMixin, BaseEstimator):
    """Cluster samples × features top-down, by NMF with two columns: HierNMF2.

    The leaf whose terms fall best into two rankings is split next (mNDCG, thesis (58)-(63)). A split that
    only cuts off a few samples takes them for outliers, who then belong to no leaf. Cost is linear in the
    nonzeros of X for each level of the tree. X is nonnegative: counts, tf-idf weights, intensities; documents
    want tf-idf, unit length and the weights of the normalised cut first (docs/topic_trees.md).

    Parameters
    ----------
    n_clusters : int or None, default=8
        Leaves wanted. None leaves it to `score_threshold`.
    score_threshold : float, default=None
        Leaves of a lower score are not split. Scores are between 0 and 1; 0 splits everything that can be.
    outlier_trials : int, default=3
        T: a node is left whole when so many splits in a row only cut off outliers; 0 looks for none.
    outlier_ratio : float, default=9.0
        β: a part may be outliers where the other is so many times larger.
    split : {"rank_two", "k_means", "spherical_k_means"}, default="rank_two"
        How samples are divided.
    criterion : {"mndcg", "energy"}, default="mndcg"
        How the next leaf is found: by how well its parts would divide its terms, or by that and how much more
        of the samples the two parts would explain. "energy" follows uneven classes better, and is no number
        between 0 and 1.
    soft : bool, default=False
        Let samples belong to both children, with the weights of their two memberships.
    tol : float, default=5e-3
        A split stops when its projected gradient has fallen to this part of the first.
    max_iter : int, default=500
        Iterations of a split at most.
    callback : callable, default=None
        Called with the tree and the node that was split, after each split; returning True stops.
    random_state : int, RandomState or None, default=None
        Where the searches for a start begin.

    Attributes
    ----------
    tree_ : Tree
        With each node's members, score and depth; ``data["terms"]`` are its features by falling weight,
        ``data["weights"]`` their weights.
    labels_ : ndarray of shape (n_samples,)
        Leaves from left to right; −1 for outliers and samples without features.
    membership_ : ndarray of shape (n_samples, n_clusters)
        A one at each sample's leaf; for a soft tree the products of the weights along the path, which sum to
        one. Rows of outliers are zero.
    components_ : ndarray of shape (n_clusters, n_features)
        Term weights of the leaves, rows of unit length.
    outliers_ : ndarray of int
        Samples in no leaf.
    n_iter_ : int
        Iterations of all splits together.
    stop_reason_ : str
        Why it stopped.
    timings_ : dict
        Seconds spent on ``"splits"``, ``"copies"`` of rows, ``"scores"``, added up over threads, and
        ``"total"``, by the clock.

    References
    ----------
    D. Kuang, Nonnegative matrix factorization for clustering (2014), chapters 5 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import HierarchicalNMF
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    >>> model = HierarchicalNMF(3, random_state=0).fit(X)
    >>> len(set(model.labels_[::4])), model.outliers_.size
    (3, 0)
    >>> sorted(sorted(terms) for terms in model.top_terms(2))
    [[0, 1], [2, 3], [4, 5]]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        score_threshold: float | None = None,
        outlier_trials: int = 3,
        outlier_ratio: float = 9.0,
        split: str = "rank_two",
        criterion: str = "mndcg",
        soft: bool = False,
        tol: float = 5e-3,
        max_iter: int = 500,
        callback: Callable[[Tree, Node], object] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.score_threshold = score_threshold
        self.outlier_trials = outlier_trials
        self.outlier_ratio = outlier_ratio
        self.split = split
        self.criterion = criterion
        self.soft = soft
        self.tol = tol
        self.max_iter = max_iter
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the tree; an interrupt from the keyboard keeps what has grown so far.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Nonnegative.
        y : ignored
            For scikit-learn's conventions.
        """
        begun = time.perf_counter()
        self._check_options()
        X = self._check_X(X, reset=True)
        check_range(X)
        wanted = np.inf if self.n_clusters is None else check_n_clusters(self.n_clusters, X.shape[0])
        split = partial(
            registry.resolve("hierarchy.splits", self.split), tol=self.tol, max_iter=self.max_iter
        )
        score = registry.resolve("hierarchy.scores", self.criterion)
        trials = Trials(split, self.outlier_trials, self.outlier_ratio, score)
        samples = Samples.of(X)
        random_state = check_random_state(self.random_state)
        growth = TopicGrowth(samples, X.shape[0], trials, random_state, self.soft)
        del samples  # the growth frees it when the root has been split
        with single_threaded_blas():
            self.stop_reason_ = self._grow(growth, wanted)
        self._store(X, growth, wanted)
        self.timings_["total"] = time.perf_counter() - begun
        return self

    def _check_options(self) -> None:
        check_known("split", self.split, registry.options("hierarchy.splits"))
        check_known("criterion", self.criterion, registry.options("hierarchy.scores"))
        check_number("outlier_trials", self.outlier_trials, least=0, whole=True)
        check_number("outlier_ratio", self.outlier_ratio, least=1)
        check_number("tol", self.tol, least=0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        if self.score_threshold is not None:
            check_number("score_threshold", self.score_threshold, least=0)
        elif self.n_clusters is None:
            raise OptionError("n_clusters=None needs a score_threshold to stop at; give one of the two.")
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters)
        if self.callback is not None and not callable(self.callback):
            raise OptionError(
                f"callback={self.callback!r} must be a function of the tree and a node, or None."
            )

    def _grow(self, growth: TopicGrowth, wanted: float) -> str:
        told = []

        def after(tree: Tree, node: Node) -> bool:
            told.append(self.callback is not None and says_stop(self.callback(tree, node)))
            return told[-1]

        try:
            growth.grow(wanted, self.score_threshold, after)
        except KeyboardInterrupt:
            return f"interrupted at {growth.tree.n_splits + 1} leaves"
        n_leaves = growth.tree.n_splits + 1
        if n_leaves >= wanted:
            return f"done: {n_leaves} leaves"
        if told and told[-1]:
            return f"stopped by the callback at {n_leaves} leaves"
        reason = "all leaves are final" if self.score_threshold is None else "no leaf reaches the threshold"
        return f"done: {reason}, at {n_leaves} leaves"

    def _store(self, X: Any, growth: TopicGrowth, wanted: float) -> None:
        self.tree_ = growth.tree
        leaves = self.tree_.leaves()
        self.labels_ = self.tree_.cut(len(leaves))
        self.outliers_ = np.flatnonzero(self.labels_ < 0)
        self.components_ = np.zeros((len(leaves), X.shape[1]), dtype=X.dtype)
        for row, leaf in zip(self.components_, leaves, strict=True):
            row[leaf.data["terms"]] = leaf.data["weights"]
        clock = growth.clock
        self.n_iter_ = clock.n_iter
        self.timings_ = {"splits": clock.splits, "copies": clock.copies, "scores": clock.scores}
        self._X = X  # not copied; flatten() explains all of it
        self._warn(X, len(leaves), wanted)

    def _warn(self, X: Any, n_leaves: int, wanted: float) -> None:
        name = type(self).__name__
        filled = np.diff(X.indptr) if sparse.issparse(X) else X.any(axis=1)
        empty = np.flatnonzero(filled == 0)
        if empty.size:
            warn(
                f"{empty.size} of {X.shape[0]} samples have no feature (the first: {empty[0]}) and belong to "
                "no leaf: their label is -1."
            )
        if self.stop_reason_.startswith("interrupted") or (
            n_leaves < wanted < np.inf and self.score_threshold is None and self.callback is None
        ):
            warn(
                f"{name} stopped at {n_leaves} clusters of {wanted}: {self.stop_reason_}. Leaves are final "
                "where samples are too alike to be split, or where splits only cut off outliers "
                "(outlier_trials, outlier_ratio).",
                NotConvergedWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
