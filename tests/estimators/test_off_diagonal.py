"""OffDiagonalSymNMF: what it finds, what it reads, what it leaves out, what it says."""

import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.base import clone

from symclust import OffDiagonalSymNMF, SymNMF
from symclust.datasets import noisy_cliques
from symclust.exceptions import CombinationError, InputError, OptionError
from symclust.metrics import factor_accuracy
from symclust.operators import Gram, as_operator

LOSSES = ("squared", "absolute")
EXAMPLE = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]])  # example 1: two cliques that share their middle node
N, K = 30, 3


def model(n_clusters=K, **options):
    return OffDiagonalSymNMF(n_clusters, affinity="precomputed", **options)


def features(seed=0, n=N):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.eye(K), n // K, axis=0)
    return groups @ rng.uniform(size=(K, 8)) ** 2 + 0.2 * rng.uniform(size=(n, 8))


def random_mask(density=0.15, seed=1, n=N):
    mask = np.triu(np.random.default_rng(seed).uniform(size=(n, n)) < density, 1)
    return mask | mask.T


def value(A, H, loss, mask=None):
    E = np.array(A - H @ H.T)
    np.fill_diagonal(E, 0)
    if mask is not None:
        E[mask] = 0
    return np.sum(E**2) if loss == "squared" else np.abs(E).sum()


def projected_differences(A, H, mask=None):
    gradient, step = np.empty_like(H), 1e-5
    for place in np.ndindex(H.shape):
        E = np.zeros_like(H)
        E[place] = step
        rise = value(A, H + E, "squared", mask) - value(A, H - E, "squared", mask)
        gradient[place] = rise / (2 * step)
    return np.linalg.norm(np.where(H > 0, gradient, np.minimum(gradient, 0)))


# What it finds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda A: as_operator(A * 1.0)])
def test_example_1_is_recovered_exactly(form):
    fitted = model(2, loss="absolute").fit(form(EXAMPLE))
    assert_array_equal(fitted.membership_, [[1, 0], [1, 1], [0, 1]])
    assert fitted.objective_ == fitted.relative_error_ == 0
    assert fitted.converged_
    squared = model(2, tol=1e-8).fit(form(EXAMPLE))
    assert squared.objective_ == pytest.approx(0, abs=1e-10)
    assert SymNMF(2, affinity="precomputed", random_state=0).fit(EXAMPLE).objective_ > (np.sqrt(2) - 1) ** 2


@pytest.mark.parametrize("solver", ["auto", "row_descent", "coordinate", "projected_gradient"])
@pytest.mark.parametrize("ignore", [None, random_mask()])
def test_the_squared_loss_ends_stationary(solver, ignore):
    A = features() @ features().T
    start = np.random.default_rng(0).uniform(size=(N, K))
    fitted = model(solver=solver, init=start, tol=1e-5, max_iter=5000, ignore=ignore).fit(A)
    assert fitted.converged_
    assert projected_differences(A, fitted.membership_, ignore) <= 1.1e-5 * projected_differences(
        A, start, ignore
    )
    assert fitted.objective_ == pytest.approx(value(A, fitted.membership_, "squared", ignore), rel=1e-6)
    assert np.all(np.diff(fitted.history_.objective) <= 1e-10 * fitted.history_.objective[0])
    assert fitted.optimality().relative_projected_gradient <= 1e-5


@pytest.mark.parametrize("ignore", [None, random_mask()])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_no_entry_improves_the_absolute_loss(form, ignore):
    A = features() @ features().T
    fitted = model(loss="absolute", tol=1e-9, ignore=ignore).fit(form(A))
    H, last = fitted.membership_, fitted.objective_
    assert last == pytest.approx(value(A, H, "absolute", ignore), rel=1e-10)
    for place in np.ndindex(H.shape):
        trial = H.copy()
        for x in np.append(np.linspace(0, 1.5 * H.max(), 40), H[place] + np.array([-1e-4, 1e-4])):
            trial[place] = max(x, 0)
            assert value(A, trial, "absolute", ignore) >= last - 1e-7 * last
    optimality = fitted.optimality()
    assert optimality.objective == pytest.approx(last)
    assert optimality.relative_possible_decrease <= 1e-9
    assert optimality.primal_infeasibility == 0


def test_the_relative_errors_are_relative_to_nothing():
    A = features() @ features().T
    for loss, power in (("squared", 0.5), ("absolute", 1)):
        fitted = model(loss=loss).fit(A)
        expected = (fitted.objective_ / value(A, np.zeros((N, 1)), loss)) ** power
        assert fitted.relative_error_ == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_diagonal_does_not_matter(loss):
    A = features() @ features().T
    one, other = (model(loss=loss).fit(B) for B in (A, A + np.diag(np.arange(N))))
    assert_allclose(one.membership_, other.membership_, rtol=1e-6, atol=1e-9)


# What it reads ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("init", ["greedy", "zero", "random", "spectral", "merge"])
def test_every_form_gives_the_same(loss, init):
    # For a few iterations: medians jump, so that rounding grows from sweep to sweep.
    X = features()
    A = X @ X.T
    graph = nx.from_numpy_array(A)
    options = {"loss": loss, "init": init, "random_state": 0, "solver": "coordinate", "max_iter": 5}
    expected = model(**options).fit(A)
    for form in (A.tolist(), sparse.csr_array(A), sparse.coo_array(A), graph, Gram(X), as_operator(A)):
        fitted = model(**options).fit(form)
        assert_allclose(fitted.membership_, expected.membership_, rtol=1e-5, atol=1e-6)
        assert fitted.objective_ == pytest.approx(expected.objective_, rel=1e-6)
        assert_array_equal(fitted.labels_, expected.labels_)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("init", ["greedy", "zero", "random", "merge"])
def test_single_precision_stays(loss, form, init):
    X = features().astype(np.float32)
    ignore = random_mask()
    fitted = model(loss=loss, init=init, ignore=ignore, random_state=0).fit(form(X @ X.T))
    assert fitted.membership_.dtype == fitted.impute().dtype == np.float32
    # From here "merge" goes where three rows that ignore each other grow long, too long for this precision.
    assert fitted.converged_ or init == "merge"
    A, H = (X @ X.T).astype(float), fitted.membership_.astype(float)
    assert fitted.objective_ == pytest.approx(value(A, H, loss, ignore), abs=1e-5 * value(A, 0 * H, loss))


@pytest.mark.parametrize("loss", LOSSES)
def test_samples_become_similarities_and_new_ones_are_placed(blobs, loss):
    X, y = blobs
    fitted = OffDiagonalSymNMF(3, loss=loss, affinity="gaussian", affinity_params={"sigma": 5.0}).fit(X)
    assert len(set(zip(fitted.labels_, y, strict=True))) == 3
    assert_array_equal(fitted.predict(X), fitted.labels_)
    assert_array_equal(fitted.predict(X + 1e-3), fitted.labels_)


# Repeatability ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_random_states_repeat_and_starts_compete(loss):
    A = features() @ features().T + 0.3 * (random_mask(0.5, 3))
    one, again, other = (model(5, loss=loss, init="random", random_state=s).fit(A) for s in (0, 0, 1))
    assert_array_equal(one.membership_, again.membership_)
    assert np.any(one.membership_ != other.membership_)
    several = model(5, loss=loss, init="random", n_init=4, random_state=0).fit(A)
    assert several.inits_.shape == (4,)
    assert len(np.unique(several.inits_)) > 1
    assert several.objective_ == several.inits_.min()
    assert several.objective_ == pytest.approx(value(A, several.membership_, loss), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("init", ["greedy", "zero", "spectral", np.ones((N, K))])
def test_starts_that_are_always_the_same_run_once(loss, init):
    A = features() @ features().T
    with pytest.warns(RuntimeWarning, match="one start is run instead of n_init=3"):
        fitted = model(loss=loss, init=init, n_init=3).fit(A)
    assert fitted.inits_.shape == (1,)
    assert_array_equal(fitted.membership_, model(loss=loss, init=init).fit(A).membership_)


@pytest.mark.parametrize("init", ["greedy", "zero"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_starts_serve_the_full_objective_too(init, form):
    A = np.kron(np.eye(3), np.ones((5, 5)))
    fitted = SymNMF(3, affinity="precomputed", init=init).fit(form(A))
    assert fitted.objective_ == pytest.approx(0, abs=1e-10)
    hollow = SymNMF(3, affinity="precomputed", init=init).fit(form(A - np.eye(15)))
    assert len(np.unique(hollow.labels_)) == 3
    with pytest.warns(RuntimeWarning, match="one start"):
        SymNMF(3, affinity="precomputed", init=init, n_init=2).fit(form(A))


@pytest.mark.parametrize("loss", LOSSES)
def test_pickles_and_clones(loss):
    A, ignore = features() @ features().T, sparse.csr_array(random_mask())
    fitted = model(loss=loss, ignore=ignore, random_state=0).fit(A)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.membership_, fitted.membership_)
    assert copy.optimality() == fitted.optimality()
    assert_array_equal(copy.impute().toarray(), fitted.impute().toarray())
    twin = clone(fitted)
    assert not hasattr(twin, "labels_")
    assert_array_equal(twin.fit(A).membership_, fitted.membership_)


# Ignored pairs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_every_form_of_mask_gives_the_same(loss, form):
    A, mask = form(features() @ features().T), random_mask()
    expected = model(loss=loss, ignore=mask).fit(A)
    with_diagonal = mask | np.eye(N, dtype=bool)
    for ignore in (
        mask.astype(int), mask.astype(np.float32), mask.tolist(), 3.5 * mask, with_diagonal,
        sparse.csr_array(mask), sparse.coo_array(mask), sparse.csc_matrix(with_diagonal),
        sparse.lil_array(mask),
    ):  # fmt: skip
        fitted = model(loss=loss, ignore=ignore).fit(A)
        assert_array_equal(fitted.membership_, expected.membership_)
        assert_array_equal(fitted.ignored_.toarray(), mask)
    zeros = sparse.csr_array(np.ones((N, N)))
    zeros.data[:] = mask.reshape(-1)  # entries that are stored but zero ignore nothing
    assert_array_equal(model(loss=loss, ignore=zeros).fit(A).membership_, expected.membership_)
    nothing, none = (model(loss=loss, ignore=i).fit(A) for i in (sparse.csr_array((N, N)), None))
    assert_array_equal(nothing.membership_, none.membership_)
    assert nothing.objective_ != expected.objective_


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, as_operator])
@pytest.mark.parametrize("solver", ["auto", "coordinate"])
def test_what_stands_at_ignored_pairs_does_not_matter(loss, form, solver):
    A, mask = features() @ features().T, random_mask()
    expected = model(loss=loss, ignore=mask, solver=solver).fit(form(A))
    rng = np.random.default_rng(0)
    for junk in (0.0, 1e3, -5.0, rng.normal(size=(N, N))):  # the last is not even symmetric
        fitted = model(loss=loss, ignore=mask, solver=solver).fit(form(np.where(mask, junk, A)))
        assert_allclose(fitted.membership_, expected.membership_, rtol=1e-9, atol=1e-12)


def test_the_pairs_that_count_are_still_checked():
    A, mask = features() @ features().T, random_mask()
    A[mask] = -1.0
    i, j = np.argwhere(~mask & ~np.eye(N, dtype=bool))[0]
    for row, column, words in ((i, j, "not symmetric"), (i, i, "negative")):
        B = A.copy()
        B[row, column] = -2.0
        with pytest.raises(InputError, match=words):
            model(ignore=mask).fit(B)


@pytest.mark.filterwarnings(
    "ignore::symclust.exceptions.NotConvergedWarning"
)  # from where there is no way on
def test_the_result_is_that_of_a_plain_minimisation():
    A, mask = features() @ features().T, random_mask()
    start = np.random.default_rng(0).uniform(0.3, 0.6, size=(N, K))
    counts = ~mask & ~np.eye(N, dtype=bool)

    def plain(x):
        H = x.reshape(N, K)
        E = np.where(counts, H @ H.T - A, 0)
        return np.sum(E**2), 4 * (E @ H).reshape(-1)

    bounds = [(0, None)] * start.size
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-9}
    found = optimize.minimize(
        plain, start.reshape(-1), jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )
    fitted = model(init=found.x.reshape(N, K), ignore=mask, tol=1e-10, max_iter=3).fit(A)
    assert_allclose(fitted.membership_, found.x.reshape(N, K), atol=1e-4)
    best = model(init=start, ignore=mask, tol=1e-7, max_iter=10000).fit(A)
    assert best.objective_ == pytest.approx(found.fun, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, "gram"])
def test_held_out_pairs_of_a_low_rank_similarity_are_predicted(loss, form):
    rng = np.random.default_rng(5)
    truth = np.repeat(np.diag([0.8, 1.0, 1.3]), 12, axis=0)
    if loss == "squared":  # single entries of the absolute loss get stuck at kinks where heights vary
        truth += 0.3 * rng.uniform(size=(36, 3)) * (rng.uniform(size=(36, 3)) < 0.3)
    A, mask = truth @ truth.T, random_mask(0.1, n=36)
    given = Gram(truth) if form == "gram" else form(np.where(mask, 0, A))
    fitted = model(loss=loss, ignore=mask, tol=1e-9, max_iter=5000).fit(given)
    imputed = fitted.impute()
    assert isinstance(imputed, sparse.csr_array)
    pattern = mask | np.eye(36, dtype=bool)
    assert_array_equal(imputed.astype(bool).toarray() & ~pattern, False)
    assert imputed.nnz == pattern.sum()
    H = fitted.membership_
    assert_allclose(imputed.toarray(), np.where(pattern, H @ H.T, 0), atol=1e-12)
    assert_allclose(imputed.toarray()[mask], A[mask], atol=1e-3)


def test_imputing_without_ignored_pairs_gives_the_diagonal():
    fitted = model().fit(features() @ features().T)
    expected = np.diag(np.sum(fitted.membership_**2, axis=1))
    assert_allclose(fitted.impute().toarray(), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("ignore", "words"),
    [
        (np.zeros((N, N - 1)), rf"shape \({N}, {N - 1}\).*symmetric mask of shape \({N}, {N}\)"),
        (sparse.csr_array((4, 4)), rf"shape \(4, 4\), but there are {N} samples"),
        (np.eye(N, k=1), r"only one of the pairs \(0, 1\) and \(1, 0\).*28 others.*mask \+ mask.T"),
        (sparse.csr_array(np.eye(N, k=-2)), "not symmetric"),
        (np.ones(N), "two dimensions.*ndarray with 1 dimensions"),
        ("diagonal", "sparse or dense mask.*got str with 0 dimensions"),
        (np.full((N, N), "x"), "dtype <U1"),
        (nx.complete_graph(N), "sparse or dense mask.*Graph"),
    ],
)  # fmt: skip
def test_masks_that_are_refused(ignore, words):
    with pytest.raises(InputError, match=words):
        model(ignore=ignore).fit(features() @ features().T)


# Zeros and ones ---------------------------------------------------------------------------------------------


def binary(n, seed, flips=0.1):
    groups = np.arange(n) * 3 // n
    A = np.triu((groups[:, None] == groups) ^ (np.random.default_rng(seed).uniform(size=(n, n)) < flips))
    return (A | A.T).astype(float)


@settings(max_examples=25)
@given(
    n=st.integers(2, 15), seed=st.integers(0, 2**16), is_sparse=st.booleans(), loss=st.sampled_from(LOSSES)
)
def test_one_binary_column_is_never_worse(n, seed, is_sparse, loss):
    A = binary(n, seed, 0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(1, loss=loss, max_iter=5).fit(sparse.csr_array(A) if is_sparse else A)
    h = fitted.binarize()
    assert h.shape == (n, 1)
    assert h.dtype.kind == "i"
    assert set(np.unique(h)) <= {0, 1}
    if fitted.membership_.max() <= 1:  # what lemma 2 asks for
        assert value(A, h, "absolute") <= value(A, fitted.membership_, "absolute") + 1e-10


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_cliques_with_errors_become_zeros_and_ones(loss, form):
    truth = np.repeat(np.eye(3), 10, axis=0)
    fitted = model(3, loss=loss).fit(form(binary(30, 0, 0.05)))
    before = fitted.membership_.copy()
    H = fitted.binarize()
    assert_array_equal(fitted.membership_, before)
    order = [int(truth[:, l] @ H @ np.arange(3)) // 10 for l in range(3)]
    assert_array_equal(H[:, order], truth)


def test_binarizing_leaves_ignored_pairs_out():
    A, mask = binary(30, 0, 0.05), random_mask(0.1, n=30)
    A[mask] = 0.5  # not binary, and not looked at
    H = model(3, loss="absolute", ignore=mask).fit(A).binarize()
    best = value(A, H, "absolute", mask)
    for place in np.ndindex(H.shape):
        flipped = H.copy()
        flipped[place] = 1 - flipped[place]
        assert best <= value(A, flipped, "absolute", mask)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, as_operator])
def test_other_similarities_cannot_be_binarized(form):
    A = binary(12, 0)
    A[2, 5] = A[5, 2] = 0.25
    with pytest.raises(InputError, match=r"zeros and ones, but this one holds 0\.25.*communities"):
        model(2).fit(form(A)).binarize()
    A[2, 5] = A[5, 2] = 1
    np.fill_diagonal(A, 7)  # the diagonal may hold anything
    assert model(2).fit(form(A)).binarize().shape == (12, 2)


# What it says -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["row_descent", "projected_gradient", "anls", "newton", "multiplicative"])
def test_solvers_that_need_a_gradient_are_refused_by_name(solver):
    with pytest.raises(
        CombinationError, match=r"Absolute does not offer.*Solvers that work with it: 'coordinate'\."
    ):
        model(loss="absolute", solver=solver).fit(features() @ features().T)


@pytest.mark.parametrize("solver", ["anls", "hals", "newton", "projected_newton"])
def test_solvers_of_the_full_objective_are_refused_by_name(solver):
    with pytest.raises(CombinationError, match=r"OffDiagonal does not offer.*'coordinate'.*'row_descent'"):
        model(solver=solver).fit(features() @ features().T)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"loss": "l1"}, "loss='l1' is not known. Choose one of 'squared', 'absolute'"),
        ({"loss": None}, "loss=None is not known"),
        ({"solver": "magic"}, "solver='magic' is not known"),
        ({"init": "nothing"}, "init='nothing' is not known.*'greedy'.*'zero'"),
        ({"tol": -1}, "tol=-1"),
        ({"n_init": 0}, "n_init=0"),
    ],
)
def test_options_that_do_not_exist(options, words):
    with pytest.raises(OptionError, match=words):
        model(**options).fit(features() @ features().T)


@pytest.mark.parametrize("init", ["random", "merge"])
def test_random_starts_of_the_absolute_loss_are_led_by_the_squared_one(init):
    A, H = noisy_cliques([10] * 5, noise=0.1, random_state=3)
    led = OffDiagonalSymNMF(5, loss="absolute", init=init, affinity="precomputed", random_state=0).fit(A)
    assert factor_accuracy(H, led.membership_) > 0.85
    assert led.reference_ > 0
    assert led.optimality().relative_possible_decrease <= led.tol
    numbers = np.random.RandomState(0).uniform(size=H.shape) * np.sqrt(A.mean())
    alone = OffDiagonalSymNMF(5, loss="absolute", init=numbers, affinity="precomputed").fit(A)
    assert led.objective_ < 0.9 * alone.objective_


@pytest.mark.parametrize("init", ["greedy", "merge", "nndsvd", "random", "spectral", "zero"])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_similarity_of_zeros_is_explained_by_nothing(form, loss, init):
    model = OffDiagonalSymNMF(2, loss=loss, init=init, affinity="precomputed", random_state=0)
    with pytest.warns(UserWarning, match="6 of 6 samples belong to no cluster"):
        model.fit(form(np.zeros((6, 6))))
    assert (model.objective_, model.relative_error_, model.converged_) == (0, 0, True)
    assert not model.membership_.any()


@pytest.mark.filterwarnings("ignore:.*belong to no cluster")
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("cls", [OffDiagonalSymNMF, SymNMF])
def test_a_nearly_exact_fit_in_single_precision_has_an_objective(cls, form):
    rng = np.random.default_rng(0)
    H = 1000 * rng.uniform(size=(300, 3)) * (rng.uniform(size=(300, 3)) < 0.5)
    A = (H @ H.T).astype(np.float32)
    model = cls(3, affinity="precomputed", init="random", tol=1e-6, random_state=0).fit(form(A))
    E = A.astype(float) - model.membership_.astype(float) @ model.membership_.T.astype(float)
    if cls is OffDiagonalSymNMF:
        np.fill_diagonal(E, 0)
    assert model.membership_.dtype == np.float32
    assert model.objective_ == pytest.approx(np.square(E).sum(), rel=0.05)
    assert model.history_.objective[-1] == model.inits_[0] == model.objective_
    assert model.optimality().objective == pytest.approx(model.objective_, rel=1e-9)
    assert model.relative_error_ < 1e-5
