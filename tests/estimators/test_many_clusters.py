"""Many clusters: a tree as the start, and a factor that is held by its nonzeros.

What decides the form of H are two sizes; here they are lowered, so that small problems have sparse factors.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from symclust import HierarchicalSymNMF, OffDiagonalSymNMF, SymmetricFactorization, SymNMF, _threads
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, NotConvergedWarning, OptionError
from symclust.graphs import nearest_neighbors, normalized_cut
from symclust.hierarchy import CutGrowth
from symclust.operators import Gram, as_operator
from symclust.report import write_report
from symclust.solvers import Control, row_descent
from symclust.solvers._loop import _Run
from symclust.solvers.row_descent import RowDescent
from symclust.starts import _base as starts
from symclust.starts import tree as trees
from symclust.starts.tree import tree_of_communities

BOTH = pytest.mark.parametrize("estimator", [SymNMF, OffDiagonalSymNMF])


@pytest.fixture
def sparse_factors(monkeypatch):
    monkeypatch.setattr(starts, "MANY_ENTRIES", 1)
    monkeypatch.setattr(starts, "MANY_COLUMNS", 1)


def graph(n_clusters=6, size=20, seed=0):
    W, labels = planted_partition(size * n_clusters, n_clusters, size / 2, 0.1, random_state=seed)
    return normalized_cut(W), labels


def model(estimator=SymNMF, n_clusters=6, init="tree", **options):
    return estimator(n_clusters, affinity="precomputed", init=init, **{"random_state": 0, **options})


def misfit(A, H, diagonal=True):
    E = A.toarray() - H @ H.T
    return np.sum(E**2) - (0 if diagonal else np.sum(np.diag(E) ** 2))


# The tree as a start ----------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("form", [sparse.csr_array, lambda A: A.toarray()])
def test_planted_clusters_are_found_from_the_leaves(estimator, form):
    A, labels = graph()
    fitted = model(estimator).fit(form(A))
    assert isinstance(fitted.membership_, np.ndarray)
    assert len(set(zip(fitted.labels_, labels, strict=True))) == 6
    assert fitted.merge_path_ is None
    assert fitted.converged_


def test_starts_repeat_with_the_seed_and_differ_within_a_fit():
    A, _ = graph(12, 8)
    one, again = (model(n_clusters=5, n_init=3).fit(A) for _ in range(2))
    np.testing.assert_array_equal(one.membership_, again.membership_)
    assert len(set(one.inits_)) > 1


@pytest.mark.parametrize("n_clusters", [1, 7, 30])
@pytest.mark.parametrize("form", ["edges", "none", "pieces"])
def test_a_graph_that_gives_too_few_leaves_is_split_anyway(form, n_clusters):
    A = {
        "edges": lambda: graph(3, 10)[0],
        "none": lambda: sparse.csr_array((30, 30)),
        "pieces": lambda: sparse.csr_array(sparse.block_diag([np.ones((3, 3))] * 10)),
    }[form]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model(n_clusters=n_clusters).fit(A)
    assert fitted.membership_.shape == (30, n_clusters)
    assert np.isfinite(fitted.objective_)


def test_an_operator_without_edges_is_refused_by_name():
    X = np.random.default_rng(0).uniform(size=(20, 5))
    with pytest.raises(CombinationError, match="has none at hand"):
        SymNMF(3, init="tree").fit(Gram(X))


def test_signs_have_no_tree():
    with pytest.raises(OptionError, match="init='tree'"):
        SymmetricFactorization(3, init="tree", affinity="precomputed").fit(np.eye(5))


def test_the_absolute_loss_starts_from_leaves_too():
    labels = np.repeat(np.arange(3), 8)
    A = (labels[:, None] == labels).astype(float)
    fitted = model(OffDiagonalSymNMF, n_clusters=3, loss="absolute").fit(A)
    assert len(set(zip(fitted.labels_, labels, strict=True))) == 3
    assert fitted.history_.objective[-1] < fitted.history_.objective[0]


def test_a_time_limit_cuts_the_tree_short():
    A, _ = graph(30, 20)
    with pytest.warns(NotConvergedWarning, match="time_limit"):
        model(n_clusters=30, time_limit=1e-9).fit(A)
    over = Control(time_limit=1.0, clock=time.perf_counter() - 2)
    labels, interrupted = tree_of_communities(as_operator(A), over, 30, 0)
    np.testing.assert_array_equal(np.unique(labels), np.arange(30))
    assert not interrupted


@pytest.fixture(scope="module")
def neighbors():
    X, y = make_blobs(2400, 5, centers=4, random_state=0)
    return as_operator(nearest_neighbors(X)), y


def leaves(A, n_leaves, seed=0):
    return tree_of_communities(A, Control(0.01, 10), n_leaves, seed).labels


def cut_graphs(monkeypatch):
    """Return a list that takes the number of nodes of every graph a tree is grown on."""
    sizes, grow = [], CutGrowth.grow
    monkeypatch.setattr(CutGrowth, "grow", lambda self, *rest: sizes.append(self.root.n) or grow(self, *rest))
    return sizes


def test_the_tree_of_a_large_graph_is_grown_on_joined_samples(neighbors, monkeypatch):
    A, y = neighbors
    monkeypatch.setattr(trees, "LARGE", 0)
    sizes = cut_graphs(monkeypatch)
    labels = leaves(A, 4)
    assert sizes[0] <= 1200  # 300 for each leaf
    assert len(sizes) == 1
    assert normalized_mutual_info_score(y, labels) > 0.95
    leaves(A, 9)  # 2,700 would do
    assert sizes[1:] == [A.n]


def test_leaves_that_joined_samples_do_not_give_are_cut_from_the_graph_itself(neighbors, monkeypatch):
    A, _ = neighbors
    monkeypatch.setattr(trees, "LARGE", 0)
    monkeypatch.setattr(trees, "LEAF_NODES", 1)
    monkeypatch.setattr(trees, "JOINED", 100)
    sizes = cut_graphs(monkeypatch)
    labels = leaves(A, 60)
    assert sizes[0] < 60 < sizes[1] == A.n
    np.testing.assert_array_equal(np.unique(labels), np.arange(60))
    assert np.bincount(labels).min() >= A.n // 600


def test_leaves_of_joined_samples_are_the_same_on_any_number_of_threads(neighbors, monkeypatch):
    A, _ = neighbors
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(sys.modules[CutGrowth.__module__], "available_threads", lambda n=threads: n)
        monkeypatch.setattr(_threads, "available_threads", lambda n=threads: n)
        found.append(leaves(A, 8))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


# A factor held by its nonzeros ------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("init", ["tree", "merge"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_reported_is_true(sparse_factors, estimator, init, dtype):
    A, labels = graph()
    fitted = model(estimator, init=init, tol=1e-4).fit(A.astype(dtype))
    H = fitted.membership_
    assert isinstance(H, sparse.csr_array)
    assert H.dtype == dtype
    assert H.data.min() > 0
    dense = H.toarray().astype(float)
    expected = misfit(A.astype(dtype).astype(float), dense, diagonal=estimator is SymNMF)
    assert fitted.objective_ == pytest.approx(expected, rel=1e-9)
    assert fitted.relative_error_ == pytest.approx(np.sqrt(expected) / np.linalg.norm(A.data), rel=1e-6)
    assert (np.diff(fitted.history_.objective) <= 1e-9).all()
    np.testing.assert_array_equal(fitted.labels_, dense.argmax(axis=1))
    assert len(set(zip(fitted.labels_, labels, strict=True))) == 6
    assert (fitted.merge_path_ is None) == (init == "tree")
    assert fitted.get_feature_names_out().shape == (6,)


@BOTH
def test_optimality_is_that_of_the_dense_factor(sparse_factors, estimator, monkeypatch):
    A, _ = graph()
    fitted = model(estimator, max_iter=2).fit(A)
    found = fitted.optimality()
    fitted.membership_ = fitted.membership_.toarray()
    expected = fitted.optimality()
    for name, value in vars(expected).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-7, abs=1e-10), name


@BOTH
def test_the_descent_goes_where_that_on_a_dense_array_goes(estimator, monkeypatch):
    A, _ = graph()
    rng = np.random.default_rng(0)
    start = sparse.csr_array(rng.uniform(0.1, 0.3, size=(120, 6)) * (rng.uniform(size=(120, 6)) < 0.4))
    dense = model(estimator, init=start, max_iter=5, tol=0).fit(A)
    monkeypatch.setattr(starts, "MANY_ENTRIES", 1)
    monkeypatch.setattr(starts, "MANY_COLUMNS", 1)
    monkeypatch.setattr(row_descent, "UNOPENED", 0.0)  # no entry of zero is left out
    held = model(estimator, init=start, max_iter=5, tol=0).fit(A)
    assert isinstance(dense.membership_, np.ndarray)
    np.testing.assert_allclose(held.membership_.toarray(), dense.membership_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(held.history_.objective, dense.history_.objective, rtol=1e-9)
    np.testing.assert_allclose(held.history_.stationarity, dense.history_.stationarity, rtol=1e-2)


@BOTH
def test_entries_that_are_left_out_at_first_come_in_time(sparse_factors, estimator, monkeypatch):
    """The descent ends at a stationary point of the whole problem, from fewer nonzeros on the way."""
    A, _ = graph(10, 20)
    monkeypatch.setattr(_Run, "has_settled", lambda self: False)
    fitted = model(estimator, n_clusters=10, tol=1e-5, max_iter=3000).fit(A)
    assert fitted.converged_
    assert fitted.optimality().relative_projected_gradient <= 1e-5
    few = model(estimator, n_clusters=10, tol=0, max_iter=1).fit(A).membership_.nnz
    monkeypatch.setattr(row_descent, "UNOPENED", 0.0)
    assert few < model(estimator, n_clusters=10, tol=0, max_iter=1).fit(A).membership_.nnz


def test_sparsity_counts(sparse_factors):
    A, _ = graph()
    plain, penalised = (model(sparsity=beta).fit(A) for beta in (0.0, 0.02))
    H = penalised.membership_.toarray()
    expected = misfit(A, H) + 2 * 0.02 * np.sum(H.sum(axis=1) ** 2)
    assert penalised.objective_ == pytest.approx(expected)
    assert penalised.membership_.nnz < plain.membership_.nnz


def test_a_given_sparse_start_is_not_changed(sparse_factors):
    A, labels = graph()
    start = sparse.csr_array((np.full(120, 0.2), labels, np.arange(121)), shape=(120, 6))
    copy = start.copy()
    fitted = clone(model(init=start)).fit(A)
    assert isinstance(fitted.membership_, sparse.csr_array)
    assert (start != copy).nnz == 0
    assert isinstance(model(init=start.toarray()).fit(A).membership_, np.ndarray)


@pytest.mark.parametrize("bad", ["shape", "negative", "nan", "zero"])
def test_sparse_starts_that_cannot_be_are_refused(bad):
    start = sparse.csr_array(np.eye(120, 6))
    if bad == "shape":
        start = start[:5]
    elif bad == "zero":
        start = sparse.csr_array((120, 6))
    else:
        start.data[0] = {"negative": -1.0, "nan": np.nan}[bad]
    with pytest.raises(ValueError, match="init"):
        model(init=start).fit(graph()[0])


def test_unseen_samples_are_placed_as_by_a_dense_factor(sparse_factors):
    A, _ = graph()
    fitted = model().fit(A)
    new = sparse.random_array((15, 120), density=0.1, rng=np.random.default_rng(0), format="csr")
    new = sparse.csr_array(sparse.vstack([new, sparse.csr_array((1, 120)), A[[3]]]))
    placed, labels, score = fitted.transform(new), fitted.predict(new), fitted.score(new)
    assert isinstance(placed, sparse.csr_array)
    np.testing.assert_array_equal(placed[[16]].toarray(), fitted.membership_[[3]].toarray())
    assert placed[[15]].nnz == 0
    np.testing.assert_array_equal(fitted.predict(A), fitted.labels_)
    dense = model().fit(A)
    dense.membership_ = dense.membership_.toarray()
    dense._made["placer"] = dense._make_placer(dense._training)
    np.testing.assert_allclose(placed.toarray()[:15], dense.transform(new)[:15], rtol=1e-7, atol=1e-10)
    np.testing.assert_array_equal(labels[:15], dense.predict(new)[:15])
    assert score == pytest.approx(dense.score(new))


@pytest.mark.parametrize("threshold", [None, 0.1, 1.0])
def test_communities_are_those_of_the_dense_factor(sparse_factors, threshold):
    A, _ = graph()
    fitted = model().fit(A)
    found, again = fitted.communities(threshold), fitted.communities(threshold)
    assert found == again
    fitted.membership_ = fitted.membership_.toarray()
    assert found == fitted.communities(threshold)
    assert sum(map(len, found)) >= 100


def test_nodes_without_edges_belong_nowhere(sparse_factors):
    A, _ = graph()
    A = sparse.csr_array(sparse.block_diag([A, sparse.csr_array((2, 2))]))
    with pytest.warns(UserWarning, match="2 of 122 samples belong to no cluster"):
        fitted = model().fit(A)
    assert np.diff(fitted.membership_.indptr)[-2:].tolist() == [0, 0]


def test_off_diagonal_extras(sparse_factors):
    labels = np.repeat(np.arange(3), 8)
    A = sparse.csr_array((labels[:, None] == labels).astype(float))
    fitted = model(OffDiagonalSymNMF, n_clusters=3, tol=1e-6).fit(A)
    assert isinstance(fitted.membership_, sparse.csr_array)
    np.testing.assert_allclose(fitted.impute().diagonal(), 1, rtol=1e-3)
    np.testing.assert_array_equal(fitted.binarize().sum(axis=0), 8)


def test_a_report_can_be_written(sparse_factors, tmp_path):
    pytest.importorskip("jinja2")
    fitted = model().fit(graph()[0])
    write_report(tmp_path / "page.html", fitted, names=[f"node {i}" for i in range(120)])
    assert "Most typical" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_few_iterations_are_enough_from_leaves(sparse_factors):
    A, _ = graph(10, 30)
    fitted = model(n_clusters=10, tol=1e-2).fit(A)
    assert fitted.converged_
    drops = -np.diff(fitted.history_.objective)
    stationary = fitted.history_.stationarity[-1] <= fitted.tol
    assert stationary or drops[-1] < fitted.tol * drops.sum()


def test_an_interrupt_leaves_the_last_whole_iteration(sparse_factors, monkeypatch):
    A, _ = graph()
    plain, calls = RowDescent.advance, []

    def advance(self, problem, states):
        calls.append(1)
        plain(self, problem, states)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(RowDescent, "advance", advance)
    with pytest.warns(UserWarning, match="interrupted"):
        fitted = model(tol=0).fit(A)
    assert fitted.objective_ == pytest.approx(misfit(A, fitted.membership_.toarray()))


def test_the_number_of_threads_changes_no_bit(sparse_factors):
    A, _ = graph(90, 100)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(model(n_clusters=90, max_iter=3, tol=0).fit(A))
    one, two = (fitted.membership_ for fitted in found)
    assert one.shape[0] > 8192  # several lanes
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    assert found[0].objective_ == found[1].objective_


def test_small_problems_keep_dense_factors():
    assert isinstance(model().fit(graph()[0]).membership_, np.ndarray)


def test_flat_forms_of_large_trees_are_sparse(sparse_factors):
    W, _ = planted_partition(120, 6, 10, 0.1, random_state=0)
    flat = HierarchicalSymNMF(6, affinity="precomputed", random_state=0).fit(W).flatten()
    assert isinstance(flat.membership_, sparse.csr_array)
    assert flat.components_.shape == (6, 120)


def test_sparse_memberships_become_sparse_columns_of_a_frame(sparse_factors):
    A, _ = graph()
    fitted = model().set_output(transform="pandas")
    frame = fitted.fit_transform(A)
    assert sparse.issparse(fitted.membership_) and list(frame.columns) == list(fitted.get_feature_names_out())
    assert all(isinstance(kind, pd.SparseDtype) for kind in frame.dtypes)
    np.testing.assert_array_equal(frame, fitted.membership_.toarray())
    new = pd.DataFrame(A[:3].toarray(), index=["a", "b", "c"])
    assert list(fitted.transform(new).index) == ["a", "b", "c"]
    with pytest.raises(CombinationError, match="120 × 6, are sparse, which polars has no table for"):
        model().set_output(transform="polars").fit_transform(A)
