from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from symclust.datasets import planted_partition


class Fitted(BaseEstimator):
    """What the report reads of a model, without a solver behind it."""

    def __init__(self, n_clusters=3, note="<b>&"):
        self.n_clusters, self.note = n_clusters, note
        self.affinity_matrix_, self.labels_ = planted_partition(60, 3, degree=8, random_state=0)
        self.membership_ = np.random.default_rng(0).random((60, 3)) + 2 * np.eye(3)[self.labels_]
        steps = np.arange(4)
        self.history_ = np.rec.fromarrays(
            [steps, steps / 10, 9.0 - steps, 0.1**steps], names="iteration,seconds,objective,stationarity"
        )
        self.n_iter_, self.relative_error_ = 3, 0.25
        self.stop_reason_ = "Stationarity fell below <tol>."


@pytest.fixture(scope="module")
def fitted():
    for library in ("jinja2", "matplotlib"):
        pytest.importorskip(library)
    return Fitted()


@pytest.fixture
def model(fitted):
    """A model of the test's own, to change as it likes."""
    return deepcopy(fitted)
