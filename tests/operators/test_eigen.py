"""Eigenpairs where Lanczos by itself goes wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from symclust.operators import Dense, LowRank, Sparse


@pytest.mark.parametrize("seed", [0, 3, 5, 12])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_component_of_a_graph_has_its_eigenvalue_one(seed, dtype):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 80, size=5)
    blocks = [sp.random_array((m, m), density=0.3, rng=rng) for m in sizes]
    A = Sparse(sp.block_diag([block + block.T for block in blocks]).astype(dtype))
    values, vectors = A.scaled(1 / np.sqrt(A.degrees())).eigsh(7)
    np.testing.assert_allclose(values[:5], 1, atol=1e-5)
    assert values[5] < 0.95
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(7), atol=1e-4)


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
def test_repeated_eigenvalues_on_all_sides(which):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(90, 90)))[0]
    spectrum = np.r_[[-3.0] * 5, [-1.0] * 20, np.zeros(40), [1.0] * 20, [2.0] * 5]
    values, vectors = Dense((Q * spectrum) @ Q.T).eigsh(5, which=which)
    expected = {"LA": 2.0, "SA": -3.0, "LM": -3.0}[which]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-8)


def test_more_eigenvalues_than_rank():
    U = np.linalg.qr(np.random.default_rng(0).normal(size=(200, 3)))[0]
    negative = LowRank(U, [-1.0, -2.0, -3.0])
    values, vectors = negative.eigsh(6)
    np.testing.assert_allclose(values, 0, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-8)
    np.testing.assert_allclose(negative.eigsh(6, which="SA")[0], [0, 0, 0, -1, -2, -3], atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 64])
def test_small_matrices_give_all_their_eigenvalues(n):
    A = sp.diags_array(np.arange(1.0, n + 1))
    np.testing.assert_allclose(Sparse(A).eigsh(n)[0], np.arange(n, 0, -1))


def test_tolerance_is_relative_to_the_size_of_the_matrix():
    A = np.diag(np.linspace(0, 100, 300))
    exact, rough = Dense(A).eigsh(2)[0], Dense(A).eigsh(2, tol=1e-2)[0]
    np.testing.assert_allclose(exact, [100, 100 - 100 / 299], rtol=1e-10)
    np.testing.assert_allclose(rough, exact, rtol=2e-2)
