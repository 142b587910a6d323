"""partial_fit: samples that join a fitted factorization."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score as nmi
from threadpoolctl import threadpool_limits

import symclust
from symclust import OffDiagonalSymNMF, SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import CombinationError, DegenerateWarning, InputError, InputTypeError
from symclust.graphs import AttributedGraph
from symclust.operators import Gram, Sparse
from symclust.starts import _base as starts

CLASSES = [SymNMF, OffDiagonalSymNMF]
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
every_form = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])


@pytest.fixture(scope="module")
def partition():
    A, y = planted_partition(400, 4, degree=30, mixing=0.2, random_state=0)
    return A, y


def make(cls=SymNMF, n_clusters=4, **options):
    return cls(n_clusters, **{"affinity": "precomputed", "random_state": 0, "tol": 1e-4} | options)


def stream(model, A, sizes):
    """Fit the first nodes of A and let the others join in batches."""
    n = A.shape[0] - sum(sizes)
    model.fit(A[:n][:, :n])
    for m in sizes:
        model.partial_fit(A[n : n + m][:, : n + m])
        n += m
    return model


def projected_gradient(A, H, off_diagonal):
    """‖∇ᴾf(H)‖ by the formulas, from dense arrays."""
    A = A.toarray() if sparse.issparse(A) else A
    R = H @ H.T - A
    if off_diagonal:
        np.fill_diagonal(R, 0)
    gradient = 4 * R @ H
    return np.linalg.norm(np.where(H > 0, gradient, np.minimum(gradient, 0)))


# Close to a fit of all ------


@every_form
@every_class
def test_a_fifth_in_five_batches_ends_where_a_fit_of_all_does(cls, form, partition):
    A, y = form(partition[0].toarray()), partition[1]
    model, whole = stream(make(cls), A, [16] * 5), make(cls).fit(A)
    assert model.objective_ == pytest.approx(whole.objective_, rel=1e-3)
    assert nmi(y, model.labels_) > 0.95
    assert nmi(whole.labels_, model.labels_) > 0.98
    error = A - model.membership_ @ model.membership_.T
    if cls is OffDiagonalSymNMF:
        np.fill_diagonal(error, 0)
    assert model.objective_ == pytest.approx(np.sum(np.square(error)), rel=1e-9)


@every_form
@every_class
def test_stationary_by_the_same_test_as_a_fit(cls, form, partition):
    A = form(partition[0].toarray())
    model = stream(make(cls), A, [40, 40])
    assert model.converged_
    reference = make(cls).fit(A[:320][:, :320]).reference_
    assert model.reference_ == reference
    norm = projected_gradient(A, model.membership_, cls is OffDiagonalSymNMF)
    assert norm <= model.tol * reference * (1 + 1e-6)
    assert model.optimality().relative_projected_gradient == pytest.approx(norm / reference, rel=1e-5)
    assert model.history_.stationarity[-1] <= model.tol


def test_digits_that_join_are_clustered_as_if_they_had_been_there():
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:900]
    X, y = X[order], y[order]
    whole = SymNMF(10, random_state=0).fit(X)
    model = SymNMF(10, random_state=0).fit(X[:720])
    before = model.labels_
    for batch in np.array_split(X[720:], 5):
        model.partial_fit(batch)
    assert nmi(before, model.labels_[:720]) > 0.92
    assert np.mean(before == model.labels_[:720]) > 0.95  # clusters keep their numbers
    assert nmi(y, model.labels_) > nmi(y, whole.labels_) - 0.03
    # Edges that only old samples would choose, or would no longer choose, make up the difference.
    other = (whole.affinity_matrix_ > 0).astype(int) - (model.affinity_matrix_ > 0).astype(int)
    assert 0 < abs(other).sum() < 0.3 * whole.affinity_matrix_.nnz


@pytest.mark.parametrize("affinity", ["network", "random_walk", "normalized_cut"])
def test_nodes_join_a_network(affinity, partition):
    A, y = partition
    params = {"of": "precomputed"} if affinity != "network" else None
    model = make(affinity=affinity, affinity_params=params, tol=1e-2)
    stream(model, A, [30, 50])
    assert nmi(y, model.labels_) > 0.9
    assert model.membership_.shape == (400, 4)
    assert sparse.issparse(model.affinity_matrix_)
    np.testing.assert_array_equal(model.predict(A), model.labels_)
    if affinity == "normalized_cut":
        expected = symclust.graphs.normalized_cut(A)
        assert abs(model.affinity_matrix_ - expected).max() < 1e-12


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_both_losses(loss):
    A = np.kron(np.eye(3), np.ones((6, 6)))
    order = np.random.default_rng(0).permutation(18)
    model = stream(make(OffDiagonalSymNMF, 3, loss=loss), A[order][:, order], [3, 2])
    assert len(set(zip(model.labels_, order // 6, strict=True))) == 3


def test_a_factor_held_sparse_stays_so(partition, monkeypatch):
    monkeypatch.setattr(starts, "MANY_ENTRIES", 1)
    monkeypatch.setattr(starts, "MANY_COLUMNS", 1)
    model = stream(make(tol=1e-3), partition[0], [30, 50])
    assert sparse.issparse(model.membership_)
    assert model.membership_.shape == (400, 4)
    assert nmi(partition[1], model.labels_) > 0.9
    dense = make(tol=1e-3).fit(partition[0])
    assert model.objective_ == pytest.approx(dense.objective_, rel=1e-2)


# What can be given ------


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(3, 30),
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=3),
    k=st.integers(1, 3),
    dtype=st.sampled_from([np.float32, np.float64]),
    forms=st.tuples(*[st.sampled_from([np.asarray, sparse.csr_array])] * 2),
    cls=st.sampled_from(CLASSES),
)
def test_any_shapes_and_forms(seed, n, sizes, k, dtype, forms, cls):
    rng = np.random.default_rng(seed)
    N = n + sum(sizes)
    A = (rng.random((N, N)) * (rng.random((N, N)) < 0.7)).astype(dtype)
    A += A.T
    A[:2, :2] = 1  # never empty
    model = make(cls, k, tol=1e-2, max_iter=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(forms[0](A[:n, :n]))
        for m in sizes:
            model.partial_fit(forms[1](A[n : n + m, : n + m]))
            n += m
    assert model.membership_.shape == (N, k)
    assert model.membership_.dtype == dtype
    assert model.labels_.shape == (N,)
    assert model.n_features_in_ == N
    H, found = np.asarray(model.membership_), model.affinity_matrix_
    assert sparse.issparse(found) == (forms[0] is sparse.csr_array)
    assert (H >= 0).all()
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, A)
    np.testing.assert_array_equal(model.predict(forms[0](A)), model.labels_)
    assert len(model.history_) == model.n_iter_ + 1
    assert model.objective_ == pytest.approx(model.optimality().objective, rel=1e-3, abs=1e-3)


@every_form
def test_without_columns_for_each_other_new_samples_have_none(form, partition):
    A = partition[0].toarray()
    block = np.zeros((20, 20))
    short, long = (make().fit(form(A[:380, :380])) for _ in range(2))
    short.partial_fit(form(A[380:, :380]))
    long.partial_fit(form(np.hstack([A[380:, :380], block])))
    np.testing.assert_array_equal(short.membership_, long.membership_)
    assert short.affinity_matrix_.shape == (400, 400)


@every_class
def test_the_first_call_is_a_fit(cls, blobs):
    X = blobs[0]
    model, fitted = cls(3, random_state=0).partial_fit(X), cls(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.membership_, fitted.membership_)
    assert cls(3).partial_fit(X[:30]) is not None


def test_a_chosen_number_of_clusters_stays(blobs):
    X, _ = blobs
    model = SymNMF("auto", random_state=0).partial_fit(X[::2])
    k = model.membership_.shape[1]
    model.partial_fit(X[1::2])
    assert model.membership_.shape == (90, k)
    assert model.selection_.n_clusters == k


def test_single_precision_stays_single(blobs):
    X = blobs[0]
    model = SymNMF(3, random_state=0).fit(X[::2].astype(np.float32)).partial_fit(X[1::2])
    assert model.membership_.dtype == model.affinity_matrix_.dtype == np.float32


def test_samples_that_joined_are_training_samples(blobs):
    X, y = blobs
    model = SymNMF(3, random_state=0).fit(X[::2]).partial_fit(X[1::2])
    both = np.vstack([X[::2], X[1::2]])
    np.testing.assert_array_equal(model.transform(both), model.membership_)
    np.testing.assert_array_equal(model.predict(both), model.labels_)
    assert nmi(np.concatenate([y[::2], y[1::2]]), model.labels_) == pytest.approx(1)
    assert -1 <= model.score(both) <= 1
    assert model.n_features_in_ == 3


# Names ------


def test_names_of_tables_and_graphs_go_on():
    graph = nx.Graph(["ab", "ac", "bc", "de", "df", "ef"])
    model = make(n_clusters=2).fit(graph)
    edges = pd.DataFrame([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], index=["x", "y"], columns=list("abcdef"))
    model.partial_fit(edges)
    assert model.node_names_ == [*"abcdef", "x", "y"]
    assert sorted(map(sorted, model.communities())) == [["a", "b", "c", "x"], ["d", "e", "f", "y"]]
    assert model.to_dataframe().index.tolist() == model.node_names_
    model.partial_fit(np.array([[1, 1, 1, 0, 0, 0, 1, 0]]))
    assert model.node_names_[-1] == 8


def test_a_table_of_similarities_keeps_its_columns():
    names = list("abcdef")
    A = pd.DataFrame(np.kron(np.eye(2), np.ones((3, 3))), index=names, columns=names)
    model = make(n_clusters=2).fit(A.iloc[:5, :5])
    model.partial_fit(A.iloc[5:])
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(A), model.labels_)
    with pytest.raises(InputError, match="Column 0 of the table is 'b', where the model has 'a'"):
        model.partial_fit(pd.DataFrame(np.ones((1, 6)), index=["z"], columns=list("bacdef")))


def test_names_that_are_taken_are_refused():
    model = make(n_clusters=2).fit(nx.karate_club_graph())
    row = np.ones((1, 34))
    assert model.partial_fit(row).node_names_[-1] == 34
    with pytest.raises(InputError, match="names that are taken, such as 34"):
        model.partial_fit(pd.DataFrame(np.ones((1, 35)), index=pd.Index([34], name="node")))
    named = make(n_clusters=2).fit(nx.relabel_nodes(nx.path_graph(5), lambda node: node + 1))
    with pytest.raises(InputError, match=r"such as 5\. Name the new samples"):
        named.partial_fit(np.ones((1, 5)))


# What is kept ------


@pytest.mark.parametrize("affinity", ["auto", "random_walk", "precomputed"])
def test_saved_and_loaded_models_go_on(affinity, blobs, partition, tmp_path):
    X = blobs[0] if affinity != "precomputed" else partition[0][:90, :90]
    model = SymNMF(3, affinity=affinity, random_state=0).fit(
        X[:60][:, : 60 if affinity == "precomputed" else 3]
    )
    batches = [X[60:75], X[75:]] if affinity != "precomputed" else [X[60:75, :75], X[75:]]
    model.partial_fit(batches[0])
    model.save(tmp_path / "model.zip")
    loaded = symclust.load(tmp_path / "model.zip")
    for one in (model, loaded):
        one.partial_fit(batches[1])
    np.testing.assert_array_equal(loaded.membership_, model.membership_)
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.optimality() == model.optimality()


def test_one_reading_of_a_where_that_is_enough(partition, monkeypatch):
    A = partition[0]
    model = make(tol=0.5).fit(A[:399, :399])
    product, calls = Sparse._product, []
    monkeypatch.setattr(Sparse, "_product", lambda self, H: calls.append(H.shape) or product(self, H))
    model.partial_fit(A[399:])
    assert model.stop_reason_ == "stationary from the start"
    assert [shape for shape in calls if shape[1] == 4] == [(400, 4)]


def test_the_same_bits_on_one_and_two_threads(partition):
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            model = stream(make(tol=1e-2), partition[0].astype(np.float32), [30, 50])
            found.append(model.membership_.tobytes())
    assert found[0] == found[1]


def test_limits_hold_for_a_call(partition):
    A = partition[0]
    seen = []
    model = make(tol=0, max_iter=2, callback=lambda progress: seen.append(progress.iteration))
    with pytest.warns(symclust.exceptions.NotConvergedWarning, match="max_iter=2"):
        model.fit(A[:380, :380])
    seen.clear()
    with pytest.warns(symclust.exceptions.NotConvergedWarning, match="max_iter=2"):
        model.partial_fit(A[380:])
    assert seen == [1, 2]
    assert model.n_iter_ == 2
    assert not model.converged_


# What is refused ------


def state_of(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.ones((2, 5)), "X has 5 features, but SymNMF is expecting 20 features as input.*or 22, with"),
        (np.ones((2, 21)), "X has 21 features"),
        (np.full((2, 20), np.nan), "NaN|missing"),
        (-np.ones((2, 20)), "Negative values in data"),
        (np.hstack([np.ones((2, 20)), [[0, 1], [2, 0]]]), "new samples to each other is not symmetric"),
        (np.full((2, 20), "a"), "."),
        (np.ones((2, 20)) * 1j, "[Cc]omplex"),
        (np.full((2, 20), 1e160), "."),
    ],
)
def test_rows_that_cannot_join_leave_the_model_as_it_was(rows, message):
    model = make(n_clusters=2).fit(np.kron(np.eye(2), np.ones((10, 10))))
    before = state_of(model)
    with pytest.raises((ValueError, TypeError), match=message):
        model.partial_fit(rows)
    assert state_of(model) == before
    assert model.partial_fit(np.ones((2, 20))).membership_.shape == (22, 2)


def test_a_call_that_fails_on_its_way_leaves_the_model_as_it_was(blobs):
    X = blobs[0]
    model = SymNMF(3, random_state=0).fit(X[::2])
    expected, before = model.predict(X[1::2]), state_of(model)

    def fail(progress):
        raise RuntimeError("no more")

    model.set_params(callback=fail, tol=1e-9)
    with pytest.raises(RuntimeError, match="no more"):
        model.partial_fit(X[1::2])
    model.set_params(callback=None, tol=1e-2)
    assert state_of(model) == before | {"callback": id(None), "tol": id(model.tol)}
    np.testing.assert_array_equal(model.predict(X[1::2]), expected)


def test_other_features_are_refused(blobs):
    X = blobs[0]
    model = SymNMF(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but SymNMF is expecting 3 features"):
        model.partial_fit(X[:, :2])
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model.fit(table)
    with pytest.raises(ValueError, match="The table lacks 'a'"):
        model.partial_fit(table[["b", "c"]])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((6, 2)), {"affinity": lambda X: X @ X.T}, "affinity is a function"),
        (Gram(np.ones((6, 2))), {}, "is not held as one"),
        (AttributedGraph(nx.path_graph(6), np.eye(6)), {"affinity": "auto"}, "AttributedGraph"),
    ],
)
def test_similarities_that_cannot_grow_are_refused(X, options, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make(n_clusters=2, **options).fit(X)
    with pytest.raises(CombinationError, match=message):
        model.partial_fit(np.ones((1, 2)))


def test_graphs_cannot_join():
    model = make(n_clusters=2).fit(nx.karate_club_graph())
    with pytest.raises(InputTypeError, match="cannot be read from a Graph"):
        model.partial_fit(nx.path_graph(3))


def test_parameters_that_speak_of_the_first_samples_are_refused():
    A = np.kron(np.eye(2), np.ones((5, 5)))
    masked = make(OffDiagonalSymNMF, 2, ignore=np.eye(10)).fit(A)
    with pytest.raises(CombinationError, match="ignore names pairs"):
        masked.partial_fit(np.ones((1, 10)))
    model = make(n_clusters=2).fit(A).set_params(n_clusters=3)
    with pytest.raises(CombinationError, match="n_clusters=3, but the model has 2"):
        model.partial_fit(np.ones((1, 10)))


# Strangers ------


@every_class
def test_a_cluster_that_is_missing_is_told(cls):
    A, y = planted_partition(300, 3, degree=30, mixing=0.1, random_state=0)
    known, strange = np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:20]
    order = np.concatenate([known[:-20], known[-20:], strange])
    A, n = A[order][:, order], len(known) - 20
    model = make(cls, 2, tol=1e-2).fit(A[:n, :n])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(A[n : n + 20, : n + 20])
    with pytest.warns(DegenerateWarning, match="20 of the 20 new samples fit none of the 2 clusters"):
        model.partial_fit(A[n + 20 :])


def test_nodes_with_similarities_to_each_other_alone_belong_nowhere():
    A = np.kron(np.eye(3), np.ones((6, 6)))
    model = make(n_clusters=2).fit(A[:12, :12])
    with pytest.warns(DegenerateWarning):
        model.partial_fit(A[12:])
    assert (model.labels_[12:] == -1).all()
