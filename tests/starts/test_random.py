"""Random starts are on the scale of A and repeat with their random numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from symclust import OffDiagonalSymNMF
from symclust.exceptions import NotConvergedWarning
from symclust.objectives import Absolute, Frobenius
from symclust.operators import Dense, Gram, Sparse
from symclust.starts import Random, RandomAsPrinted


def operators(dtype):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 5)).astype(dtype)
    A = X @ X.T
    return [Dense(A), Sparse(sp.csr_array(A)), Gram(X)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_entries_are_uniform_up_to_twice_the_root_of_the_mean_over_k(dtype):
    for operator in operators(dtype):
        H = Random().factor(Frobenius(operator), 6, np.random.RandomState(0))
        top = 2 * np.sqrt(operator.toarray().mean() / 6)
        assert H.shape == (80, 6)
        assert H.dtype == dtype
        assert H.min() >= 0
        assert 0.95 * top < H.max() <= top * 1.0001
        assert H.mean() == pytest.approx(top / 2, rel=0.1)


def test_the_product_has_about_the_mean_of_A():
    operator = operators(np.float64)[0]
    H = Random().factor(Frobenius(operator), 40, np.random.RandomState(0))
    assert (H @ H.T).mean() == pytest.approx(operator.array.mean(), rel=0.05)


def test_repeats_with_its_random_numbers_and_differs_otherwise():
    operator = operators(np.float64)[0]
    one, again, other = (
        Random().factor(Frobenius(operator), 3, np.random.RandomState(seed)) for seed in (1, 1, 2)
    )
    assert_array_equal(one, again)
    assert np.any(one != other)


def test_a_similarity_without_weight_starts_at_zero():
    assert_array_equal(Random().factor(Frobenius(Dense(np.zeros((4, 4)))), 2, np.random.RandomState(0)), 0)


def test_negative_similarities_start_on_the_scale_of_their_size():
    H = Random().factor(Frobenius(Dense(-np.full((50, 50), 4.0))), 2, np.random.RandomState(0))
    assert (H @ H.T).mean() == pytest.approx(4, rel=0.2)


def test_as_printed_entries_are_uniform_on_0_1_whatever_the_scale_and_the_loss():
    for operator in operators(np.float64):
        H = RandomAsPrinted().factor(Absolute(operator), 6, np.random.RandomState(0))
        assert 0 <= H.min() < 0.02 and 0.98 < H.max() < 1
        assert H.mean() == pytest.approx(0.5, rel=0.1)


def test_as_printed_nothing_leads_the_absolute_loss(planted):
    A = planted()
    options = {"loss": "absolute", "affinity": "precomputed", "random_state": 0, "max_iter": 1, "tol": 0}
    points = []
    for init in ("random_as_printed", np.random.RandomState(0).random_sample((len(A), 3)), "random"):
        with pytest.warns(NotConvergedWarning):
            points.append(OffDiagonalSymNMF(3, init=init, **options).fit(A).membership_)
    assert_array_equal(points[0], points[1])
    assert np.any(points[0] != points[2])
