"""One contract for everything that is fitted: estimators, and the answers of applications and `flatten()`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from symclust._labels import NOWHERE
from symclust._types import Array, Data, DataFrame, Matrix, Names
from symclust.estimators._communities import (
    Communities,
    members_by_label,
    members_by_share,
    named_members,
    sample_table,
)
from symclust.estimators._confidence import NETWORK, Standing, by_shares, by_walks, walk_for
from symclust.exceptions import SymclustError
from symclust.storage import Savable
from symclust.validation import check_number

if TYPE_CHECKING:
    from symclust.describe import Description
    from symclust.selection import Selection

REHEARSED = 1 << 22  # memberships of a loaded model up to which its methods are tried: 0.1 s


class Fitted(Savable):
    """Something that is fitted.

    It has `labels_`, `membership_`, `n_clusters_`, `node_names_` (None for samples without names) and
    `selection_`, the methods below, and `predict` and `transform` if it can place new samples.
    """

    _by_default: ClassVar[dict[str, Any]] = {"node_names_": None, "selection_": None}

    labels_: Array
    membership_: Any
    node_names_: list[Any] | None
    selection_: Selection | None  # why there is this number of clusters, after "auto"

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, also of those without samples."""
        self._check_fitted()
        return int(self._n_features_out)

    @property
    def _n_features_out(self) -> int:
        return int(self.membership_.shape[1])

    def _check_fitted(self) -> None:
        if isinstance(self, BaseEstimator):
            check_is_fitted(self)

    @property
    def network_(self) -> Matrix | None:
        """Edge weights of the fitted network, a csr_array; None for other data, and without the data."""
        self._check_fitted()
        return getattr(vars(self).get("_training"), "network", None)

    @property
    def _nouns(self) -> tuple[str, str]:
        """Words for a sample and a cluster."""
        return "sample", "cluster"

    @property
    def _gives_degrees(self) -> bool:
        """Whether memberships are degrees, and not the labels written as zeros and ones."""
        return True

    @property
    def confidence(self) -> Array:
        """How probable it is that each sample is in the right cluster; NaN for a sample in no cluster.

        With sparse similarities short random walks compare clusters: of samples with confidence 0.9 about 9
        in 10 are right. Others give the share of the largest membership, or NaN if they have labels alone.
        """
        self._check_fitted()
        if "affinity_matrix_" not in vars(self) and "_confidence" in vars(self):  # saved without data
            return vars(self)["_confidence"]
        standing = self._standing()
        return np.full(len(self.labels_), np.nan) if standing is None else standing.confidence

    def _standing(self) -> Standing | None:
        """How firmly samples stand in their clusters; None if the model does not say."""
        A = vars(self).get("affinity_matrix_")
        if sparse.issparse(A):
            training = vars(self).get("_training")
            walk = walk_for(getattr(training, "rule", None))
            if walk is NETWORK and training is not None and sparse.issparse(training.network):
                A = training.network  # links, before degrees are divided out
            return by_walks(A, self.labels_, self.n_clusters_, walk)
        return by_shares(self.membership_, self.labels_) if self._gives_degrees else None

    def _saved_state(self, data: bool) -> dict[str, Any]:
        """The attributes that are saved; without the similarities, the confidence that follows from them."""
        state = super()._saved_state(data)
        if not data and sparse.issparse(vars(self).get("affinity_matrix_")):
            state["_confidence"] = self.confidence
        return state

    def communities(self, threshold: float | None = None) -> Communities:
        """Members of each cluster, by name if samples have names and by number otherwise.

        With a threshold 0 < t ≤ 1 clusters overlap: sample i is in all l with h_il ≥ t max_m h_im > 0.
        """
        self._check_fitted()
        nodes = self.node_names_ if self.node_names_ is not None else range(len(self.labels_))
        if threshold is None:
            return named_members(members_by_label(self.labels_, self.n_clusters_), nodes)
        check_number("threshold", threshold, least=0, most=1, exclusive=True)
        return named_members(members_by_share(self.membership_, self.labels_, threshold), nodes)

    def to_dataframe(self) -> DataFrame:
        """Table of `label`, `confidence` and memberships `cluster_0`, ...; names of samples are its index."""
        self._check_fitted()
        return sample_table(self.labels_, self.membership_, self.node_names_, self.confidence)

    def describe(self, data: Data = None, *, names: Names = None, feature_names: Names = None) -> Description:
        """Describe each cluster: a name in a few words, and what sets it apart from all others.

        `data` are the samples in the order of the fit, if the model has none or other columns matter.
        """
        from symclust import describe

        self._check_fitted()
        return describe.describe_clusters(self, data, names=names, feature_names=feature_names)

    def report(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write a page about the clusters, one HTML file; `options` as in `symclust.report.write_report`."""
        from symclust import report  # which stands above all that it reports on

        return report.write_report(path, self, **options)

    def _summary_html(self) -> str:
        """A few lines of HTML about the clusters, for notebooks."""
        from symclust import report

        return report.summary_html(self)

    def _check_restored(self) -> None:
        labels, names, membership = self.labels_, self.node_names_, vars(self).get("membership_")
        n_clusters = labels.size if membership is None else membership.shape[1]
        if labels.ndim != 1 or labels.dtype.kind != "i" or not labels.size or not _within(labels, n_clusters):
            raise ValueError(f"labels that are not numbers of {n_clusters} clusters")
        if names is not None and len(names) != labels.size:
            raise ValueError(f"{len(names)} names of {labels.size} samples")
        if membership is not None and membership.shape[0] != labels.size:
            raise ValueError(f"memberships of shape {membership.shape} of {labels.size} samples")
        if labels.size * (int(labels.max()) + 1) > REHEARSED:
            return
        super()._check_restored()
        for name in ("predict", "score"):
            if isinstance(self, BaseEstimator) and hasattr(type(self), name):
                with suppress(SymclustError):  # saved without data, or of attributed graphs
                    getattr(self, name)(np.ones((1, self.n_features_in_)))

    def __str__(self) -> str:
        return f"{self!r}\n{self._in_words()}" if hasattr(self, "labels_") else repr(self)

    def _in_words(self) -> str:
        """A line such as "3 clusters of 150 samples, the largest with 40 %"."""
        labels, k, (sample, cluster) = self.labels_, self.n_clusters_, self._nouns
        sizes = np.bincount(labels[labels >= 0], minlength=k)
        facts = [f"{_counted(k, cluster)} of {_counted(len(labels), sample)}"]
        if np.count_nonzero(sizes) > 1:
            facts.append(f"the largest with {100 * sizes.max() / len(labels):.0f} %")
        if empty := np.count_nonzero(sizes == 0):
            facts.append(f"{empty:,} of them empty")
        if outside := int(np.count_nonzero(labels < 0)):
            facts.append(f"{_counted(outside, sample)} in none")
        reason = str(getattr(self, "stop_reason_", "done"))
        if reason.startswith("converged"):
            reason = f"converged after {_counted(self.n_iter_, 'iteration')}"
        return ", ".join(facts) + ("" if reason.startswith("done") else f"; {reason}")


def _within(labels: Array, n_clusters: int) -> bool:
    return bool(labels.min() >= NOWHERE and labels.max() < n_clusters)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


class Answer(Fitted):
    """A fitted object that is no estimator: the answer of an application, or of `flatten()`."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._in_words()}>"

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        return self._summary_html()


# Equality is identity here: that of arrays is no yes or no.
@dataclass(frozen=True, eq=False, repr=False)
class Placement(Answer):
    """New samples in the clusters of an answer.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each; −1 for a sample that fits none.
    membership_ : ndarray of shape (n_samples, n_clusters)
        How much of each cluster is in a sample.
    node_names_ : list or None
        Names of the samples.
    """

    _renamed: ClassVar[dict[str, str]] = {
        "labels": "labels_",
        "membership": "membership_",
        "samples": "node_names_",
    }

    labels_: Array
    membership_: Array
    node_names_: list[Any] | None = None


class PlacingAnswer(Answer):
    """An answer that can place new samples in its clusters."""

    def place(self, new: Any) -> Placement:
        """New samples in the clusters of this answer."""
        raise NotImplementedError

    def predict(self, new: Any, **reading: Any) -> Array:
        """The clusters of new samples: the labels of `place`, whose parameters these are."""
        return self.place(new, **reading).labels_

    def transform(self, new: Any, **reading: Any) -> Array:
        """The memberships of new samples: those of `place`, whose parameters these are."""
        return self.place(new, **reading).membership_
