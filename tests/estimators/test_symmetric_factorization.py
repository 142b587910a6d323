"""SymmetricFactorization as an estimator."""

import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from symclust import OffDiagonalSymNMF, SymmetricFactorization, SymNMF, registry
from symclust.constraints import OnePerRow, Sparse, Unit
from symclust.exceptions import CombinationError, InputError, NotConvergedWarning, OptionError
from symclust.graphs import cosine
from symclust.operators import Gram
from symclust.solvers import RowSolver

CONSTRAINTS = registry.options("constraints")
UNSUITED = {"check_clustering": "gives samples × features where a square similarity is due"}
MODELS = [
    SymmetricFactorization(),
    SymmetricFactorization(constraint="nonnegative", graph_regularization=0.2),
    SymmetricFactorization(constraint="simplex", affinity="cosine", graph_regularization=0.1),
    SymmetricFactorization(affinity="precomputed", solver="columnwise", assign_labels="argmax"),
]


@parametrize_with_checks(
    MODELS, expected_failed_checks=lambda model: UNSUITED if model.affinity == "precomputed" else {}
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def signed(n=60, seed=0):
    """Return a similarity of three groups with negative entries between them, and the groups."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) * 3 // n
    A = np.where(y[:, None] == y, 0.8, -0.3) + 0.3 * rng.normal(size=(n, n))
    return (A + A.T) / 2, y


def fit(A, **options):
    options = {"affinity": "precomputed", "random_state": 0, "n_clusters": 3, **options}
    return SymmetricFactorization(**options).fit(A)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("weight", [0.0, 0.2])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_every_set_finds_the_groups_of_a_signed_similarity(constraint, weight):
    A, y = signed()
    A = A / 3  # on the scale of factors with rows of length 1
    model = fit(A, constraint=constraint, graph_regularization=weight)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.converged_, model.stop_reason_
    assert model.optimality().primal_infeasibility <= 1e-10
    assert model.optimality().relative_projected_gradient <= 1e-3
    assert np.all(np.diff(model.history_.objective) <= 1e-10 * model.history_.objective[0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, nx.from_numpy_array])
def test_negative_similarities_come_in_any_form(form):
    A, y = signed()
    np.fill_diagonal(A, 0)
    model = fit(form(A), graph_regularization=0.1)
    assert adjusted_rand_score(y, model.labels_) == 1
    with pytest.raises(InputError, match="Negative values"):
        SymNMF(3, affinity="precomputed").fit(A)


@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_free_factor_is_the_best_there_is(init, sign):
    A = sign * signed()[0]
    model = fit(A, tol=1e-8, max_iter=20_000, init=init)
    values = np.linalg.eigvalsh(A)
    best = np.sum(values**2) - np.sum(np.maximum(values[-3:], 0) ** 2)
    assert model.objective_ == pytest.approx(best, rel=1e-6)


FOES = {
    "two sides": np.kron([[0.0, -1.0], [-1.0, 0.0]], np.ones((6, 6))),
    "three sides": np.kron(2.0 * np.eye(3) - 1, np.ones((4, 4))),
    "everybody": np.eye(12) - 1,
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("solver", ["projected_gradient", "columnwise"])
@pytest.mark.parametrize("init", ["merge", "greedy", "zero"])
@pytest.mark.parametrize("foes", FOES)
def test_no_start_of_a_free_factor_ends_in_a_saddle_point(foes, init, solver):
    A = FOES[foes]
    model = fit(A, n_clusters=2, init=init, solver=solver, tol=1e-6, max_iter=20_000)
    best = np.sum(A**2) - np.sum(np.maximum(np.linalg.eigvalsh(A)[-2:], 0) ** 2)
    assert model.objective_ == pytest.approx(best, rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_nor_does_one_where_groups_are_friends_and_foes_at_random():
    """Of these, with rows that are equal within groups, starts with that symmetry lost four in ten."""
    excess = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        signs = np.tril(rng.choice([-1.0, 0.0, 1.0], size=(5, 5)))
        A = np.kron(signs + np.tril(signs, -1).T, np.ones((4, 4)))
        best = np.sum(A**2) - np.sum(np.maximum(np.linalg.eigvalsh(A)[-3:], 0) ** 2)
        excess.append((fit(A, tol=1e-4).objective_ - best) / np.sum(A**2))
    assert np.max(excess) <= 1e-4


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("constraint", ["nonnegative", "one_per_row"])
def test_two_friends_among_foes_are_found(constraint):
    A = -np.ones((12, 12))
    A[0, 1] = A[1, 0] = 5
    model = fit(A, n_clusters=1, constraint=constraint)
    assert model.membership_.nonzero()[0].tolist() == [0, 1]
    assert model.objective_ == pytest.approx(176, rel=1e-3)


def test_a_similarity_without_positive_eigenvalues_has_no_factor_but_zero():
    with pytest.warns(UserWarning, match="12 of 12 samples belong to no cluster"):
        model = fit(-np.eye(12), constraint="nonnegative")
    assert not model.membership_.any()


def test_the_parts_of_the_objective_are_those_of_the_paper():
    A, _ = signed()
    weight = 0.4
    model = fit(A, graph_regularization=weight)
    H, L = model.membership_, np.diag(A.sum(axis=1)) - A
    differences = ((H[:, None] - H) ** 2).sum(axis=2)
    assert model.misfit_ == pytest.approx(np.sum((A - H @ H.T) ** 2))
    assert model.roughness_ == pytest.approx(np.sum(A * differences))
    assert model.objective_ == pytest.approx(np.sum((A - weight * L - H @ H.T) ** 2))
    constant = np.sum((A - weight * L) ** 2) - np.sum(A**2)
    assert model.objective_ == pytest.approx(model.misfit_ + weight * model.roughness_ + constant)
    assert model.relative_error_ == pytest.approx(np.linalg.norm(A - H @ H.T) / np.linalg.norm(A))


def test_the_regulariser_makes_rows_of_similar_samples_more_alike():
    A, _ = signed()
    A = np.maximum(A, 0)
    plain, smooth = (fit(A, graph_regularization=weight, tol=1e-6) for weight in (0.0, 0.05))
    scale = [np.sum(model.membership_**2) for model in (plain, smooth)]
    assert smooth.roughness_ / scale[1] < plain.roughness_ / scale[0]
    assert smooth.misfit_ > plain.misfit_


def test_a_similarity_known_through_its_data_is_the_same():
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(3), 10, axis=0) @ rng.normal(size=(3, 5)) + 0.1 * rng.normal(size=(30, 5))
    operator = fit(Gram(X), graph_regularization=0.3, init="random")
    dense = fit(X @ X.T, graph_regularization=0.3, init="random")
    assert operator.objective_ == pytest.approx(dense.objective_, rel=1e-6)
    assert adjusted_rand_score(operator.labels_, dense.labels_) == 1


def test_a_nonnegative_factor_without_regulariser_is_that_of_symnmf():
    A = np.maximum(signed()[0], 0)
    ours = fit(A, constraint="nonnegative", tol=1e-6)
    theirs = SymNMF(3, affinity="precomputed", tol=1e-6, random_state=0).fit(A)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-6)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1


@pytest.mark.parametrize("solver", ["projected_gradient", "columnwise", "row_descent", "anls", "procrustes"])
def test_solvers_for_nonnegative_factors(solver):
    A, y = signed()
    model = fit(np.maximum(A, 0), constraint="nonnegative", solver=solver, max_iter=5000)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.membership_.min() >= 0


@pytest.mark.parametrize("rule", ["accelerated", "adaptive", "lanczos", "search"])
def test_step_rules(rule):
    model = fit(signed()[0], step_rule=rule, solver="projected_gradient", max_iter=5000)
    assert model.converged_


def test_a_set_of_ones_own():
    class Ring:
        """Rows of length at most 1."""

        def project(self, H):
            return H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1)

    A, y = signed()
    model = fit(A, constraint=Ring())
    assert np.linalg.norm(model.membership_, axis=1).max() <= 1 + 1e-12
    assert adjusted_rand_score(y, model.labels_) == 1
    assert clone(model).fit(A).objective_ == model.objective_


# Reading clusters -------------------------------------------------------------------------------------------


def test_clusters_are_read_by_the_largest_entry_or_by_centres():
    A, y = signed()
    largest, centres = fit(A, assign_labels="argmax"), fit(A, assign_labels="kmeans")
    assert_array_equal(largest.membership_, centres.membership_)
    assert_array_equal(largest.labels_, largest.membership_.argmax(axis=1))
    assert largest.centers_ is None
    distances = np.linalg.norm(centres.membership_[:, None] - centres.centers_, axis=2)
    assert_array_equal(centres.labels_, distances.argmin(axis=1))
    assert adjusted_rand_score(y, centres.labels_) == 1
    assert fit(A).centers_ is not None
    assert fit(np.maximum(A, 0), constraint="nonnegative").centers_ is None


def test_rotated_factors_have_the_same_clusters_by_centres():
    A, y = signed()
    models = [fit(A, init="random", random_state=seed) for seed in range(4)]
    assert all(adjusted_rand_score(y, model.labels_) == 1 for model in models)


# Unseen samples ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_unseen_samples_join_their_group_and_known_ones_keep_their_rows(constraint, blobs):
    X, y = blobs
    new = np.random.default_rng(0).permutation(len(X))[:20]
    seen = np.setdiff1d(np.arange(len(X)), new)
    options = {"constraint": constraint, "graph_regularization": 0.1, "affinity": "cosine", "random_state": 0}
    model = SymmetricFactorization(3, **options).fit(X[seen])
    assert_allclose(model.transform(X[seen]), model.membership_)
    assert_array_equal(model.predict(X[seen]), model.labels_)
    together = np.concatenate([model.labels_, model.predict(X[new])])
    assert adjusted_rand_score(np.concatenate([y[seen], y[new]]), together) == 1


def test_an_unseen_row_lies_in_the_set_and_is_the_best_there():
    A, _ = signed()
    weight = 0.2
    for constraint, candidates in {
        "simplex": np.random.default_rng(0).dirichlet(np.ones(3), size=2000),
        "free": np.random.default_rng(0).normal(size=(2000, 3)),
    }.items():
        model = fit(A / 3, constraint=constraint, graph_regularization=weight)
        a = np.random.default_rng(1).normal(size=60) / 10 + A[0] / 3
        h = model.transform(a[None])[0]
        H = model.membership_

        def misfit(rows, a=a, H=H):
            return np.sum(((1 + weight) * a - rows @ H.T) ** 2, axis=-1)

        assert misfit(h) <= misfit(candidates).min() + 1e-9
        if constraint == "simplex":
            assert h.min() >= 0
            assert h.sum() == pytest.approx(1)


@pytest.mark.parametrize("constraint", [OnePerRow(), Sparse(1), Sparse(2), Sparse(3)])
def test_an_unseen_row_with_few_entries_has_the_best_ones(constraint):
    rng = np.random.default_rng(0)
    H = constraint.project(rng.normal(size=(20, 4)) * [0.1, 1, 3, 0.5])  # columns of different lengths
    R = (rng.normal(size=(50, 20)) + rng.normal(size=(50, 4)) @ H.T) @ H
    G, signs = H.T @ H, 0 if constraint.nonnegative else -np.inf
    found = RowSolver(constraint)(G, R)
    assert constraint.violation(found) == 0
    best = np.zeros(50)
    for columns in map(list, combinations(range(4), constraint.most_per_row)):
        h = np.maximum(R[:, columns] @ np.linalg.pinv(G[np.ix_(columns, columns)]), signs)
        square = np.sum((h @ G[np.ix_(columns, columns)]) * h, axis=1)
        best = np.minimum(best, square - 2 * np.sum(h * R[:, columns], axis=1))
    excess = np.sum((found @ G) * found, axis=1) - 2 * np.sum(found * R, axis=1) - best
    exact = 1.0 if constraint.most_per_row == 1 else 0.95  # more entries are chosen one after the other
    assert np.mean(excess <= 1e-6 * np.abs(best)) >= exact


def test_unseen_samples_join_large_clusters_of_weak_similarity():
    """The best entry of a row is not the largest: the columns of `one_per_row` have different lengths."""
    y = np.repeat([0, 1], [80, 4])
    A = np.where(y[:, None] == y, np.where(y == 0, 0.2, 0.5), 0.1)
    model = fit(A, n_clusters=2, constraint="one_per_row")
    new = np.where(y == 0, 0.19, 0.5)  # like the 80, and like the 4: there are more of the former
    assert model.predict(new[None])[0] == model.labels_[0]


# Repeatability and refusals ---------------------------------------------------------------------------------


def test_runs_repeat_to_the_bit_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = sp.random_array((900, 200), density=0.05, rng=rng, format="csr")
    models = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            models.append(
                SymmetricFactorization(
                    4, affinity="cosine", graph_regularization=0.2, max_iter=30, tol=1e-12, random_state=0
                )
            )
            with pytest.warns(UserWarning, match="stopped at max_iter=30"):
                models[-1].fit(X)
    assert_array_equal(models[0].membership_, models[1].membership_)
    assert_array_equal(models[0].labels_, models[1].labels_)


def test_several_starts_keep_the_best():
    model = fit(signed()[0], constraint="one_per_row", init="random", n_init=5)
    assert model.inits_.shape == (5,)
    assert model.objective_ == model.inits_.min()


@pytest.mark.parametrize("constraint", ["free", "unit"])
def test_single_precision_stays(constraint):
    model = fit(signed()[0].astype(np.float32), constraint=constraint, graph_regularization=0.1)
    assert model.membership_.dtype == np.float32
    assert model.converged_


def test_pickle():
    A, _ = signed()
    model = fit(A, constraint=Sparse(2), graph_regularization=0.1)
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.predict(A), model.labels_)
    assert copy.optimality() == model.optimality()


def test_given_starts_may_be_negative_and_are_projected():
    A, _ = signed()
    H = np.random.default_rng(0).normal(size=(60, 3))
    U = H / np.linalg.norm(H, axis=1, keepdims=True)
    with pytest.warns(NotConvergedWarning, match="stopped at max_iter=1") as caught:
        model = fit(A, constraint=Unit(), init=H, max_iter=1, tol=0)
    assert model.history_.objective[0] == pytest.approx(np.sum((A - U @ U.T) ** 2))
    assert caught[0].filename == __file__  # the warning points at the call of fit


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e4])
def test_given_starts_may_be_far_too_small_or_large(size):
    A, y = signed()
    model = fit(1e6 * A, init=size * np.eye(3)[y])  # entries of H are about 1e3
    assert model.relative_error_ == pytest.approx(fit(A).relative_error_, rel=1e-3)


def test_given_starts_may_not_be_zero():
    for model in (SymmetricFactorization(3), SymNMF(3), OffDiagonalSymNMF(3)):
        with pytest.raises(InputError, match="init is zero everywhere"):
            model.set_params(affinity="precomputed", init=np.zeros((60, 3))).fit(np.ones((60, 60)))


def test_samples_without_similarity_have_rows_of_zeros():
    A, _ = signed()
    A[:, 5] = A[5] = 0
    with pytest.warns(UserWarning, match="1 of 60 samples belong to no cluster"):
        model = fit(A, graph_regularization=0.1)
    assert not model.membership_[5].any()
    assert model.labels_[5] == -1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_documents_without_common_words_have_rows_of_zeros(dtype):
    words = np.kron(np.eye(2), np.ones((5, 4)))
    lonely = np.kron(np.eye(20), np.random.default_rng(0).uniform(size=(1, 3)))
    X = np.block([[words, np.zeros((10, 60))], [np.zeros((20, 8)), lonely]]).astype(dtype)
    with pytest.warns(UserWarning, match="20 of 30 samples belong to no cluster"):
        SymmetricFactorization(2, affinity="cosine", graph_regularization=0.1, random_state=0).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraint": "round"}, "constraint='round' is not known.*'free'"),
        ({"assign_labels": "guess"}, "assign_labels='guess'.*'argmax', 'kmeans'"),
        ({"step_rule": "bold"}, "step_rule='bold'.*'accelerated', 'adaptive', 'lanczos', 'search'"),
        ({"graph_regularization": -1}, "graph_regularization=-1"),
        ({"solver": "magic"}, "solver='magic'.*'columnwise'"),
        ({"solver": "columnwise", "coupling": "increasing"}, "coupling='increasing' is not possible"),
    ],
)
def test_options_that_do_not_exist(options, message):
    with pytest.raises(OptionError, match=message):
        fit(np.eye(5), **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"constraint": "unit", "solver": "columnwise"}, r"Columnwise needs.*Unit\(axis='rows'\)"),
        ({"constraint": "free", "solver": "row_descent"}, r"RowDescent needs.*nonnegative.*Free\(\)"),
        ({"solver": "columnwise", "step_rule": "search"}, "step_rule='search'.*'columnwise'"),
        ({"solver": "projected_gradient", "coupling": 2.0}, "coupling=2.0.*'projected_gradient'"),
    ],
)
def test_choices_that_do_not_go_together(options, message):
    with pytest.raises(CombinationError, match=message):
        fit(np.eye(5), **options)


def test_rounding_of_large_negative_entries_is_not_asymmetry():
    A = -1e6 * np.abs(signed()[0])
    np.fill_diagonal(A, 0)
    A[0, 1] *= 1 + 1e-15
    fit(A)
    A[0, 1] *= 1.5
    with pytest.raises(InputError, match="not symmetric"):
        fit(A)


def test_graphs_with_negative_weights_are_told_of_precomputed():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.0), ("b", "c", -1.0), ("c", "d", 2.0)])
    with pytest.raises(InputError, match=r"Negative values in data.*'b' and 'c'.*affinity='precomputed'"):
        SymmetricFactorization(2).fit(graph)
    assert sorted(fit(graph, n_clusters=2).communities()) == [["a", "b"], ["c", "d"]]


def test_cosines_of_signed_data():
    rng = np.random.default_rng(0)
    X = np.repeat([[1.0, 0, 0], [-1, 0.2, 0], [0, 0, 1]], 20, axis=0) + 0.1 * rng.normal(size=(60, 3))
    assert cosine(X).toarray().min() < 0
    model = SymmetricFactorization(3, affinity="cosine", graph_regularization=0.1, random_state=0).fit(X)
    assert adjusted_rand_score(np.arange(60) // 20, model.labels_) == 1
