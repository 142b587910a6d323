"""What holds for every objective of the registry, with every constraint it can be measured on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from symclust import registry
from symclust.constraints import Nonnegative, Sparse, Unit, as_constraint
from symclust.objectives import Absolute, Frobenius, HasGradient, IgnoredPairs
from symclust.operators import Dense, Gram, Operator
from symclust.operators import Sparse as SparseOperator

OBJECTIVES = {name: registry.resolve("objectives", name) for name in registry.options("objectives")}
SMOOTH = {name: cls for name, cls in OBJECTIVES.items() if cls is not Absolute}
CONSTRAINTS = [*registry.options("constraints"), Unit("columns"), Sparse(3, "columns")]
every_objective = pytest.mark.parametrize("name", OBJECTIVES)
every_smooth_objective = pytest.mark.parametrize("name", SMOOTH)
every_constraint = pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)


def setting(n, k, seed, constraint="nonnegative"):
    rng = np.random.default_rng(seed)
    A = rng.uniform(size=(n, n))
    return A + A.T, as_constraint(constraint).project(rng.normal(size=(n, k)))


def definition(name, A, H):
    """The formulas of the three, with n × n arrays."""
    misfit = A - H @ H.T
    if name != "frobenius":
        misfit = misfit - np.diag(np.diag(misfit))
    return np.abs(misfit).sum() if name == "absolute" else np.sum(misfit**2)


def slopes(name, A, H, step=1e-6):
    """Central differences of the definition, entry by entry."""
    out = np.empty_like(H)
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = step
        out[place] = (definition(name, A, H + E) - definition(name, A, H - E)) / (2 * step)
    return out


def test_those_with_a_gradient_are_all_but_one():
    A = Dense(np.eye(3))
    assert {name for name, cls in OBJECTIVES.items() if isinstance(cls(A), HasGradient)} == set(SMOOTH)


@every_smooth_objective
@every_constraint
@settings(max_examples=10)
@given(n=st.integers(3, 7), k=st.integers(1, 3), seed=st.integers(0, 2**16))
def test_measures_are_the_definition_and_its_projected_slopes(name, constraint, n, k, seed):
    A, H = setting(n, k, seed, constraint)
    value, stationarity = OBJECTIVES[name](Dense(A)).measure(H, A @ H, as_constraint(constraint))
    assert value == pytest.approx(definition(name, A, H), rel=1e-9)
    gradient = OBJECTIVES[name](Dense(A)).gradient(H, A @ H, H.T @ H)
    expected = slopes(name, A, H)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
    held = as_constraint(constraint).projected_gradient(H, gradient)
    assert stationarity == pytest.approx(np.linalg.norm(held), rel=1e-9, abs=1e-9)


@every_smooth_objective
@pytest.mark.parametrize("constraint", ["nonnegative", "simplex", "orthogonal", Unit("columns")], ids=str)
def test_many_rows_are_measured_as_few_are(name, constraint):
    # More rows than one block has; columns of length 1 tie all of them together.
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(5000, 2))
    constraint = as_constraint(constraint)
    H = constraint.project(rng.uniform(size=(5000, 3)))
    objective, AH = OBJECTIVES[name](Gram(X)), X @ (X.T @ H)
    expected = constraint.projected_gradient(H, objective.gradient(H, AH, H.T @ H))
    _, stationarity = objective.measure(H, AH, constraint)
    assert stationarity == pytest.approx(np.linalg.norm(expected), rel=1e-10)


@every_objective
@pytest.mark.parametrize("form", [lambda X: Dense(X @ X.T), Gram])
def test_blocks_of_rows_do_not_matter(name, form, monkeypatch):
    # Large similarities are looked at some rows at a time.
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(20, 3)).astype(np.float32)
    point = X * rng.uniform(0.999, 1.001, size=X.shape).astype(np.float32)
    runs = []
    for size in (20, 7, 1):
        monkeypatch.setattr(Operator, "_block_size", lambda self, size=size: size)
        objective, H = OBJECTIVES[name](form(X)), point.copy()
        columns = objective.columns(H)
        columns.descend(1)
        runs.append([objective.certify(point, 0.0), columns.decrease, *H[:, 1]])
    assert runs[0][0] == pytest.approx(definition(name, X.astype(float) @ X.T, point.astype(float)), rel=1e-3)
    np.testing.assert_allclose(runs[1:], runs[:1] * 2, rtol=1e-4)


@every_objective
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_an_exact_factorization_is_stationary_up_to_rounding(name, dtype, scale):
    H = (np.random.default_rng(0).uniform(size=(40, 3)) * np.sqrt(scale)).astype(dtype)
    A = H @ H.T
    objective = OBJECTIVES[name](Dense(A))
    _, stationarity = objective.measure(H, A @ H, Nonnegative())
    rounding = objective.rounding(H, A @ H)
    assert stationarity <= rounding
    # Far below what a step away from it would measure.
    _, elsewhere = objective.measure(2 * H, 2 * A @ H, Nonnegative())
    assert rounding < 1e3 * np.finfo(dtype).eps * elsewhere


@every_objective
def test_a_value_in_double_precision_is_never_computed_again(name):
    A, H = setting(6, 2, 0)
    assert OBJECTIVES[name](Dense(A)).certify(H, 1e-20) == 1e-20


@pytest.mark.parametrize("name", ["off_diagonal", "absolute"])
@pytest.mark.parametrize("form", [Dense, lambda A: SparseOperator(csr_array(A))])
def test_ignored_pairs_do_not_count_when_a_value_is_computed_again(name, form):
    rng = np.random.default_rng(0)
    H = rng.uniform(size=(30, 3)).astype(np.float32)
    mask = np.triu(rng.uniform(size=(30, 30)) < 0.3, 1)
    mask |= mask.T
    pattern = csr_array(mask.astype(float))
    A = H @ H.T
    objective = OBJECTIVES[name](form(A + 5 * mask).without(pattern), IgnoredPairs.of(pattern))
    expected = definition(name, np.where(mask, H.astype(float) @ H.T, A.astype(float)), H.astype(float))
    assert objective.certify(H, 0.0) == pytest.approx(expected, rel=1e-2, abs=1e-12)


def test_a_value_that_is_computed_again_has_its_penalty():
    H = np.random.default_rng(0).uniform(size=(30, 3)).astype(np.float32)
    objective = Frobenius(Dense(H @ H.T), 0.3)
    penalty = objective.penalty(H)
    assert penalty == pytest.approx(2 * 0.3 * np.sum(H.sum(axis=1) ** 2), rel=1e-5)
    assert objective.certify(H, penalty + 1e-6) == pytest.approx(penalty, rel=1e-6)
    assert objective.certify(H, 2 * penalty) == 2 * penalty


@every_objective
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_relative_error_has_no_unit(name, scale):
    A, H = setting(8, 2, 0)
    expected = definition(name, A, H) / definition(name, A, 0 * H)
    expected = expected if name == "absolute" else np.sqrt(expected)
    value = definition(name, scale * A, np.sqrt(scale) * H)
    found = OBJECTIVES[name](Dense(scale * A)).relative_error(np.sqrt(scale) * H, value)
    assert found == pytest.approx(expected, rel=1e-9)


@every_objective
def test_nothing_is_explained_without_an_error(name):
    objective = OBJECTIVES[name](Dense(np.zeros((4, 4))))
    assert objective.relative_error(np.zeros((4, 2)), 0.0) == 0.0


def test_the_relative_error_leaves_the_penalty_out():
    A, H = setting(8, 2, 0)
    plain, penalised = Frobenius(Dense(A)), Frobenius(Dense(A), 0.7)
    values = [objective.value(H, A @ H, H.T @ H) for objective in (plain, penalised)]
    assert values[0] < values[1]
    assert penalised.relative_error(H, values[1]) == pytest.approx(plain.relative_error(H, values[0]))
    assert plain.relative_error(H, -1e-12) == 0.0  # rounding may leave a value below zero


@every_objective
def test_all_but_sums_of_absolute_values_need_the_product(name):
    A, H = setting(5, 2, 0)
    assert OBJECTIVES[name](Dense(A)).needs_product(H) == (name != "absolute")
