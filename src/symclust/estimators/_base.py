"""What all estimators on a similarity share: input, naming, placing unseen samples."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symclust.estimators._input import Similarity, read_similarity
from symclust.estimators._placing import Placer
from symclust.exceptions import NotConvergedWarning
from symclust.operators import Dense, Operator, Sparse, graph_names
from symclust.solvers import Result


class SimilarityEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """A clustering method that sees its samples through pairwise similarities."""

    def _read(self, X: Any) -> Similarity:
        is_array = not isinstance(X, Operator) and graph_names(X) is None
        if is_array:  # scikit-learn's bookkeeping of feature names and numbers; the values are checked by us
            validate_data(self, X, skip_check_array=True)
        similarity = read_similarity(X, self.affinity, self.affinity_params)
        if not is_array:
            self.n_features_in_ = similarity.operator.n
        return similarity

    def _store(self, similarity: Similarity, best: Result) -> None:
        operator = similarity.operator
        self.affinity_matrix_ = (
            operator.array if isinstance(operator, Dense)
            else operator.csr if isinstance(operator, Sparse)
            else operator
        )  # fmt: skip
        self.node_names_ = similarity.names
        self.membership_ = best.H
        self.labels_ = best.H.argmax(axis=1)
        self.objective_ = best.objective
        self.history_ = best.history
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        self.stop_reason_ = best.stop_reason
        self._placer = Placer(similarity, best.H, self.affinity)
        if not best.converged:
            warnings.warn(f"{type(self).__name__} {best.stop_reason}.", NotConvergedWarning, stacklevel=3)

    @property
    def _n_features_out(self) -> int:
        return self.membership_.shape[1]

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the memberships of the samples, `membership_`."""
        return self.fit(X).membership_

    def transform(self, X: Any) -> np.ndarray:
        """Return the memberships of samples, n_samples × n_clusters.

        A sample seen in training keeps its row of `membership_`. An unseen one gets the row h ≥ 0 that
        explains its similarities a to the training samples best, min ‖a − Hh‖².

        Parameters
        ----------
        X : array-like or sparse
            Samples × features as in `fit`; with ``affinity="precomputed"``, or after fitting a graph or an
            operator, the similarities of the samples to the training samples.
        """
        check_is_fitted(self)
        if self._placer.similarity.affinity is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
        return self._placer.memberships(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of each sample: the largest entry of its row of `transform`."""
        check_is_fitted(self)
        if self._placer.similarity.affinity is not None:
            validate_data(self, X, reset=False, skip_check_array=True)
        return self._placer.memberships(X).argmax(axis=1)

    def communities(self) -> list[list[Any]]:
        """Return the members of each cluster, by name for a graph and by number otherwise.

        Examples
        --------
        >>> import networkx as nx
        >>> from symclust import SymNMF
        >>> graph = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(4))
        >>> sorted(SymNMF(2, random_state=0).fit(graph).communities())
        [[0, 1, 2], [3, 4, 5, 6]]
        """
        check_is_fitted(self)
        names = self.node_names_ if self.node_names_ is not None else range(len(self.labels_))
        groups: list[list[Any]] = [[] for _ in range(self.membership_.shape[1])]
        for name, label in zip(names, self.labels_, strict=True):
            groups[label].append(name)
        return groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
