"""Every init in the registry has the properties that it declares; a new file in `starts` is run here."""

import numpy as np
import pytest

from symclust import NMF, OffDiagonalSymNMF, SymmetricFactorization, SymNMF, registry
from symclust.exceptions import CombinationError, OptionError
from symclust.objectives import missing_methods
from symclust.solvers import Control, RowDescent
from symclust.starts import Init, Setting, make_init, solve

INITS = registry.options("starts")
K = 3


@pytest.fixture(params=INITS)
def name(request):
    return request.param


def setting(problem, seed=0, **control):
    return Setting(problem, RowDescent(), Control(**control), K, 1, np.random.RandomState(seed))


def test_it_is_a_class_that_finds_points_on_the_set(name, planted, as_problem):
    init, problem = make_init(name), as_problem(planted())
    assert isinstance(init, Init)
    (point,) = init.find(setting(problem))
    assert point.H.shape == (30, K)
    assert problem.constraint.violation(point.H) == 0
    assert point.H.any()


def test_it_repeats_and_is_the_same_for_other_numbers_exactly_if_fixed(name, planted, as_problem):
    problem = as_problem(planted(between=0.5))
    one, again, other = (make_init(name).find(setting(problem, seed))[0].H for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, again)
    if make_init(name).fixed:
        np.testing.assert_array_equal(one, other)
    elif name not in ("auto", "low_rank", "merge", "tree"):  # which may find the same clusters
        assert np.any(one != other)


def test_no_iteration_follows_if_the_time_is_up_unless_the_numbers_are_raw(name, planted, as_problem):
    over = setting(as_problem(planted()), tol=0.0, time_limit=1e-9)
    ((result,), _) = solve(name, over)
    assert result.n_iter == make_init(name).least_iterations


def test_two_factors_start_with_it_exactly_if_it_says_so(name, planted):
    model = NMF(K, init=name, max_iter=2, tol=0, random_state=0)
    if make_init(name).two_factors:
        assert model.fit(planted()).components_.shape == (K, 30)
    else:
        with pytest.raises(OptionError, match=f"init='{name}' is not known.*'random'"):
            model.fit(planted())


def test_signed_similarities_start_with_it_exactly_if_it_says_so(name, planted):
    A = planted() - 0.3
    model = SymmetricFactorization(K, init=name, affinity="precomputed", random_state=0)
    if make_init(name).any_set:
        assert model.fit(A).converged_
    else:
        with pytest.raises(OptionError, match=f"init='{name}' is not known.*'merge'"):
            model.fit(A)


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_an_objective_that_lacks_its_needs_is_refused_by_name(name, loss, planted):
    model = OffDiagonalSymNMF(K, loss=loss, init=name, affinity="precomputed", random_state=0)
    objective = model._make_problem(
        SymNMF(K, affinity="precomputed").fit(planted())._training.operator
    ).objective
    if missing := missing_methods(make_init(name).needs, objective):
        with pytest.raises(CombinationError, match=f"init='{name}' needs {missing[0]} .*'merge'"):
            model.fit(planted())
    else:
        assert model.fit(planted()).membership_.shape == (30, K)


@pytest.mark.parametrize(("estimator", "names"), [(SymNMF, ("anls", "bpp")), (NMF, ("anls", "bpp"))])
def test_one_solver_has_two_names(estimator, names, planted):
    options = {"affinity": "precomputed"} if estimator is SymNMF else {}
    one, other = (estimator(K, solver=name, random_state=0, **options).fit(planted()) for name in names)
    np.testing.assert_array_equal(one.membership_, other.membership_)
