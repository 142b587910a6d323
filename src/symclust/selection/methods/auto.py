"""The method behind ``n_clusters="auto"``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from symclust.graphs import nearest_neighbors
from symclust.operators import Gram, LowRank, Operator
from symclust.selection._answer import Selection
from symclust.selection._data import LARGEST_DENSE, Data, Features, Pairs
from symclust.selection._method import Method
from symclust.selection._study import Study
from symclust.selection.methods.adjusted_modularity import AdjustedModularity

__all__ = ["Auto"]

MOST_SAMPLES = 5000


class Auto(Method):
    """Choose without fitting the estimator: by the adjusted modularity of similarities, in seconds.

    Networks, similarities and the neighbour graphs of samples are all judged by `AdjustedModularity`, which
    was right or off by one on more labelled sets than any other method (``python -m benchmarks.selection``).
    An estimator that works on features alone is judged by the neighbour graph of its samples. Of more than
    5,000 samples with features a random 5,000 are looked at: graphs of data without clusters take as long as
    that of the samples, and several are needed. Similarities of all pairs that are kept as an operator, as
    cosines are, are written out for at most 4,000 samples.
    """

    def choose(self, study: Study) -> Selection:
        """Return the answer of the method that suits the data."""
        seen, study = "the similarities", study.on(_sample(study.data, study.rng))
        if isinstance(study.data, Features):
            study, seen = study.on(_neighbours(study.data)), "the neighbour graph of the samples"
        elif isinstance(study.data, Pairs) and isinstance(study.data.source, Pairs):
            seen = "the network"
        answer = AdjustedModularity().choose(study)
        sentence = f"{answer.sentence} (method='adjusted_modularity', on {seen})"
        return replace(answer, method="auto", sentence=sentence)


def _sample(data: Data, rng: np.random.RandomState) -> Data:
    """Return a part of many samples that are known by features or factors, and other data as they are.

    Parts of networks are left alone: a random part of the nodes has hardly an edge.
    """
    is_operator = isinstance(data, Pairs) and isinstance(data.A, Operator)
    most = LARGEST_DENSE if is_operator else MOST_SAMPLES
    if data.n <= most:
        return data
    rows = np.sort(rng.permutation(data.n)[:most])
    if isinstance(data, Features):
        return Features(data.X[rows])
    if isinstance(data, Pairs) and isinstance(data.source, Features) and data.make is not None:
        source = Features(data.source.X[rows])
        return Pairs(data.make(source.X), source, data.make)
    if isinstance(data, Pairs) and isinstance(data.A, Gram | LowRank):
        return Pairs(data.A.submatrix(rows))
    return data


def _neighbours(data: Features) -> Pairs:
    """Return the graph that estimators on similarities would make of samples by default."""
    return Pairs(_graph(data.X), data, _graph)


def _graph(X: Any) -> Any:
    return nearest_neighbors(X)
