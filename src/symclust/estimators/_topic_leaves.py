"""What a fitted tree of topics answers: who belongs where, by which terms, and where new samples go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symclust._types import Array
from symclust.estimators._flat_topics import FlatTopics, labels_of, memberships
from symclust.exceptions import InputError
from symclust.hierarchy import Tree
from symclust.validation import check_features, check_number


class TopicLeaves(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Reads the leaves of `tree_`, whose nodes know their terms and weights.

    Of an estimator it needs `soft`, and fitted `tree_`, `labels_`, `outliers_`, `components_` and the
    training samples `_X`.
    """

    soft: bool
    tree_: Tree
    labels_: Array
    outliers_: Array
    components_: Array
    n_features_in_: int
    _X: Any

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        checked = check_features(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        lowest = (checked.data if sparse.issparse(checked) else checked).min(initial=0)
        if lowest < 0:
            raise InputError(
                f"Negative values in data passed to {type(self).__name__}: the lowest is {lowest:.3g}. "
                "Topics are sums of nonnegative parts; shift or clip the features first."
            )
        return checked

    @property
    def membership_(self) -> Array:
        """Weights of the samples in the leaves; made when asked for, since most of it is zero."""
        check_is_fitted(self, "tree_")
        H = np.zeros((len(self.labels_), len(self.components_)), dtype=self.components_.dtype)
        for label, leaf in enumerate(self.tree_.leaves()):
            if self.soft and "samples" in leaf.data:
                H[leaf.data["samples"], label] = leaf.data["shares"]
            else:
                H[leaf.members, label] = 1
        H[self.outliers_] = 0
        sums = H.sum(axis=1, keepdims=True)
        return H / np.where(sums > 0, sums, 1)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def snapshots(self) -> Iterator[Array]:
        """Yield the labels after every split, from two leaves on.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import HierarchicalNMF
        >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
        >>> [len(np.unique(labels)) for labels in HierarchicalNMF(3, random_state=0).fit(X).snapshots()]
        [2, 3]
        """
        check_is_fitted(self)
        for n_leaves in range(2, self.tree_.n_splits + 2):
            yield self.tree_.cut(n_leaves)

    def top_terms(self, n: int = 10, feature_names: Sequence[Any] | None = None) -> list[list[Any]]:
        """Return the features of largest weight of each leaf, from left to right.

        Parameters
        ----------
        n : int
            Features of a leaf at most.
        feature_names : sequence, optional
            Names of all features; by default those of the training data, or numbers.
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        known = getattr(self, "feature_names_in_", range(self.n_features_in_))
        names = known if feature_names is None else feature_names
        if len(names) != self.n_features_in_:
            raise InputError(f"feature_names has {len(names)} names; expected {self.n_features_in_}.")
        return [[names[j] for j in leaf.data["terms"][:n].tolist()] for leaf in self.tree_.leaves()]

    def flatten(self) -> FlatTopics:
        """Explain all training samples, outliers too, by the topics of all leaves at once: HierNMF2-flat.

        The topics are the leaves' `components_`; the memberships solve one nonnegative least squares problem
        for all samples (thesis, (95)).

        Returns
        -------
        FlatTopics
            With `labels_`, `membership_` and `components_`.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import HierarchicalNMF
        >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
        >>> flat = HierarchicalNMF(3, random_state=0).fit(X).flatten()
        >>> flat.membership_.shape, np.bincount(flat.labels_).tolist()
        ((12, 3), [4, 4, 4])
        """
        check_is_fitted(self)
        return FlatTopics.of(self._X, self.components_)

    def transform(self, X: Any) -> Array:
        """Return the memberships of samples in the leaves' topics, as in `flatten`."""
        check_is_fitted(self)
        return memberships(self._check_X(X, reset=False), self.components_)

    def predict(self, X: Any) -> Array:
        """Return the topic of largest membership of each sample, −1 where no topic explains it."""
        return labels_of(self.transform(X))
