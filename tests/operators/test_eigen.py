"""Eigenpairs where Lanczos by itself goes wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from symclust.exceptions import InputError, NotConvergedWarning
from symclust.graphs import gaussian
from symclust.operators import Bipartite, Dense, LowRank, Sparse, _eigen, krylov_spaces


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


def test_all_eigenvalues_of_a_large_sparse_matrix_are_refused():
    with pytest.raises(InputError, match="dense array of 801 x 801"):
        Sparse(sp.eye_array(801)).eigsh(801)


def test_tolerance_is_relative_to_the_size_of_the_matrix():
    A = np.diag(np.linspace(0, 100, 300))
    exact, rough = Dense(A).eigsh(2)[0], Dense(A).eigsh(2, tol=1e-2)[0]
    np.testing.assert_allclose(exact, [100, 100 - 100 / 299], rtol=1e-10)
    np.testing.assert_allclose(rough, exact, rtol=2e-2)


def tight_groups(n=303):
    """Normalised similarities of three groups so tight that most eigenvalues are 1, or nearly so."""
    centres = np.array([[0, 0], [1, 0], [0, 1]])[np.arange(n) % 3]
    return gaussian(centres + np.random.default_rng(0).normal(0, 0.12, (n, 2)), sigma=0.02, normalize=True)


def assert_eigenpairs(A, values, vectors, tol):
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=tol)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=tol)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A.toarray())[::-1][: len(values)], atol=tol)


@pytest.mark.parametrize("form", [Dense, lambda A: Sparse(sp.csr_array(A))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_eigenvalues_that_are_hardly_apart(form, dtype):
    A = form(tight_groups().astype(dtype))
    values, vectors = A.eigsh(3)
    assert values.dtype == vectors.dtype == dtype
    assert_eigenpairs(A, values, vectors, 1e-5 if dtype == np.float32 else 1e-12)


def test_where_lanczos_does_not_end_a_matrix_of_moderate_size_is_written_out(monkeypatch):
    monkeypatch.setattr(_eigen, "SMALL", 10)
    monkeypatch.setattr(_eigen, "RESTARTS", 2)
    A = Sparse(sp.csr_array(tight_groups()))
    assert_eigenpairs(A, *A.eigsh(3), 1e-12)


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_where_nothing_settles_the_nearest_is_returned_with_a_warning(which, dtype, monkeypatch):
    for name, limit in {"SMALL": 10, "LARGE": 10, "RESTARTS": 2, "ITERATIONS": 40}.items():
        monkeypatch.setattr(_eigen, name, limit)
    n = 400
    ring = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], shape=(n, n)).tolil()
    ring[0, -1] = ring[-1, 0] = 1
    A = Sparse((sp.csr_array(ring) / 2).astype(dtype))
    with pytest.warns(NotConvergedWarning, match=r"residuals .* of up to \d\.\de-\d\d"):
        values, vectors = A.eigsh(3, which=which)
    np.testing.assert_allclose(np.abs(values), 1, atol=1e-2)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=2e-2)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-3)  # both ends are sought apart
    with pytest.warns(NotConvergedWarning):
        again = A.eigsh(3, which=which)
    np.testing.assert_array_equal(values, again[0])
    np.testing.assert_array_equal(vectors, again[1])


@pytest.mark.parametrize("which", ["LA", "SA", "LM"])
@pytest.mark.parametrize("k", [1, 7, 60, 101])
def test_both_ends_of_the_spectrum(which, k):
    A = np.random.default_rng(0).normal(size=(101, 101))
    A = A + A.T
    every = np.linalg.eigvalsh(A)
    order = {"LA": -every, "SA": every, "LM": -np.abs(every)}[which].argsort()
    values, vectors = Dense(A).eigsh(k, which=which)
    np.testing.assert_allclose(values, np.sort(every[order[:k]])[::-1], atol=1e-10)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)


def test_krylov_spaces_hold_the_matrix():
    A = np.random.default_rng(0).normal(size=(30, 30))
    A = A + A.T
    spaces = list(krylov_spaces(Dense(A), np.ones(30), 12))
    assert [len(space.V) for space in spaces] == list(range(1, 13))
    last = spaces[-1]
    T = np.diag(last.diagonal) + np.diag(last.beside[:-1], 1) + np.diag(last.beside[:-1], -1)
    np.testing.assert_allclose(last.V @ A @ last.V.T, T, atol=1e-10)
    np.testing.assert_allclose(last.V @ last.V.T, np.eye(12), atol=1e-12)
    assert not last.is_closed


def test_krylov_spaces_end_where_the_matrix_leads_nowhere():
    *_, last = krylov_spaces(Dense(np.diag([1.0, 1.0, 2.0, 2.0])), np.ones(4), 4)
    assert len(last.V) == 2
    assert last.is_closed
    np.testing.assert_allclose(last.ritz()[0], [1, 2])
    (only,) = krylov_spaces(Dense(np.zeros((4, 4))), np.ones(4), 4)
    assert only.is_closed


@pytest.mark.parametrize("shape", [(900, 2000), (2000, 900)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_leading_pairs_of_a_data_matrix_are_near_its_largest(shape, dtype):
    X = sp.random_array(shape, density=0.02, rng=0, dtype=dtype)
    X = sp.csr_array(X + sp.kron(sp.eye_array(4), np.full((shape[0] // 4, shape[1] // 4), 0.1), format="csr"))
    A = Bipartite(X.astype(dtype))
    values, vectors = A.leading(4)
    assert values.dtype == vectors.dtype == dtype
    np.testing.assert_allclose(values, A.eigsh(4)[0], rtol=1e-3)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-4)
    np.testing.assert_array_equal(A.leading(4)[1], vectors)


def test_leading_pairs_of_a_data_matrix_of_low_rank():
    X = np.zeros((1000, 1200))
    X[:300, :400], X[300:600, 400:800] = 1, 1
    values, vectors = Bipartite(X).leading(3)
    np.testing.assert_allclose(values, [np.sqrt(120_000)] * 2 + [0], atol=1e-6)
    assert np.isfinite(vectors).all()
