"""The rotation algorithm: exact where K = PPᵀ/c, and each of its pieces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from symclust.constraints import project_simplex
from symclust.exceptions import InputError
from symclust.left_stochastic import embed, rotate
from symclust.left_stochastic.descent import (
    descend,
    far_apart_rotation,
    memberships,
    nearest_rotation,
    plane_basis,
    random_rotations,
)
from symclust.left_stochastic.embedding import negative_part
from symclust.metrics import clustering_accuracy
from symclust.operators import Gram, as_operator


def stochastic(n, k, seed=0, concentration=0.15):
    return np.random.default_rng(seed).dirichlet(np.full(k, concentration), n)


def run(K, k, **options):
    options = {"n_init": 10, "tol": 1e-4, "max_iter": 1000, "rng": np.random.RandomState(0)} | options
    return rotate(as_operator(K), k, **options)


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_stochastic_factor_is_found_exactly(k, seed):
    P = stochastic(300, k, seed)
    found = run(P @ P.T / 2.5, k)
    assert found.objective < 1e-10
    assert np.linalg.norm(P @ P.T / 2.5 - found.P @ found.P.T / found.embedding.scale) ** 2 < 1e-10
    assert found.embedding.scale == pytest.approx(2.5, rel=1e-9)
    assert clustering_accuracy(P.argmax(axis=1), found.P.argmax(axis=1)) == 1


@pytest.mark.parametrize("form", ["dense", "sparse", "gram", "float32"])
def test_every_form_of_the_similarity_gives_the_same_factor(form):
    P = stochastic(80, 3)
    K = {
        "dense": P @ P.T,
        "sparse": sparse.csr_array(P @ P.T),
        "gram": Gram(P),
        "float32": (P @ P.T).astype(np.float32),
    }[form]
    found = run(K, 3)
    assert found.P.dtype == (np.float32 if form == "float32" else np.float64)
    assert found.objective < (1e-3 if form == "float32" else 1e-10)
    assert clustering_accuracy(P.argmax(axis=1), found.P.argmax(axis=1)) == 1


def test_the_objective_is_that_of_the_paper():
    K = stochastic(60, 4) @ np.diag([1.0, 2.0, 3.0, 4.0]) @ stochastic(60, 4).T
    found = run(K, 3)
    c = found.embedding.scale
    assert found.objective == pytest.approx(np.linalg.norm(K - found.P @ found.P.T / c) ** 2, rel=1e-10)
    assert found.objective == min(found.objectives)
    assert_allclose(found.P.sum(axis=1), 1, rtol=1e-12)
    assert found.P.min() >= 0


def test_the_scale_is_that_of_equation_10():
    P = stochastic(50, 3, concentration=1.0)
    K = P @ np.diag([1.0, 2.0, 3.0]) @ P.T
    values, vectors = np.linalg.eigh(K)
    Z = (vectors[:, -3:] * np.sqrt(values[-3:])).T
    m = np.linalg.solve(Z @ Z.T, Z @ np.ones(50))
    assert embed(as_operator(K), 3).scale == pytest.approx(m @ m / 3, rel=1e-9)


def test_rotation_onto_the_plane_is_that_of_subroutine_1():
    """Coordinates in a basis of the fitted plane have the inner products of the rotated points."""
    P = stochastic(40, 4, concentration=1.0)
    K = P @ np.diag([1.0, 2.0, 3.0, 4.0]) @ P.T
    embedding = embed(as_operator(K), 4)
    M = embedding.factor.T
    m = np.linalg.solve(M @ M.T, M @ np.ones(40))
    flat = (np.eye(4) - np.outer(m, m) / (m @ m)) @ M  # before the shift along the normal
    assert_allclose(embedding.points @ embedding.points.T, flat.T @ flat, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(6))
def test_an_exact_factor_is_one_that_has_converged(seed, dtype):
    """Finalists that were stopped because another was exact have objectives that differ by rounding."""
    P = stochastic(100, 4, seed)
    found = run((P @ P.T).astype(dtype), 4, rng=np.random.RandomState(seed))
    assert found.descent.converged
    assert found.descent.misfit <= 1e-4 * np.finfo(dtype).eps * 100


@pytest.mark.parametrize("outside_only", [True, False])
def test_every_start_lowers_the_misfit_and_knows_its_best(outside_only):
    points = embed(as_operator(stochastic(100, 4) @ np.diag([1.0, 2, 3, 4]) @ stochastic(100, 4).T), 4).points
    turns = random_rotations(5, 3, np.random.RandomState(0))
    for found in descend(points, turns, outside_only, 1e-8, 300):
        Q = 0.25 + points @ found.turn @ plane_basis(4, points.dtype).T
        assert found.misfit == pytest.approx(np.sum((Q - project_simplex(Q)) ** 2), rel=1e-9)
        assert found.misfit == min(found.misfits) < found.misfits[0]
        assert_allclose(memberships(points, found.turn), project_simplex(Q), atol=1e-12)


def test_starts_side_by_side_end_where_they_end_alone():
    points = embed(as_operator(stochastic(40, 3) @ np.diag([1.0, 2, 3]) @ stochastic(40, 3).T), 3).points
    turns = random_rotations(6, 2, np.random.RandomState(0))
    together = descend(points, turns, True, 1e-6, 100)
    for turn, found in zip(turns, together, strict=True):
        alone = descend(points, turn[None], True, 1e-6, 100)[0]
        assert_allclose(alone.misfit, found.misfit, rtol=1e-9)


def test_rotations_are_rotations():
    rng = np.random.RandomState(0)
    T = rng.standard_normal((4, 5, 5))
    for g in [*random_rotations(4, 5, rng), *nearest_rotation(T)]:
        assert_allclose(g @ g.T, np.eye(5), atol=1e-12)
        assert np.linalg.det(g) == pytest.approx(1)
    others = random_rotations(200, 5, rng)
    assert all(
        np.sum(g * t) >= np.einsum("sij,ij->s", others, t).max()
        for g, t in zip(nearest_rotation(T), T, strict=True)
    )


def test_far_apart_samples_go_to_the_vertices():
    basis = plane_basis(4, np.dtype(float))
    P = np.vstack([np.eye(4), stochastic(30, 4, concentration=2.0)])
    points = P @ basis @ random_rotations(1, 3, np.random.RandomState(1))[0]
    found = memberships(points, far_apart_rotation(points, basis))
    assert np.sort(found[:4].max(axis=1)).min() == pytest.approx(1, abs=1e-9)


def test_too_few_positive_eigenvalues_are_refused_with_their_number():
    P = stochastic(30, 2)
    with pytest.raises(InputError, match=r"4 positive eigenvalues; this one, .* has 2"):
        embed(as_operator(P @ P.T - 0.1 * np.eye(30)), 4)


def test_a_centred_kernel_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X -= X.mean(axis=0)
    with pytest.raises(InputError, match="centred"):
        embed(as_operator(X @ X.T), 2)


@pytest.mark.parametrize("n", [100, 530])
def test_the_negative_part_of_a_spectrum(n):
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.linspace(-1, 3, n)
    lowest, share = negative_part(as_operator((V * values) @ V.T))
    exact = np.sum(values[values < 0] ** 2) / np.sum(values**2)
    assert -1 - 1e-9 <= lowest < (-0.999 if n == 100 else -0.5)
    assert share == pytest.approx(exact, rel=1e-9 if n == 100 else 0.5)
    assert negative_part(as_operator((V * abs(values)) @ V.T)) == (0.0, 0.0)
