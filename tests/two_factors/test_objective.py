"""Values and gradients of the variants against formulas on dense matrices, and finite differences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def dense_value(X, H, variant, graph=None):
    """The formulas, written down with n × d arrays."""
    n = len(X)
    W, C = H[:n], H[n:]
    fit = np.sum((X - W @ C.T) ** 2)
    if variant == "sparse":
        return fit + 0.3 * np.sum(C**2) + 0.2 * np.sum(W.sum(axis=1) ** 2)
    if variant.startswith("smooth"):
        L = np.diag(graph.sum(axis=1)) - graph
        if variant == "smooth as printed":
            return fit + 0.7 * np.trace(W.T @ L @ W)
        return fit + 0.7 * sum((c @ c) * (w @ L @ w) for w, c in zip(W.T, C.T, strict=True))
    return fit


def random_point(objective, k, seed):
    rng = np.random.default_rng(seed)
    A = objective.operator
    H = rng.uniform(size=(A.n, k)) * (rng.uniform(size=(A.n, k)) < 0.7)
    return objective.start(H)


def gradient_of(objective, H):
    """Twice that of the two least squares problems; zero where W is given."""
    A, G = objective.operator, objective.gram(H)
    (W, C), (XC, XtW) = A.sides(H), A.sides(A @ H)
    gradient = np.zeros_like(H)
    samples, features = A.sides(gradient)
    samples[:, objective.free] = 2 * objective.samples_problem(C, XC, G[1]).gradient(W[:, objective.free])
    features[:] = 2 * objective.features_problem(W, XtW, G[0]).gradient(C)
    return gradient


def graph_of(problem):
    laplacian = getattr(problem.objective, "laplacian", None)
    return None if laplacian is None else laplacian.graph.toarray()


@pytest.mark.parametrize("is_sparse", [False, True])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4))
@settings(max_examples=15)
def test_value_is_that_of_the_formula(planted, as_problem, variant, is_sparse, seed, k):
    X = planted(seed=seed)
    problem = as_problem(X, variant, is_sparse)
    H = random_point(problem.objective, k, seed)
    value = problem.objective.value(H, problem.operator @ H, problem.objective.gram(H))
    assert value == pytest.approx(dense_value(X, H, variant, graph_of(problem)), rel=1e-10)


def test_gradient_is_that_of_finite_differences(planted, as_problem, variant):
    X = planted(n=7, d=5)
    problem = as_problem(X, variant)
    objective = problem.objective
    H = random_point(objective, 2, seed=3)
    gradient = gradient_of(objective, H)
    expected = np.zeros_like(H)
    for place in np.ndindex(*H.shape):
        if place[0] < len(X) and place[1] < (objective.free.start or 0):
            continue  # a column of W that is given
        ends = []
        for step in (1e-6, -1e-6):
            moved = H.copy()
            moved[place] += step
            ends.append(dense_value(X, moved, variant, graph_of(problem)))
        expected[place] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * np.abs(expected).max())


def test_the_measure_is_the_norm_of_the_projected_gradient(planted, as_problem, variant):
    problem = as_problem(planted(), variant)
    objective, A = problem.objective, problem.operator
    H = random_point(objective, 3, seed=1)
    value, slope = problem.measure(H, A @ H)
    gradient = gradient_of(objective, H)
    assert value == objective.value(H, A @ H, objective.gram(H))
    assert slope == pytest.approx(np.linalg.norm(gradient[(H > 0) | (gradient < 0)]), rel=1e-12)


def test_problems_are_made_of_fresh_arrays(planted, as_problem, variant):
    """A regularised matrix must not leak into the Gram matrix of the next problem."""
    problem = as_problem(planted(), variant)
    objective, A = problem.objective, problem.operator
    H = random_point(objective, 3, seed=2)
    AH, G = A @ H, objective.gram(H)
    kept = AH.copy(), G.copy()
    W, C = A.sides(H)
    for problem_of in (
        objective.samples_problem(C, A.sides(AH)[0], G[1]),
        objective.features_problem(W, A.sides(AH)[1], G[0]),
    ):
        problem_of.sweep(np.ones_like(problem_of.right))
        problem_of.gradient(np.ones_like(problem_of.right))
    np.testing.assert_array_equal(AH, kept[0])
    np.testing.assert_array_equal(G, kept[1])


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_an_exact_factorization_is_stationary_up_to_rounding(as_problem, scale):
    rng = np.random.default_rng(0)
    W, C = scale * rng.uniform(size=(24, 3)), rng.uniform(size=(15, 3))
    problem, H = as_problem(W @ C.T), np.concatenate([W, C])
    rounding = problem.objective.rounding(H, problem.operator @ H)
    assert problem.measure(H, problem.operator @ H)[1] <= rounding
    _, elsewhere = problem.measure(2 * H, problem.operator @ (2 * H))
    assert rounding < 1e-12 * elsewhere


def test_the_relative_error_counts_no_penalty(planted, as_problem, variant):
    X = planted()
    problem = as_problem(X, variant)
    objective, A = problem.objective, problem.operator
    H = random_point(objective, 3, seed=5)
    value = objective.value(H, A @ H, objective.gram(H))
    W, C = A.sides(H)
    expected = np.linalg.norm(X - W @ C.T) / np.linalg.norm(X)
    assert objective.relative_error(H, value) == pytest.approx(expected, rel=1e-6)


def test_the_smooth_term_does_not_depend_on_the_scale_of_columns(planted, as_problem):
    problem = as_problem(planted(), "smooth")
    H = random_point(problem.objective, 3, seed=6)
    W, C = problem.operator.sides(H)
    scale = np.array([0.1, 2.0, 30.0])
    rescaled = np.concatenate([W * scale, C / scale])
    assert problem.objective.penalty(rescaled) == pytest.approx(problem.objective.penalty(H), rel=1e-12)
    assert problem.objective.penalty(H) > 0
