import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from symclust.datasets import noisy_cliques
from symclust.exceptions import InputError, OptionError


@settings(max_examples=40)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.floats(0, 1), st.integers(0, 100))
def test_is_symmetric_and_binary_with_unit_diagonal(sizes, noise, seed):
    A, H_true = noisy_cliques(sizes, noise, random_state=seed)
    assert isinstance(A, csr_array)
    assert A.shape == (sum(sizes), sum(sizes))
    assert A.dtype == H_true.dtype == np.float64
    assert (A != A.T).nnz == 0
    assert set(A.data) == {1.0}
    assert (A.diagonal() == 1).all()
    assert H_true.sum(axis=0).tolist() == sizes
    assert (H_true.sum(axis=1) == 1).all()
    assert (np.diff(H_true.argmax(axis=1)) >= 0).all()


@pytest.mark.parametrize("noise", [0, 1])
def test_no_noise_and_all_noise(noise):
    A, H_true = noisy_cliques([4, 1, 3], noise)
    expected = np.abs(H_true @ H_true.T - noise)
    np.fill_diagonal(expected, 1)
    np.testing.assert_array_equal(A.toarray(), expected)


@pytest.mark.parametrize("noise", [0.15, 0.7])
def test_every_pair_is_flipped_as_often_as_asked(noise):
    flips = np.zeros((9, 9))
    for seed in range(1500):
        A, H_true = noisy_cliques([4, 3, 2], noise, random_state=seed)
        flips += A.toarray() != H_true @ H_true.T
    deviation = np.sqrt(noise * (1 - noise) / 1500)
    assert np.abs(flips[np.triu_indices(9, 1)] / 1500 - noise).max() < 4.5 * deviation


def test_seed_repeats():
    (A, H), (A2, H2), (A3, _) = (noisy_cliques([5, 6], 0.3, random_state=seed) for seed in (3, 3, 4))
    assert (A != A2).nnz == 0
    assert np.array_equal(H, H2)
    assert (A != A3).nnz > 0


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"sizes": []}, InputError, "sizes is empty"),
        ({"sizes": [3, 0]}, OptionError, r"sizes\[1\]=0"),
        ({"sizes": [2.5]}, OptionError, r"sizes\[0\]=2.5"),
        ({"noise": 1.5}, OptionError, "noise=1.5 must be a number of at least 0 and at most 1"),
        ({"noise": -0.1}, OptionError, "noise=-0.1"),
        ({"noise": np.nan}, OptionError, "noise=nan"),
    ],
)
def test_refuses_impossible_numbers(wrong, kind, message):
    with pytest.raises(kind, match=message):
        noisy_cliques(**wrong)
