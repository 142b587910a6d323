"""Estimators that split clusters in two, one after the other."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from symclust._threads import single_threaded_blas
from symclust.estimators._hard import HardEstimator
from symclust.estimators._input import Similarity
from symclust.exceptions import InputError
from symclust.hierarchy import Node, Tree, Within, grow
from symclust.operators import Operator
from symclust.validation import check_n_clusters, check_similarity


class TreeEstimator(HardEstimator):
    """Top-down clustering: split the leaf of least within-cluster similarity until there are enough.

    A subclass says how a cluster is split, from the similarity of its samples alone.
    """

    @abstractmethod
    def _halves(self, K: Operator) -> np.ndarray | None:
        """Return which samples go right, as booleans, or None where a cluster cannot be split.

        An InputError says the same of a part; that of all samples is passed on.
        """

    def _comment(self, similarity: Similarity) -> None:
        """Warn of what the method does with such a similarity; most take it as it is."""

    def _check_options(self) -> None:
        check_n_clusters(self.n_clusters)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Split the samples top-down.

        Parameters
        ----------
        X : array-like, sparse, graph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
        """
        self._check_options()
        similarity = self._read(X)
        K = similarity.operator
        n_clusters = check_n_clusters(self.n_clusters, K.n)
        check_similarity(K, nonnegative=False)
        self._comment(similarity)
        within = Within(K)
        self.tree_ = self._grow(K, n_clusters, within)
        leaves = self.tree_.leaves()
        labels = self.tree_.cut(len(leaves))
        outcome: dict[str, Any] = {"objective": within.average(leaves)}
        if len(leaves) < n_clusters:
            outcome["converged"] = False
            outcome["stop_reason"] = (
                f"stopped at {len(leaves)} clusters of {n_clusters}: the samples of each are too alike to be "
                "split"
            )
        self._store_labels(similarity, labels, len(leaves), **outcome)
        return self

    def _grow(self, K: Operator, n_clusters: int, within: Within) -> Tree:
        tree = Tree(K.n)
        cuts = {0: K}  # of the leaves: together no larger than K, and each is cut from its parent's

        def split(node: Node) -> list[np.ndarray] | None:
            cut = cuts.pop(node.number)
            try:
                right = self._halves(cut)
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
            return grow(tree, n_clusters, split, within)
