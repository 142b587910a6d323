"""How often clusters come back in parts of the samples."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from symclust import HierarchicalSymNMF, SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, OptionError
from symclust.operators import Gram

CENTRES = [[0, 0], [30, 0], [0, 30], [1.5, 31.5]]  # the last two overlap


X = make_blobs(240, centers=CENTRES, random_state=0)[0]


@pytest.fixture(scope="module")
def model():
    return SymNMF(4, random_state=0).fit(X)


def test_clusters_apart_come_back_and_others_run_into_each_other(model):
    found = model.stability(random_state=0)
    labels = model.labels_
    torn = np.unique(labels[X[:, 1] > 20])
    apart = np.setdiff1d(np.arange(4), torn)
    assert found.clusters[apart].min() > 0.95 > found.clusters[torn].max()
    assert found.samples[np.isin(labels, apart)].mean() > found.samples[np.isin(labels, torn)].mean()
    off = found.pairs - np.diag(np.diag(found.pairs))
    assert set(np.unravel_index(off.argmax(), off.shape)) == set(torn.tolist())
    assert_allclose(found.pairs.sum(axis=1), 1)
    assert found.samples.min() >= 0 and found.samples.max() <= 1 + 1e-12


def test_the_same_random_state_gives_the_same_answer(model):
    first, second = (model.stability(3, random_state=1) for _ in range(2))
    assert_array_equal(first.samples, second.samples)
    assert_array_equal(first.pairs, second.pairs)


def test_trees_and_networks():
    A, _ = planted_partition(200, 4, degree=16, mixing=0.1, random_state=0)
    found = HierarchicalSymNMF(4, affinity="network", random_state=0).fit(A).stability(random_state=0)
    assert found.clusters.min() > 0.8


def test_what_is_refused(model):
    with pytest.raises(OptionError, match="n_repeats"):
        model.stability(0)
    factored = SymNMF(2, affinity="precomputed", random_state=0).fit(Gram(np.abs(X)))
    with pytest.raises(CombinationError, match="takes parts of a matrix"):
        factored.stability()
