"""Ways to divide samples in two."""

import numpy as np
import pytest

from symclust import registry
from symclust.exceptions import OptionError
from symclust.hierarchy import Samples

SPLITS = registry.options("hierarchy.topics.splits")


def two_topics(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.random((2 * n, 12)) * (rng.random((2 * n, 12)) < 0.2) * 0.3
    X[:n, :6] += rng.random((n, 6))
    X[n:, 6:] += rng.random((n, 6))
    return X


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_finds_two_topics(name, kind):
    samples = Samples.of(two_topics().astype(kind))
    halves = registry.resolve("hierarchy.topics.splits", name)(samples, np.random.RandomState(0))
    side = halves.side
    assert len(set(side[:30])) == len(set(side[30:])) == 1
    assert side[0] != side[-1]
    assert halves.terms.dtype == kind
    np.testing.assert_allclose(np.linalg.norm(halves.terms, axis=0), 1, rtol=1e-5)
    top = set(samples.features[np.argsort(-halves.terms[:, side[0]])[:6]])
    assert top == set(range(6))
    np.testing.assert_array_equal(halves.memberships.argmax(axis=1), side)


def test_a_solver_for_any_number_of_columns_finds_the_same_sides():
    for seed in range(5):
        samples = Samples.of(two_topics(seed))
        one, other = (
            registry.resolve("hierarchy.topics.splits", name)(samples, np.random.RandomState(0), tol=1e-6)
            for name in ("rank_two", "active_set")
        )
        np.testing.assert_array_equal(one.side, other.side)
        np.testing.assert_allclose(one.terms, other.terms, atol=1e-4)


@pytest.mark.parametrize("sizes", [(6, 1), (3, 2), (1, 20)])
@pytest.mark.parametrize("name", SPLITS)
def test_parts_without_a_common_feature(name, sizes):
    X = np.repeat(np.kron(np.eye(2), [[1.0, 2.0, 3.0]]), sizes, axis=0)
    halves = registry.resolve("hierarchy.topics.splits", name)(Samples.of(X), np.random.RandomState(0))
    assert sorted(np.bincount(halves.side).tolist()) == sorted(sizes)


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "X", [np.ones((1, 3)), np.ones((5, 3)), np.zeros((3, 2)), np.array([[1.0, 0.0], [1.0, 0.0]])]
)
def test_what_cannot_be_divided(name, X):
    split = registry.resolve("hierarchy.topics.splits", name)
    assert split(Samples.of(X), np.random.RandomState(0)) is None


@pytest.mark.parametrize("name", SPLITS)
def test_the_samples_stay_as_they_are(name):
    samples = Samples.of(two_topics())
    before = samples.csr().toarray()
    registry.resolve("hierarchy.topics.splits", name)(samples, np.random.RandomState(0))
    np.testing.assert_array_equal(samples.csr().toarray(), before)
    np.testing.assert_array_equal(samples.times(np.eye(samples.shape[1])), before)


def test_a_folder_of_options_that_does_not_exist_is_refused():
    assert {"rank_two", "mndcg"} <= set(registry.options("hierarchy"))
    with pytest.raises(OptionError, match=r"family='splits' is neither a folder nor a file of symclust"):
        registry.options("splits")
