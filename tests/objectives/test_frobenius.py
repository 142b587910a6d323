"""‖A − HHᵀ‖² + 2β Σ ‖h_i‖₁²: value, gradient, curvature and normal equations against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from symclust.objectives import Frobenius
from symclust.operators import Dense

PROBLEMS = {
    "n": st.integers(1, 9),
    "k": st.integers(1, 4),
    "seed": st.integers(0, 2**16),
    "sparsity": st.sampled_from([0.0, 0.3, 5.0]),
}


def setting(n, k, seed, sparsity=0.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    A = rng.uniform(-1, 1, size=(n, n)).astype(dtype)
    H, V = rng.uniform(size=(2, n, k)).astype(dtype)
    objective = Frobenius(Dense(A + A.T), sparsity)
    return A + A.T, H, V, objective


def brute_force(A, H, sparsity=0.0):
    return np.sum((A - H @ H.T) ** 2) + 2 * sparsity * np.sum(np.abs(H).sum(axis=1) ** 2)


def gradient_at(objective, A, H):
    return objective.gradient(H, A @ H, H.T @ H)


def hessian(A, H, sparsity=0.0):
    """Blocks 4(δ_ij(HHᵀ − A) + h_j h_iᵀ + (h_iᵀh_j) I) of symnmf 5.1; the L1 term adds 4β I to each."""
    n, k = H.shape
    blocks = [
        [
            4 * ((i == j) * (H @ H.T - A) + np.outer(H[:, j], H[:, i])
                 + (H[:, i] @ H[:, j] + sparsity) * np.eye(n))
            for j in range(k)
        ]
        for i in range(k)
    ]  # fmt: skip
    return np.block(blocks)


def differences(function, H, step=1e-6):
    """Central differences of a scalar function, entry by entry."""
    out = np.empty_like(H)
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = step
        out[place] = (function(H + E) - function(H - E)) / (2 * step)
    return out


@settings(max_examples=40)
@given(**PROBLEMS)
def test_value_is_the_sum_of_squares(n, k, seed, sparsity):
    A, H, _, objective = setting(n, k, seed, sparsity)
    assert objective.value(H, A @ H, H.T @ H) == pytest.approx(brute_force(A, H, sparsity), rel=1e-11)


def test_value_of_an_exact_factorization_is_not_negative():
    # The trace form cancels to rounding of either sign.
    for seed in range(20):
        H = np.random.default_rng(seed).uniform(size=(30, 3))
        A = H @ H.T
        value = Frobenius(Dense(A)).value(H, A @ H, H.T @ H)
        assert 0 <= value <= 1e-13 * np.sum(A * A)


@settings(max_examples=30)
@given(**PROBLEMS)
def test_gradient_against_finite_differences(n, k, seed, sparsity):
    A, H, _, objective = setting(n, k, seed, sparsity)
    H = H + 0.1  # |h| has no derivative at zero
    expected = differences(lambda X: brute_force(A, X, sparsity), H)
    assert_allclose(gradient_at(objective, A, H), expected, rtol=1e-6, atol=1e-5)


@settings(max_examples=30)
@given(**PROBLEMS)
def test_curvature_against_differences_of_the_gradient_and_explicit_blocks(n, k, seed, sparsity):
    A, H, V, objective = setting(n, k, seed, sparsity)
    product = objective.curvature(H, V, A @ V, H.T @ H)
    step = 1e-6
    change = gradient_at(objective, A, H + step * V) - gradient_at(objective, A, H - step * V)
    assert_allclose(product, change / (2 * step), rtol=1e-6, atol=1e-6)
    explicit = hessian(A, H, sparsity) @ V.T.reshape(-1)  # x = vec(H), column after column
    assert_allclose(product.T.reshape(-1), explicit, rtol=1e-11, atol=1e-11)


@settings(max_examples=30)
@given(**PROBLEMS)
def test_column_curvature_is_the_diagonal_blocks(n, k, seed, sparsity):
    A, H, V, objective = setting(n, k, seed, sparsity)
    product = objective.column_curvature(H, V, A @ V, H.T @ H)
    full = hessian(A, H, sparsity)
    for l in range(k):
        block = full[l * n : (l + 1) * n, l * n : (l + 1) * n]
        assert_allclose(product[:, l], block @ V[:, l], rtol=1e-11, atol=1e-11)


@settings(max_examples=30)
@given(**PROBLEMS)
def test_attraction_and_repulsion_make_the_gradient(n, k, seed, sparsity):
    A, H, _, objective = setting(n, k, seed, sparsity)
    repulsion, attraction = objective.parts(H, A @ H, H.T @ H)
    assert_allclose(4 * (repulsion - attraction), gradient_at(objective, A, H), rtol=1e-12, atol=1e-12)
    assert np.all(repulsion >= 0)
    assert_allclose(attraction, A @ H)


@settings(max_examples=30)
@given(**PROBLEMS, cut=st.integers(0, 9))
def test_blocks_of_rows_have_the_gradient_of_the_whole(n, k, seed, sparsity, cut):
    A, H, _, objective = setting(n, k, seed, sparsity)
    AH, G = A @ H, H.T @ H
    parts = [slice(0, min(cut, n)), slice(min(cut, n), n)]
    joined = np.concatenate([objective.gradient(H[rows], AH[rows], G, rows) for rows in parts])
    assert_allclose(joined, objective.gradient(H, AH, G), rtol=1e-12, atol=1e-12)


@settings(max_examples=30)
@given(**PROBLEMS, coupling=st.sampled_from([0.1, 1.0, 20.0]))
def test_normal_equations_are_those_of_the_coupled_objective(n, k, seed, sparsity, coupling):
    A, W, H, objective = setting(n, k, seed, sparsity)

    def coupled(X):  # (15) and (18)
        fit = np.sum((A - W @ X.T) ** 2) + coupling * np.sum((W - X) ** 2)
        return fit + sparsity * (np.sum(W.sum(axis=1) ** 2) + np.sum(X.sum(axis=1) ** 2))

    assert objective.coupled_value(W, A @ W, H, coupling) == pytest.approx(coupled(H), rel=1e-10)
    left, right = objective.normal_equations(W, A @ W, W.T @ W, coupling)
    expected = differences(coupled, H)
    assert_allclose(2 * (H @ left - right), expected, rtol=1e-5, atol=1e-5)


def test_normal_equations_leave_their_inputs_alone():
    A, W, _, objective = setting(5, 2, 0, 0.5)
    AW, G = A @ W, W.T @ W
    copies = AW.copy(), G.copy(), W.copy()
    objective.normal_equations(W, AW, G, 3.0)
    for array, copy in zip((AW, G, W), copies, strict=True):
        assert np.array_equal(array, copy)


def test_penalty_is_the_part_that_is_not_fit():
    A, H, _, objective = setting(6, 3, 1, 0.4)
    assert objective.penalty(H) == pytest.approx(brute_force(A, H, 0.4) - brute_force(A, H))
    assert Frobenius(Dense(A)).penalty(H) == 0.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(dtype):
    A, H, V, objective = setting(6, 3, 2, 0.4, dtype)
    G = (H.T @ H).astype(float)
    arrays = [
        objective.gradient(H, A @ H, G),
        objective.curvature(H, V, A @ V, G),
        objective.column_curvature(H, V, A @ V, G),
        *objective.normal_equations(H, A @ H, G, 2.0),
    ]
    assert {array.dtype for array in arrays} == {np.dtype(dtype)}


def test_rounding_is_measured_where_squares_overflow_single_precision():
    """It was infinite, so that every start of large numbers looked stationary."""
    _, H, _, objective = setting(6, 2, seed=0, dtype=np.float32)
    AH = np.full((6, 2), 1e25, dtype=np.float32)
    eps = np.finfo(np.float32).eps
    assert objective.rounding(H, AH) == pytest.approx(16 * np.sqrt(2) * eps * 1e25 * np.sqrt(12), rel=1e-6)
