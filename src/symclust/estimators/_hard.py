"""Estimators that put each sample into one cluster and know no degrees of belonging."""

from __future__ import annotations

from typing import Any

import numpy as np

from symclust.estimators._base import SimilarityEstimator
from symclust.estimators._input import Similarity
from symclust.solvers import HISTORY, Result


class HardEstimator(SimilarityEstimator):
    """A clustering method that gives labels; `membership_` has a one in each row.

    An unseen sample goes to the cluster whose samples it is most similar to on average; `transform` returns
    these averages for unseen samples.
    """

    def _store_labels(
        self, similarity: Similarity, labels: np.ndarray, n_clusters: int, **outcome: Any
    ) -> None:
        H = np.zeros((len(labels), n_clusters), dtype=similarity.operator.dtype)
        H[np.arange(len(labels)), labels] = 1
        self._store(similarity, as_result(H, **outcome))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags


def as_result(
    H: np.ndarray,
    objective: float,
    objectives: Any = None,
    seconds: Any = None,
    converged: bool = True,
    stop_reason: str = "done: the method has no iterations of its own",
) -> Result:
    """Return an outcome in the words of the loop, for methods that it does not run."""
    objectives = np.atleast_1d(np.asarray(objective if objectives is None else objectives, dtype=np.float64))
    history = np.zeros(len(objectives), dtype=HISTORY).view(np.recarray)
    history.iteration = np.arange(1, len(objectives) + 1)
    history.seconds = 0.0 if seconds is None else seconds
    history.objective = objectives
    return Result(H, float(objective), 0.0, 1.0, history, converged, stop_reason)
