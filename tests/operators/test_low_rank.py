"""`low_rank` from any operator: against eigenvectors, its stated error, and what it costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from symclust.datasets import planted_partition
from symclust.exceptions import InputError, OptionError
from symclust.operators import Dense, Gram, LowRank, Operator, low_rank


def decaying(n, rng, dtype=np.float64):
    """A matrix whose eigenvalues fall by a fifth from one to the next, with both signs."""
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = 0.8 ** np.arange(n) * np.where(np.arange(n) % 3 == 2, -1, 1)
    A = (Q * values) @ Q.T
    return ((A + A.T) / 2).astype(dtype), values


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_eigenvalues_in_size_are_kept(dtype):
    A, values = decaying(60, np.random.default_rng(0), dtype)
    L = low_rank(A, 6)
    assert isinstance(L, LowRank)
    assert L.dtype == dtype
    np.testing.assert_allclose(np.sort(L._weights), np.sort(values[:6]), atol=1e-3)
    best = np.linalg.norm(values[6:])  # Eckart and Young
    assert np.linalg.norm(A - L.toarray()) <= 1.01 * best


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40), share=st.floats(0.05, 1))
def test_a_matrix_of_that_rank_is_found_exactly(seed, n, share):
    rng = np.random.default_rng(seed)
    rank = max(1, int(share * n))
    U = rng.normal(size=(n, rank))
    A = (U * rng.choice([-1.0, 1.0], rank)) @ U.T
    np.testing.assert_allclose(low_rank((A + A.T) / 2, rank).toarray(), A, atol=1e-8 * np.abs(A).max())


def test_the_error_is_what_the_squares_of_the_eigenvalues_leave():
    A, _ = decaying(50, np.random.default_rng(1))
    L = low_rank(A, 5)
    assert np.sum((A - L.toarray()) ** 2) == pytest.approx(np.sum(A**2) - np.sum(L._weights**2), rel=1e-9)


def test_every_form_of_the_same_matrix_gives_the_same():
    X = np.random.default_rng(0).random((40, 8))
    A = X @ X.T
    expected = low_rank(A, 4).toarray()
    for form in (sparse.csr_array(A), Dense(A), Gram(X)):
        np.testing.assert_allclose(low_rank(form, 4).toarray(), expected, atol=1e-8)


def test_more_passes_bring_it_closer():
    A = planted_partition(400, 5, 20, 0.2, random_state=0)[0].toarray()
    errors = [np.linalg.norm(A - low_rank(A, 5, n_passes=p).toarray()) for p in (1, 2, 6)]
    assert errors[0] > errors[1] > errors[2]


def test_products_are_all_it_asks_for_and_they_are_counted():
    A, widths = decaying(50, np.random.default_rng(2))[0], []

    class Counting(Operator):
        def _product(self, H):
            widths.append(H.shape[1])
            return A @ H

    low_rank(Counting(50, A.dtype), 7, n_passes=3)
    assert widths == [17] * 4


def test_it_repeats_and_depends_on_the_random_state():
    A = decaying(50, np.random.default_rng(3))[0]
    one, again, other = (low_rank(A, 3, random_state=seed).toarray() for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 0}, "rank=0"),
        ({"rank": 11}, "rank=11 .* 1 to 10"),
        ({"rank": 2, "n_passes": 0}, "n_passes=0"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        low_rank(np.eye(10), **options)


def test_what_is_not_finite_is_refused_with_words():
    A = np.eye(5)
    A[1, 2] = np.nan
    with pytest.raises(InputError, match="NaN or infinity"):
        low_rank(A, 2)
