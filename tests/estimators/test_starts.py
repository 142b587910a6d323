"""Starts: how many, from where, and which is kept."""

import numpy as np
import pytest
from scipy import sparse

from symclust import SymNMF
from symclust.datasets import planted_partition

FORMS = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
A = np.random.RandomState(0).random_sample((40, 40))
A = np.kron(np.eye(4), np.full((10, 10), 2.0)) + A + A.T


def model(random_state=0, **options):
    return SymNMF(4, affinity="precomputed", random_state=random_state, **options)


@FORMS
@pytest.mark.parametrize("init", ["random", "merge"])
@pytest.mark.parametrize("solver", ["row_descent", "anls", "projected_gradient"])
def test_side_by_side_is_the_best_of_one_after_the_other(form, init, solver):
    together = model(np.random.RandomState(0), init=init, n_init=4, solver=solver).fit(form(A))
    stream = np.random.RandomState(0)
    alone = [model(stream, init=init, solver=solver).fit(form(A)) for _ in range(4)]
    np.testing.assert_allclose(together.inits_, [m.objective_ for m in alone], rtol=1e-6)
    assert together.objective_ == together.inits_.min()
    best = alone[int(together.inits_.argmin())]
    np.testing.assert_allclose(together.membership_, best.membership_, atol=1e-5)
    assert together.n_iter_ == best.n_iter_


@FORMS
@pytest.mark.parametrize("seed", range(4))
def test_more_starts_are_never_worse(form, seed):
    objectives = [model(seed, init="random", n_init=n).fit(form(A)).objective_ for n in (1, 3, 6)]
    assert objectives[0] * (1 + 1e-9) >= objectives[1]
    assert objectives[1] * (1 + 1e-9) >= objectives[2]


def test_all_objectives_are_kept():
    fitted = model(init="random", n_init=5).fit(A)
    assert fitted.inits_.shape == (5,)
    assert len(set(fitted.inits_)) > 1
    H = fitted.membership_
    assert fitted.objective_ == pytest.approx(np.square(A - H @ H.T).sum())


def test_a_given_start_is_used_and_not_changed():
    H = np.random.RandomState(3).random_sample((40, 4))
    copy = H.copy()
    first, again = (model(seed, init=H).fit(A) for seed in (0, 1))
    np.testing.assert_array_equal(H, copy)
    np.testing.assert_array_equal(first.membership_, again.membership_)
    assert first.history_.objective[0] == pytest.approx(np.square(A - H @ H.T).sum())
    np.testing.assert_array_equal(model(init=H.tolist()).fit(A).membership_, first.membership_)


def test_whole_numbers_can_be_a_start():
    assert model(init=np.tile(np.eye(4, dtype=int), (10, 1))).fit(A).membership_.dtype == np.float64


@pytest.mark.parametrize("init", ["spectral", np.ones((40, 4))])
def test_one_start_is_enough_where_all_are_the_same(init):
    with pytest.warns(RuntimeWarning, match="one start is run instead of n_init=3"):
        fitted = model(init=init, n_init=3).fit(A)
    assert fitted.inits_.shape == (1,)


def test_spectral_does_not_depend_on_the_random_state():
    memberships = [model(seed, init="spectral").fit(A).membership_ for seed in (0, 1)]
    np.testing.assert_array_equal(*memberships)


@FORMS
def test_the_path_of_merges(form):
    path = model(init="merge").fit(form(A)).merge_path_
    assert path.dtype.names == ("n_clusters", "gain", "first_size", "second_size")
    assert path.n_clusters.tolist() == [7, 6, 5, 4]
    assert (path.first_size + path.second_size <= 40).all()
    assert np.isfinite(path.gain).all()


@FORMS
def test_auto_takes_the_tree_of_a_sparse_graph_and_merges_otherwise(form):
    init = "tree" if form is sparse.csr_array else "merge"
    chosen, named = (model(init=init).fit(form(A)) for init in ("auto", init))
    np.testing.assert_array_equal(chosen.membership_, named.membership_)


@pytest.mark.parametrize("init", ["random", "spectral", np.ones((40, 4))])
def test_other_starts_have_no_path(init):
    assert model(init=init).fit(A).merge_path_ is None


def test_merging_finds_planted_clusters_in_one_start():
    graph, labels = planted_partition(300, 6, random_state=0)
    fitted = SymNMF(6, affinity="precomputed", random_state=0).fit(graph)
    assert len(set(zip(labels, fitted.labels_, strict=True))) == 6


@pytest.mark.parametrize("seed", [7, np.int64(7)])
def test_the_same_seed_gives_the_same_bits(seed):
    for init in ("merge", "random"):
        given, stream = (model(s, init=init).fit(A).membership_ for s in (seed, np.random.RandomState(7)))
        np.testing.assert_array_equal(given, stream)
    assert (model(8, init="random").fit(A).membership_ != model(seed, init="random").fit(A).membership_).any()
