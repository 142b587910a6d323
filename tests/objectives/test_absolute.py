"""Σ_{i≠j} |a_ij − h_i·h_j| against brute-force sums, for every form of A."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from symclust.constraints import Nonnegative
from symclust.objectives import Absolute, IgnoredPairs
from symclust.operators import Dense, Gram, Operator, Sparse

PROBLEMS = {
    "n": st.integers(1, 9),
    "k": st.integers(1, 4),
    "seed": st.integers(0, 2**16),
    "form": st.sampled_from(["dense", "sparse", "gram"]),
    "ignored": st.sampled_from([0.0, 0.4]),
}


def setting(n, k, seed, form="dense", ignored=0.0, dtype=np.float64):
    """Return A as an array, H, where A counts, and the objective."""
    rng = np.random.default_rng(seed)
    X = (rng.uniform(size=(n, 5)) * (rng.uniform(size=(n, 5)) < 0.5)).astype(dtype)
    operator = Gram(X) if form == "gram" else {"dense": Dense, "sparse": sparse_of}[form](X @ X.T)
    mask = np.triu(rng.uniform(size=(n, n)) < ignored, 1)
    mask |= mask.T
    pattern = sp.csr_array(mask.astype(float))
    pairs = IgnoredPairs.of(pattern) if mask.any() else None
    operator = operator.without(pattern) if mask.any() else operator
    H = (rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.8)).astype(dtype)
    return X @ X.T, H, ~mask & ~np.eye(n, dtype=bool), Absolute(operator, pairs)


def sparse_of(A):
    return Sparse(sp.csr_array(A))


def brute_force(A, H, counts):
    return np.abs(A - H @ H.T)[counts].sum()


def best_of_entry(A, H, counts, i, l):
    """The least objective that one entry can bring: a convex function, least at zero or a breakpoint."""
    a, rest = H[:, l], A[i] - H @ H[i] + H[:, l] * H[i, l]
    seen = counts[i] & (a > 0)
    values = []
    for x in [0.0, H[i, l], *np.maximum(rest[seen] / a[seen], 0)]:
        trial = H.copy()
        trial[i, l] = x
        values.append(brute_force(A, trial, counts))
    return min(values)


@settings(max_examples=60)
@given(**PROBLEMS)
def test_value(n, k, seed, form, ignored):
    A, H, counts, objective = setting(n, k, seed, form, ignored)
    assert objective.value(H) == pytest.approx(
        brute_force(A, H, counts), rel=1e-11, abs=1e-12 * (1 + A.sum())
    )
    first = brute_force(A, np.zeros_like(H), counts)
    assert objective.total == pytest.approx(first, abs=1e-12 * (1 + A.sum()))


@settings(max_examples=25)
@given(**PROBLEMS)
def test_stationarity_is_what_single_entries_could_bring(n, k, seed, form, ignored):
    A, H, counts, objective = setting(n, k, seed, form, ignored)
    before, value = H.copy(), brute_force(A, H, counts)
    measured, stationarity = objective.measure(H, None, Nonnegative())
    assert_array_equal(H, before)
    expected = sum(value - best_of_entry(A, H, counts, i, l) for i, l in np.ndindex(H.shape))
    assert measured == pytest.approx(value, rel=1e-11, abs=1e-12 * (1 + A.sum()))
    assert stationarity == pytest.approx(expected, rel=1e-9, abs=1e-11 * (1 + A.sum()))


@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
def test_the_relative_error_is_relative_to_nothing(form):
    A, H, counts, objective = setting(8, 2, 0, form)
    assert objective.relative_error(H, objective.value(H)) == pytest.approx(
        brute_force(A, H, counts) / A[counts].sum()
    )
    empty = Absolute(sparse_of(np.eye(4)))
    assert empty.relative_error(np.ones((4, 1)), empty.value(np.ones((4, 1)))) == 0.0


@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_of_large_problems(form, dtype):
    A, H, counts, objective = setting(300, 4, 1, form, 0.02, dtype)
    expected = brute_force(A.astype(float), H.astype(float), counts)
    assert objective.value(H) == pytest.approx(expected, rel=1e-5 if dtype is np.float32 else 1e-12)
    assert isinstance(objective.value(H), float)


@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_large_entry_does_not_drown_the_others(form, dtype):
    # Its square is on the diagonal, which does not count.
    A, H, counts, objective = setting(12, 3, 2, form, 0.1, dtype)
    H[:, 1] *= dtype(1e-7)
    H[5, 1] = 2e7
    expected = brute_force(A.astype(float), H.astype(float), counts)
    assert objective.value(H) == pytest.approx(expected, rel=1e-5 if dtype is np.float32 else 1e-10)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_the_diagonal_does_not_matter(form):
    A, H, _, _ = setting(7, 2, 3)
    make = {"dense": Dense, "sparse": sparse_of}[form]
    one, other = Absolute(make(A)), Absolute(make(A + np.diag(np.arange(7.0))))
    assert one.value(H) == pytest.approx(other.value(H), rel=1e-13)
    assert one.total == pytest.approx(other.total, rel=1e-13)
    measures = [objective.measure(H, None, Nonnegative())[1] for objective in (one, other)]
    assert measures[0] == pytest.approx(measures[1], rel=1e-12)


def test_squares_of_the_same_pairs_lead_random_starts():
    _, H, _, objective = setting(8, 2, 4, ignored=0.4)
    guide = objective.surrogate()
    E = objective.operator.toarray() - H @ H.T
    np.fill_diagonal(E, 0)
    E[objective.ignored.products(np.ones((8, 1))).nonzero()] = 0
    assert guide.value(H, objective.operator @ H, H.T @ H) == pytest.approx(np.sum(E**2))


# Zeros and ones ---------------------------------------------------------------------------------------------


def binary(n, seed, density=0.5):
    A = np.triu(np.random.default_rng(seed).uniform(size=(n, n)) < density).astype(float)
    return np.maximum(A, A.T)


@settings(max_examples=60)
@given(
    n=st.integers(1, 12), seed=st.integers(0, 2**16), density=st.floats(0.1, 0.9),
    make=st.sampled_from([Dense, sparse_of]),
)  # fmt: skip
def test_one_column_of_zeros_and_ones_is_never_worse(n, seed, density, make):
    # Lemma 2: for h in [0, 1] and a binary A.
    A, h = binary(n, seed, density), np.random.default_rng(seed + 1).uniform(size=(n, 1))
    objective = Absolute(make(A))
    before = h.copy()
    H = objective.binarize(h)
    assert_array_equal(h, before)
    assert set(np.unique(H)) <= {0.0, 1.0}
    assert objective.value(H) <= objective.value(h) + 1e-12


@settings(max_examples=30)
@given(n=st.integers(1, 8), k=st.integers(1, 3), seed=st.integers(0, 2**16), top=st.sampled_from([1.0, 3.0]))
def test_no_entry_can_be_flipped_to_advantage(n, k, seed, top):
    A, counts = binary(n, seed), ~np.eye(n, dtype=bool)
    H = Absolute(Dense(A)).binarize(top * np.random.default_rng(seed).uniform(size=(n, k)))
    assert set(np.unique(H)) <= {0.0, 1.0}
    for place in np.ndindex(H.shape):
        flipped = H.copy()
        flipped[place] = 1 - flipped[place]
        assert brute_force(A, H, counts) <= brute_force(A, flipped, counts)


@pytest.mark.parametrize("make", [Dense, sparse_of, lambda A: Gram(np.linalg.cholesky(A))])
def test_entries_that_are_neither_are_found(make):
    A = np.eye(5) * 3 + 0.0
    A[0, 4] = A[4, 0] = 0.25
    assert Absolute(make(A)).find_other_than(0.0, 1.0) == pytest.approx(0.25)
    assert Absolute(make(A)).find_other_than(0.0, 0.25) is None or make not in (Dense, sparse_of)
    assert Absolute(make(3 * np.eye(5))).find_other_than(0.0) is None


@pytest.mark.parametrize("make", [Dense, lambda A: Gram(np.linalg.cholesky(A))])
def test_entries_that_are_neither_are_found_in_every_block_of_rows(make, monkeypatch):
    monkeypatch.setattr(Operator, "_block_size", lambda self: 2)
    A = 3 * np.eye(7)
    assert Absolute(make(A)).find_other_than(0.0) is None
    for place in ((0, 1), (2, 5), (6, 5)):
        B = A.copy()
        B[place] = B[place[::-1]] = 0.25
        assert Absolute(make(B)).find_other_than(0.0) == pytest.approx(0.25)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_value_that_is_all_rounding_is_computed_again(form):
    rng = np.random.default_rng(0)
    H = (rng.uniform(size=(300, 3)) * (rng.uniform(size=(300, 3)) < 0.5)).astype(np.float32)
    A = H @ H.T
    objective = Absolute(Dense(A) if form == "dense" else sparse_of(A))
    expected = np.abs(A.astype(float) - H.astype(float) @ H.T.astype(float))
    np.fill_diagonal(expected, 0)
    measured = objective.value(H)
    assert objective.certify(H, measured) == pytest.approx(expected.sum(), rel=1e-3)
    assert objective.certify(2 * H, objective.value(2 * H)) == objective.value(2 * H)
