"""Every solver in the registry: descends, converges, ends feasible and stationary, repeats, refuses.

A new file in `symclust.solvers` is run here without being named, with every objective it says it supports.
What theory does not promise of a solver is listed in the tables below; a solver that is not listed has to do
everything. A new file in `symclust.objectives` fails here until `LACKS` says how to check it independently.
"""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import symclust.solvers
from symclust import SymNMF, registry
from symclust.constraints import Nonnegative
from symclust.exceptions import CombinationError
from symclust.objectives import Absolute, Frobenius, OffDiagonal
from symclust.operators import Dense, DenseTensor, Gram, Sparse, SparseTensor
from symclust.solvers import Control, Problem, Solver, State, run

SOLVERS = registry.options("solvers")
DTYPES = (np.float32, np.float64)
N, K = 48, 3

ONLY_DESCENDS = {"multiplicative"}  # entries reach zero only in the limit
# These descend on two factors; their common value may rise for a while.
COUPLED = {"anls", "columnwise", "hals"}
NONMONOTONE = {"barzilai_borwein"}  # lowers the largest of the last ten values
OWN_GOAL = {"procrustes"}  # brings the factor close to a rotation of the eigenvectors; the objective follows
NO_SPARSITY = {"columnwise", "procrustes"}
# Sweeps over the rows that still move are shared by all starts: alone, a start may skip other rows.
WAY_DEPENDS_ON_COMPANY = {("row_descent", "sparse")}


def planted(rng, within=0.7, between=0.03):
    """Three groups with weights that fit no HHᵀ exactly."""
    groups = np.arange(N) * K // N
    level = np.where(groups[:, None] == groups, within, between)
    A = np.triu(level * rng.uniform(0.5, 1.5, size=(N, N)) * (rng.uniform(size=(N, N)) < 0.8))
    return np.maximum(A, A.T)


def sparse_form(dtype):
    A = planted(np.random.default_rng(0))
    A[A < 0.1] = 0
    return Sparse(sp.csr_array(A.astype(dtype)))


def dense_form(dtype):
    return Dense(planted(np.random.default_rng(1)).astype(dtype))


def gram_form(dtype):
    rng = np.random.default_rng(2)
    X = np.repeat(np.eye(K), N // K, axis=0) @ rng.uniform(size=(K, 12)) ** 4 + 0.1 * rng.uniform(
        size=(N, 12)
    )
    return Gram(X.astype(dtype), scale=(1 / np.linalg.norm(X, axis=1)).astype(dtype), self_edges=False)


def dense_tensor_form(dtype):
    torch = pytest.importorskip("torch")
    return DenseTensor(torch.tensor(dense_form(dtype).array))


def sparse_tensor_form(dtype):
    torch = pytest.importorskip("torch")
    return SparseTensor(torch.tensor(sparse_form(dtype).toarray()).to_sparse_csr())


ON_DEVICE = {"dense_tensor": dense_tensor_form, "sparse_tensor": sparse_tensor_form}
FORMS = {"sparse": sparse_form, "dense": dense_form, "gram": gram_form, **ON_DEVICE}


@pytest.fixture(params=SOLVERS)
def name(request):
    return request.param


@pytest.fixture(params=FORMS)
def form(request, name):
    if request.param in ON_DEVICE and not registry.resolve("solvers", name).on_device:
        pytest.skip("refused, as tested below")
    return request.param


def make(name):
    return registry.resolve("solvers", name)()


def make_problem(form, dtype=np.float64, sparsity=0.0, objective=Frobenius):
    operator = FORMS[form](dtype)
    options = {"sparsity": sparsity} if objective is Frobenius else {}
    return Problem(operator, objective(operator, **options), Nonnegative())


def make_start(problem, seed=0):
    A = problem.operator
    top = 2 * np.sqrt(A.toarray().mean() / K)
    return np.random.default_rng(seed).uniform(0.05 * top, top, size=(A.n, K)).astype(A.dtype)


def begin(problem):
    """A state where the solver wants it."""
    return State(problem.operator.to_device(make_start(problem)))


def in_double(problem, state):
    return problem.operator.from_device(state.H).astype(float)


def offers_all(problem, name):
    return not registry.resolve("solvers", name).lacks(problem.objective)


def skip_what_is_refused(name, sparsity):
    if sparsity and name in NO_SPARSITY:
        pytest.skip("refused, as tested below")


# Brute force: nothing below uses the library's objective ----------------------------------------------------


def brute_force(A, H, sparsity=0.0, diagonal=True):
    E = A - H @ H.T
    if not diagonal:
        np.fill_diagonal(E, 0)
    return np.sum(E**2) + 2 * sparsity * np.sum(H.sum(axis=1) ** 2)


def projected_differences(A, H, sparsity=0.0, diagonal=True):
    """Norm of ∇ᴾf(H) from central differences of the objective."""
    A, H, step = A.astype(float), H.astype(float), 1e-5
    gradient = np.empty_like(H)
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = step
        rise = brute_force(A, H + E, sparsity, diagonal) - brute_force(A, H - E, sparsity, diagonal)
        gradient[place] = rise / (2 * step)
    return np.linalg.norm(np.where(H > 0, gradient, np.minimum(gradient, 0)))


def plain_value(objective, A, H):
    if objective != "absolute":
        return brute_force(A, H, diagonal=objective == "frobenius")
    E = np.abs(A - H @ H.T)
    return E.sum() - np.trace(E)


def possible_decrease(A, H):
    """Sum over the entries of what each could bring by itself under the absolute loss.

    The objective is convex in an entry and least at zero or where one of its terms vanishes: all are tried.
    """
    total = 0.0
    for i, l in np.ndindex(H.shape):
        h = np.delete(H[:, l], i)
        rest = np.delete(A[i] - H @ H[i] + H[:, l] * H[i, l], i)
        trials = np.append(np.maximum(rest[h > 0] / h[h > 0], 0), [0.0, H[i, l]])
        values = np.abs(rest - np.outer(trials, h)).sum(axis=1)
        total += 2 * (values[-1] - values.min())
    return total


# How far a point is from stationary, without the library.
LACKS = {
    "frobenius": projected_differences,
    "off_diagonal": lambda A, H: projected_differences(A, H, diagonal=False),
    "absolute": possible_decrease,
}


# Descent ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparsity", [0.0, 0.2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_theory_says_never_rises(name, form, dtype, sparsity):
    skip_what_is_refused(name, sparsity)
    problem = make_problem(form, dtype, sparsity)
    solver, state = make(name), begin(problem)
    A = problem.operator.toarray().astype(float)
    values, coupled = [brute_force(A, in_double(problem, state), sparsity)], []
    for _ in range(25):
        solver.advance(problem, [state])
        assert problem.constraint.violation(state.H) == 0
        assert state.H.dtype == dtype
        values.append(brute_force(A, in_double(problem, state), sparsity))
        coupled.append(state.memory.get("coupled_objective"))
    slack = (1e-5 if dtype is np.float32 else 1e-12) * values[0]
    if name not in COUPLED | NONMONOTONE | OWN_GOAL:
        assert all(later <= earlier + slack for earlier, later in pairwise(values))
    if name in NONMONOTONE:
        assert all(values[i] <= max(values[max(i - 10, 0) : i]) + slack for i in range(1, len(values)))
    if name in ("anls", "hals"):
        # g(W, H) starts from H = W, where it is f(W); only exact solutions hand their gain on to the next W.
        assert all(g <= f + slack for g, f in zip(coupled, values[:-1], strict=True))
    if name in ("anls", "columnwise"):
        assert all(later <= earlier + slack for earlier, later in pairwise([values[0], *coupled]))
    assert values[-1] < 0.9 * values[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_history_tells_the_exact_objective(name, form, dtype):
    problem = make_problem(form, dtype)
    A, seen = problem.operator.toarray().astype(float), []
    H0 = make_start(problem)
    first = brute_force(A, H0.astype(float))
    result = run(problem, make(name), [H0], Control(tol=0.0, max_iter=7, callback=seen.append))[0]
    last = brute_force(A, result.H.astype(float))
    tolerance = (1e-5 if dtype is np.float32 else 1e-11) * first
    assert result.history.objective[0] == pytest.approx(first, abs=tolerance)
    assert result.objective == pytest.approx(last, abs=tolerance)
    assert seen[-1].objective == pytest.approx(last, abs=tolerance)  # also where it was gathered on the way


# The end ----------------------------------------------------------------------------------------------------


def check_end(name, form, sparsity):
    problem = make_problem(form, sparsity=sparsity)
    A, H0 = problem.operator.toarray(), make_start(problem)
    first = projected_differences(A, H0, sparsity)
    result = run(problem, make(name), [H0.copy()], Control(tol=1e-4, max_iter=5000))[0]
    assert problem.constraint.violation(result.H) == 0
    assert result.converged, result.stop_reason
    assert result.stationarity <= 1e-4
    assert projected_differences(A, result.H, sparsity) <= 1.05e-4 * first
    assert result.objective == pytest.approx(brute_force(A, result.H, sparsity), rel=1e-9)
    return result.H


def test_the_end_is_stationary_by_finite_differences(name, form):
    if name in ONLY_DESCENDS | OWN_GOAL:
        pytest.skip("only has to descend")
    check_end(name, form, 0.0)


def mixing(H):
    """Mean of ‖h‖₁/‖h‖: 1 where a row has one nonzero, √k where all are equal."""
    lengths = np.linalg.norm(H, axis=1)
    return np.mean(H.sum(axis=1)[lengths > 0] / lengths[lengths > 0])


def test_sparsity_gives_sparser_rows_and_a_stationary_point_of_its_own(name):
    if name in ONLY_DESCENDS:
        pytest.skip("only has to descend")
    skip_what_is_refused(name, 2.0)
    H, sparse = check_end(name, "dense", 0.0), check_end(name, "dense", 2.0)
    assert mixing(sparse) < mixing(H)
    assert np.count_nonzero(sparse) <= np.count_nonzero(H)


def test_single_precision_converges_as_far_as_it_can(name, form):
    problem = make_problem(form, np.float32)
    result = run(problem, make(name), [make_start(problem)], Control(tol=1e-2, max_iter=1000))[0]
    assert result.H.dtype == np.float32
    assert name in ONLY_DESCENDS or result.converged, result.stop_reason


@pytest.mark.parametrize("refusing", sorted(NO_SPARSITY))
def test_a_solver_that_cannot_see_the_sparsity_refuses_it(refusing):
    with pytest.raises(CombinationError, match=f"'{refusing}'.*sparsity.*'row_descent'"):
        make(refusing).check(make_problem("dense", sparsity=0.1))


# Repeatability ----------------------------------------------------------------------------------------------


def test_runs_repeat_to_the_bit(name, form):
    problem, control = make_problem(form), Control(tol=0.0, max_iter=5)
    one, again = (run(problem, make(name), [make_start(problem)], control)[0] for _ in range(2))
    assert_array_equal(one.H, again.H)
    assert_array_equal(one.history.objective, again.history.objective)


def test_starts_side_by_side_go_the_way_they_go_alone(name, form):
    problem, control = make_problem(form), Control(tol=0.0, max_iter=6)
    together = run(problem, make(name), [make_start(problem, seed) for seed in range(3)], control)
    for seed, result in enumerate(together):
        alone = run(problem, make(name), [make_start(problem, seed)], control)[0]
        if (name, form) in WAY_DEPENDS_ON_COMPANY:
            assert result.objective == pytest.approx(alone.objective, rel=1e-2)
            continue
        assert_allclose(result.H, alone.H, rtol=1e-7, atol=1e-9)
        assert_allclose(result.history.objective, alone.history.objective, rtol=1e-9)


@pytest.mark.parametrize(("name", "form"), sorted(WAY_DEPENDS_ON_COMPANY))
def test_starts_side_by_side_end_where_they_end_alone_whatever_the_way(name, form):
    problem, control = make_problem(form), Control(tol=1e-4, max_iter=1000)
    together = run(problem, make(name), [make_start(problem, seed) for seed in range(4)], control)
    for seed, result in enumerate(together):
        alone = run(problem, make(name), [make_start(problem, seed)], control)[0]
        assert result.converged
        assert result.objective == pytest.approx(alone.objective, rel=1e-5)


# Combinations -----------------------------------------------------------------------------------------------


@pytest.fixture(params=registry.options("objectives"))
def objective(request):
    return request.param


def make_objective_problem(form, objective, dtype=np.float64):
    return make_problem(form, dtype, objective=registry.resolve("objectives", objective))


def test_every_objective_has_a_check():
    assert sorted(LACKS) == sorted(registry.options("objectives"))


def test_what_is_needed_is_known_and_refused_by_name_where_missing(name, objective, monkeypatch):
    solver, problem = make(name), make_objective_problem("dense", objective)
    assert isinstance(solver, Solver)
    assert not solver.lacks(make_objective_problem("dense", "frobenius").objective)
    if not (missing := solver.lacks(problem.objective)):
        solver.check(problem)
        return

    def multiply(self, H):
        raise AssertionError("multiplied before the combination was refused")

    monkeypatch.setattr(Dense, "_product", multiply)
    with pytest.raises(CombinationError) as caught:
        run(problem, solver, [np.ones((N, K))], Control())
    message = str(caught.value)
    assert type(solver).__name__ in message
    assert type(problem.objective).__name__ in message
    assert all(part in message for part in missing)
    suitable = [other for other in SOLVERS if offers_all(problem, other)]
    assert suitable
    assert message.endswith(f"Solvers that work with it: {', '.join(map(repr, suitable))}.")


def test_both_sides_of_the_refusal_exist():
    off_diagonal, absolute = (make_problem("dense", objective=cls) for cls in (OffDiagonal, Absolute))
    assert make("anls").lacks(off_diagonal.objective) == ["normal equations"]
    assert offers_all(off_diagonal, "row_descent")
    assert make("row_descent").lacks(absolute.objective) == ["row problem"]
    assert offers_all(absolute, "coordinate")


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_objective_descends_with_every_solver_that_supports_it(name, form, objective, dtype):
    problem = make_objective_problem(form, objective, dtype)
    if not offers_all(problem, name) or name in COUPLED:
        pytest.skip("refused, or may rise for a while: both tested above")
    A, state, solver = problem.operator.toarray().astype(float), begin(problem), make(name)
    values = [plain_value(objective, A, in_double(problem, state))]
    for _ in range(20):
        solver.advance(problem, [state])
        assert problem.constraint.violation(state.H) == 0
        assert state.H.dtype == dtype
        values.append(plain_value(objective, A, in_double(problem, state)))
    slack = (1e-5 if dtype is np.float32 else 1e-12) * values[0]
    if name not in NONMONOTONE:
        assert all(later <= earlier + slack for earlier, later in pairwise(values))
    assert values[-1] < 0.9 * values[0]


def test_every_objective_ends_stationary_with_every_solver_that_supports_it(name, form, objective):
    problem = make_objective_problem(form, objective)
    if not offers_all(problem, name) or name in ONLY_DESCENDS:
        pytest.skip("refused, or only has to descend: tested above")
    A, H0, seen = problem.operator.toarray(), make_start(problem), []
    first, start = LACKS[objective](A, H0), plain_value(objective, A, H0)
    control = Control(tol=1e-4, max_iter=5000, callback=seen.append)
    result = run(problem, make(name), [H0.copy()], control)[0]
    assert result.converged, result.stop_reason
    assert problem.constraint.violation(result.H) == 0
    assert result.reference == pytest.approx(first, rel=1e-5)
    assert LACKS[objective](A, result.H) <= 1.05e-4 * first
    assert result.history.objective[0] == pytest.approx(start, rel=1e-10)
    last = plain_value(objective, A, result.H)
    assert result.objective == pytest.approx(last, rel=1e-9, abs=1e-11 * start)
    assert seen[-1].objective == pytest.approx(last, rel=1e-9, abs=1e-11 * start)


@pytest.mark.parametrize("form", ON_DEVICE)
def test_a_factor_on_a_device_is_refused_by_name_where_a_solver_needs_it_as_an_array(
    name, form, objective, monkeypatch
):
    problem, solver = make_objective_problem(form, objective), make(name)
    if solver.on_device and problem.objective.on_device:
        return  # runs, as tested above; where the objective lacks something, that is what is said
    monkeypatch.setattr(type(problem.operator), "_times", None)  # multiplies nothing
    with pytest.raises(CombinationError) as caught:
        run(problem, solver, [np.ones((N, K))], Control())
    if solver.lacks(problem.objective):
        return
    message = str(caught.value)
    assert f"{type(solver).__name__} with {type(problem.objective).__name__}" in message
    works = [o for o in SOLVERS if offers_all(problem, o) and make(o).on_device]
    works *= problem.objective.on_device
    assert all(repr(other) in message for other in works)
    assert bool(works) == (objective != "absolute")


LAZY_SOLVER = '''
from symclust.solvers.row_descent import RowDescent

__all__ = ["LazyDescent"]


class LazyDescent(RowDescent):
    """Row descent under another name."""
'''


@pytest.fixture
def new_solver_file(tmp_path, monkeypatch):
    (tmp_path / "lazy_descent.py").write_text(LAZY_SOLVER)
    monkeypatch.setattr(symclust.solvers, "__path__", [*symclust.solvers.__path__, str(tmp_path)])
    registry._exports.cache_clear()
    yield "lazy_descent"
    registry._exports.cache_clear()


def test_a_new_file_is_an_option_at_once(new_solver_file):
    assert new_solver_file in registry.options("solvers")
    A = planted(np.random.default_rng(0))
    model = SymNMF(K, affinity="precomputed", solver=new_solver_file, random_state=0).fit(A)
    expected = SymNMF(K, affinity="precomputed", solver="row_descent", random_state=0).fit(A)
    assert_array_equal(model.membership_, expected.membership_)
