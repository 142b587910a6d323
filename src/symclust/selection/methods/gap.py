"""The gap statistic: are the samples of a cluster closer to each other than in data without clusters."""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
from sklearn.metrics import pairwise_distances_chunked

from symclust._threads import single_threaded_libraries
from symclust._types import Array
from symclust.selection._answer import Curve, Selection
from symclust.selection._data import Data, Features, Pairs
from symclust.selection._method import Method
from symclust.selection._study import Study
from symclust.validation import check_number

__all__ = ["Gap"]


def within_variation(data: Data, labels: Array) -> float:
    r"""Return the variation inside clusters, thesis (36).

    .. math:: J = \sum_j \frac{1}{2 n_j} \sum_{i, i' \in C_j} d_{ii'}

    The distances of samples × features are Euclidean. Those of given similarities are
    :math:`1 - a_{ii'} / \max A`, so that J falls as far as clusters hold similarity. A sample in no
    cluster is one by itself.
    """
    members = [np.flatnonzero(labels == cluster) for cluster in np.unique(labels[labels >= 0])]
    with single_threaded_libraries():
        return float(sum(_sum_of_distances(data, part) / (2 * len(part)) for part in members))


def _sum_of_distances(data: Data, part: Array) -> float:
    if isinstance(data, Features):  # blocks of rows, of a bounded size in memory
        return sum(float(block.sum()) for block in pairwise_distances_chunked(data.X[part]))
    assert isinstance(data, Pairs)
    A = data.matrix[part][:, part]
    return len(part) * (len(part) - 1) - float(A.sum() - A.diagonal().sum()) / max(
        float(data.matrix.max()), 1e-300
    )


class Gap(Method):
    r"""The gap statistic: the smallest number of clusters beyond which nothing is gained.

    .. math:: \mathrm{Gap}(k) = E[(J_k)_{null}] - J_k

    (thesis (36)-(37)). Chosen is the smallest k with Gap(k) ≥ Gap(k + 1) − σ[(J_k)_null], from 1 on; the
    largest number tried where none does. The candidates are taken in order, with 1 before them.

    Parameters
    ----------
    n_nulls : int, default=20
        Data sets without clusters.
    """

    def __init__(self, n_nulls: int = 20) -> None:
        check_number("n_nulls", n_nulls, least=2, whole=True)
        self.n_nulls = n_nulls

    def choose(self, study: Study) -> Selection:
        """Return the answer."""
        return study.over_nulls(_variations, self.n_nulls, partial(self._answer, study, _variations(study)))

    def _answer(self, study: Study, J: Array, found: list[Array]) -> Selection:
        candidates, nulls = np.array([1, *study.candidates]), np.array(found)
        expected = Curve(nulls.mean(axis=0), nulls.std(axis=0, ddof=1), "standard deviation over the nulls")
        assert expected.spread is not None
        gaps = expected.values - J  # (37)
        enough = np.flatnonzero(gaps[:-1] >= gaps[1:] - expected.spread[:-1])
        place = int(enough[0]) if enough.size else len(gaps) - 1
        k = int(candidates[place])
        return Selection(
            n_clusters=k,
            method="gap",
            candidates=candidates,
            score="gap",
            curves={
                "gap": Curve(gaps, expected.spread, expected.meaning),
                "within-cluster variation": Curve(J),
                "within-cluster variation (null)": expected,
            },
            sentence=_sentence(k, bool(enough.size)),
            p_values=(1 + (nulls <= J).sum(axis=0)) / (1 + len(nulls)),
        )


def _variations(study: Study) -> Array:
    """Return J for one cluster and for each candidate."""
    everything = np.arange(study.data.n)
    labels = study.label_parts([everything], "all samples")[0]
    source = getattr(study.data, "source", None)
    seen = (
        source if isinstance(source, Features) else study.data
    )  # distances rather than what was made of them
    return np.array([within_variation(seen, row) for row in chain([np.zeros_like(everything)], labels)])


def _sentence(k: int, is_enough: bool) -> str:
    if not is_enough:
        return f"{k} clusters, the largest number tried: the gap still grows there, so there may be more."
    number = "One cluster" if k == 1 else f"{k} clusters"
    return (
        f"{number}: more do not lower the variation inside clusters beyond what they do in data without any."
    )
