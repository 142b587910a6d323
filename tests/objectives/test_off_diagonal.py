"""Σ_{i≠j} (a_ij − h_i·h_j)² against brute-force sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from symclust.constraints import Nonnegative
from symclust.exceptions import CombinationError
from symclust.objectives import Frobenius, IgnoredPairs, OffDiagonal
from symclust.operators import Dense, Gram, Operator, Sparse

PROBLEMS = {"n": st.integers(1, 9), "k": st.integers(1, 4), "seed": st.integers(0, 2**16)}


def setting(n, k, seed):
    rng = np.random.default_rng(seed)
    A = rng.uniform(size=(n, n))
    return A + A.T, rng.uniform(size=(n, k))


def brute_force(A, H):
    n = len(A)
    return sum((A[i, j] - H[i] @ H[j]) ** 2 for i in range(n) for j in range(n) if i != j)


@settings(max_examples=40)
@given(**PROBLEMS)
def test_value(n, k, seed):
    A, H = setting(n, k, seed)
    value = OffDiagonal(Dense(A)).value(H, A @ H, H.T @ H)
    assert value == pytest.approx(brute_force(A, H), rel=1e-10, abs=1e-12 * (1 + np.sum(A * A)))


@settings(max_examples=30)
@given(**PROBLEMS)
def test_gradient_against_finite_differences(n, k, seed):
    A, H = setting(n, k, seed)
    gradient = OffDiagonal(Dense(A)).gradient(H, A @ H, H.T @ H)
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = 1e-6
        slope = (brute_force(A, H + E) - brute_force(A, H - E)) / 2e-6
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-5)


@settings(max_examples=30)
@given(**PROBLEMS, cut=st.integers(0, 9))
def test_blocks_of_rows_have_the_gradient_of_the_whole(n, k, seed, cut):
    A, H = setting(n, k, seed)
    objective, AH, G = OffDiagonal(Dense(A)), A @ H, H.T @ H
    parts = [slice(0, min(cut, n)), slice(min(cut, n), n)]
    joined = np.concatenate([objective.gradient(H[rows], AH[rows], G, rows) for rows in parts])
    assert_allclose(joined, objective.gradient(H, AH, G), rtol=1e-12, atol=1e-12)


def test_the_diagonal_does_not_matter():
    A, H = setting(7, 2, 0)
    B = A + np.diag(np.arange(7.0))
    one, other = OffDiagonal(Dense(A)), OffDiagonal(Dense(B))
    assert one.value(H, A @ H, H.T @ H) == pytest.approx(other.value(H, B @ H, H.T @ H))
    assert_allclose(one.gradient(H, A @ H, H.T @ H), other.gradient(H, B @ H, H.T @ H))


# Ignored pairs ----------------------------------------------------------------------------------------------


def without_pairs(n, k, seed, density=0.4):
    """Return A, H, where A counts, and the objective."""
    A, H = setting(n, k, seed)
    mask = np.triu(np.random.default_rng(seed).uniform(size=(n, n)) < density, 1)
    mask |= mask.T
    pattern = sp.csr_array(mask.astype(float))
    objective = OffDiagonal(Dense(A).without(pattern), IgnoredPairs.of(pattern))
    return A, H, ~mask & ~np.eye(n, dtype=bool), objective


def counted(A, H, counts):
    return np.sum((A - H @ H.T)[counts] ** 2)


def differences(A, H, counts):
    out = np.empty_like(H)
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = 1e-6
        out[place] = (counted(A, H + E, counts) - counted(A, H - E, counts)) / 2e-6
    return out


@settings(max_examples=40)
@given(**PROBLEMS)
def test_ignored_pairs_do_not_count(n, k, seed):
    A, H, counts, objective = without_pairs(n, k, seed)
    AH, G = objective.operator @ H, H.T @ H
    scale = 1 + np.sum(A * A)
    assert objective.value(H, AH, G) == pytest.approx(counted(A, H, counts), rel=1e-10, abs=1e-12 * scale)
    slopes = differences(A, H, counts)
    assert_allclose(objective.gradient(H, AH, G), slopes, rtol=1e-6, atol=1e-5)
    H = H * (np.random.default_rng(seed).uniform(size=H.shape) < 0.7)
    slopes = differences(A, H, counts)
    value, stationarity = objective.measure(H, objective.operator @ H, Nonnegative())
    assert value == pytest.approx(counted(A, H, counts), rel=1e-10, abs=1e-12 * scale)
    expected = np.linalg.norm(np.where(H > 0, slopes, np.minimum(slopes, 0)))
    assert stationarity == pytest.approx(expected, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_rows_that_ignore_each_other_do_not_drown_the_others(dtype):
    A, H = (array.astype(dtype) for array in setting(12, 3, 2))
    H[:3, 2], H[3:, 2] = [60, 70, 65], 0
    mask = np.zeros((12, 12), dtype=bool)
    mask[:3, :3] = ~np.eye(3, dtype=bool)
    pattern = sp.csr_array(mask.astype(float))
    objective = OffDiagonal(Dense(A).without(pattern), IgnoredPairs.of(pattern))
    value, _ = objective.measure(H, objective.operator @ H, Nonnegative())
    expected = counted(A.astype(float), H.astype(float), ~mask & ~np.eye(12, dtype=bool))
    assert value == pytest.approx(expected, rel=1e-4 if dtype is np.float32 else 1e-9)


def test_blocks_of_rows_cannot_leave_pairs_out():
    _, H, _, objective = without_pairs(8, 2, 0)
    with pytest.raises(CombinationError, match="OffDiagonal has no parts for some rows only"):
        objective.parts(H[:3], H[:3], H.T @ H, slice(0, 3))


def test_no_ignored_pairs_are_as_none_given():
    A, H = setting(6, 2, 1)
    empty = IgnoredPairs.of(sp.csr_array((6, 6)))
    assert not empty.any
    one, other = OffDiagonal(Dense(A)), OffDiagonal(Dense(A), empty)
    assert one.measure(H, A @ H, Nonnegative()) == other.measure(H, A @ H, Nonnegative())


# Single precision -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
@pytest.mark.parametrize("cls", [Frobenius, OffDiagonal])
@pytest.mark.parametrize("long_row", [False, True])
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3])
def test_a_value_that_is_all_rounding_is_computed_again(form, cls, long_row, noise):
    rng = np.random.default_rng(0)
    H = (rng.uniform(size=(300, 3)) * (rng.uniform(size=(300, 3)) < 0.5)).astype(np.float32)
    if long_row:  # its square, on the diagonal, is larger than all that counts without it
        H[5] *= 1000
    make = {
        "dense": lambda: Dense(H @ H.T),
        "sparse": lambda: Sparse(sp.csr_array(H @ H.T)),
        "gram": lambda: Gram(H),
    }
    A = make[form]()
    objective = cls(A)
    point = (H * (1 + noise * rng.normal(size=H.shape))).astype(np.float32)
    expected = np.square(A.toarray().astype(float) - point.astype(float) @ point.T.astype(float))
    if cls is OffDiagonal:
        np.fill_diagonal(expected, 0)
    measured = objective.measure(point, A @ point, Nonnegative())[0]
    value = objective.certify(point, measured)
    size = np.square(H.astype(float).T @ H).sum()
    assert value == pytest.approx(
        expected.sum(), rel=1e-3, abs=1e-9 * size if form == "gram" else 1e-13 * size
    )


def test_a_value_with_digits_is_left_alone():
    A, H = setting(9, 2, 0)
    A, H = A.astype(np.float32), H.astype(np.float32)
    objective = OffDiagonal(Dense(A))
    measured = objective.value(H, A @ H, H.T @ H)
    assert objective.certify(H, measured) == measured


def test_products_alone_have_no_more_digits():
    class OnlyProducts(Operator):
        def _product(self, H):
            return (H.sum(axis=0) * np.ones((len(H), 1))).astype(np.float32)

    objective = Frobenius(OnlyProducts(5, np.dtype(np.float32)))
    assert objective.certify(np.ones((5, 1), dtype=np.float32), 1e-9) == 1e-9


def test_no_ignored_pairs_have_no_products():
    assert IgnoredPairs().products(np.ones((3, 2))).nnz == 0
