"""What SymNMF reads."""

import warnings

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from symclust import NMF, SymNMF, registry
from symclust.exceptions import InputTypeError
from symclust.graphs import NearestNeighbors, RandomWalk
from symclust.operators import Dense, Gram, LowRank, Network, Sparse, as_operator
from symclust.validation import check_features, warn_of_edges

SPARSE = [
    getattr(sparse, f"{name}_{kind}")
    for name in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
]
COUNTS = np.random.RandomState(0).poisson([[4, 4, 0, 0]] * 20 + [[0, 0, 4, 4]] * 20)
BLOCKS = np.kron(np.eye(2), np.ones((4, 4)))


def model(n_clusters=2, **options):
    return SymNMF(n_clusters, random_state=0, **options)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "cosine"])
def test_every_form_of_features_gives_the_same(affinity):
    expected = model(affinity=affinity).fit(COUNTS.astype(float))
    assert adjusted_rand_score(np.repeat([0, 1], 20), expected.labels_) == 1
    for form in (
        COUNTS,
        COUNTS.astype(np.uint8),
        COUNTS.tolist(),
        np.asfortranarray(COUNTS),
        pd.DataFrame(COUNTS),
    ):
        np.testing.assert_array_equal(model(affinity=affinity).fit(form).membership_, expected.membership_)
    for form in SPARSE:
        found = model(affinity=affinity).fit(form(COUNTS))
        np.testing.assert_allclose(found.membership_, expected.membership_, atol=1e-8)


def test_bools():
    X = COUNTS > 0
    expected = model(affinity="cosine").fit(X.astype(float))
    np.testing.assert_array_equal(model(affinity="cosine").fit(X).membership_, expected.membership_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, *SPARSE])
def test_every_form_of_precomputed_similarities(form, dtype):
    if form in (sparse.dok_matrix, sparse.dok_array) and dtype is bool:
        dtype = np.int8
    fitted = model(affinity="precomputed").fit(form(BLOCKS.astype(dtype)))
    assert fitted.labels_.tolist() in ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)
    assert fitted.membership_.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert sparse.issparse(fitted.affinity_matrix_) == (form in SPARSE)
    np.testing.assert_array_equal(fitted.predict(form(BLOCKS.astype(dtype))), fitted.labels_)


def test_lists_and_frames_of_similarities():
    for form in (BLOCKS.tolist(), pd.DataFrame(BLOCKS)):
        np.testing.assert_array_equal(model(affinity="precomputed").fit(form).affinity_matrix_, BLOCKS)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.NotConvergedWarning")
@pytest.mark.parametrize("solver", registry.options("solvers"))
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
def test_single_precision_stays(solver, form, init):
    A = form((COUNTS @ COUNTS.T).astype(np.float32))
    fitted = model(affinity="precomputed", solver=solver, init=init, max_iter=20).fit(A)
    assert fitted.membership_.dtype == fitted.affinity_matrix_.dtype == np.float32


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "cosine", "gaussian", "self_tuning"])
def test_single_precision_stays_through_affinities(affinity):
    fitted = model(affinity=affinity).fit(COUNTS.astype(np.float32))
    assert fitted.membership_.dtype == fitted.affinity_matrix_.dtype == np.float32


def test_what_was_given_is_not_changed():
    for given in (BLOCKS + 0.5, sparse.coo_array(BLOCKS + 0.5)):
        copy = given.copy()
        model(affinity="precomputed").fit(given).predict(given)
        assert abs(copy - given).max() == 0


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
def test_operators_are_taken_as_they_are(blobs, affinity):
    X, y = blobs
    for operator in (Gram(X), as_operator(X @ X.T), LowRank(X, np.ones(3))):
        fitted = model(3, affinity=affinity).fit(operator)
        assert adjusted_rand_score(y, fitted.labels_) == 1
        assert fitted.n_features_in_ == 90
    assert model(3).fit(Gram(X)).affinity_matrix_.shape == (90, 90)


def test_functions_of_the_samples(blobs):
    X, y = blobs

    def near(X, width=1.0):
        return np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / width)

    for affinity, params in [(near, {"width": 50.0}), (lambda X: X @ X.T, None), (Gram, None)]:
        fitted = model(3, affinity=affinity, affinity_params=params).fit(X.tolist())
        assert adjusted_rand_score(y, fitted.labels_) == 1
    np.testing.assert_array_equal(model(3, affinity=near).fit(X).affinity_matrix_, near(X))


def named_graph():
    graph = nx.Graph()
    graph.add_nodes_from("dbace")  # the order of the nodes is not that of the edges
    graph.add_weighted_edges_from(
        [("a", "b", 5), ("b", "c", 5), ("a", "c", 5), ("c", "d", 0.1), ("d", "e", 9)]
    )
    return graph


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_graphs_keep_their_names_and_order(library, affinity):
    graph = named_graph() if library == "networkx" else igraph.Graph.from_networkx(named_graph())
    if library == "igraph":
        graph.vs["name"] = graph.vs["_nx_name"]
    fitted = model(affinity=affinity).fit(graph)
    assert fitted.node_names_ == list("dbace")
    assert sorted(map(sorted, fitted.communities())) == [["a", "b", "c"], ["d", "e"]]
    d, b, a, c, e = fitted.labels_
    assert a == b == c != d == e
    A = nx.to_numpy_array(named_graph())
    roots = np.sqrt(A.sum(axis=1)) if affinity == "nearest_neighbors" else np.ones(5)
    np.testing.assert_allclose(fitted.affinity_matrix_.toarray(), A / np.outer(roots, roots))


def test_communities_of_samples_are_numbered():
    communities = model(affinity="precomputed").fit(BLOCKS).communities()
    assert sorted(communities) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_igraph_without_names_is_numbered():
    fitted = model().fit(igraph.Graph.Full(3) + igraph.Graph.Full(3))
    assert sorted(fitted.communities()) == [[0, 1, 2], [3, 4, 5]]


def test_self_loops_count_once():
    graph = nx.Graph([(0, 0), (0, 1)])
    np.testing.assert_array_equal(
        model(1, affinity="precomputed").fit(graph).affinity_matrix_.toarray(), [[1, 1], [1, 0]]
    )


@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
@pytest.mark.parametrize("solver", registry.options("solvers"))
def test_isolated_nodes_have_zero_rows_and_a_word_is_said(solver, init):
    graph = nx.disjoint_union(nx.complete_graph(4), nx.complete_graph(5))
    graph.add_nodes_from(["lonely", "alone"])
    with pytest.warns(UserWarning, match=r"2 of 11 samples .* \(the first: lonely\).*label is -1"):
        fitted = model(solver=solver, init=init).fit(graph)
    assert not fitted.membership_[9:].any()
    assert fitted.labels_[9:].tolist() == [-1, -1]
    assert len(set(fitted.labels_[:4])) == len(set(fitted.labels_[4:9])) == 1
    assert fitted.labels_[0] != fitted.labels_[4]


def test_zero_rows_of_features():
    X = np.vstack([COUNTS, np.zeros((2, 4))])
    with pytest.warns(UserWarning, match=r"2 of 42 samples belong to no cluster \(the first: 40\)"):
        fitted = model(affinity="cosine").fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 20), fitted.labels_[:40]) == 1


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "cosine", "gaussian", "self_tuning"])
def test_duplicates(affinity):
    X = np.repeat([[9.0, 1.0], [1.0, 9.0]], 12, axis=0)
    fitted = model(affinity=affinity).fit(X)
    assert adjusted_rand_score(np.repeat([0, 1], 12), fitted.labels_) == 1


@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
def test_one_cluster_and_as_many_as_samples(init):
    for A in (BLOCKS, sparse.csr_array(BLOCKS)):
        assert not model(1, affinity="precomputed", init=init).fit(A).labels_.any()
        assert model(8, affinity="precomputed", init=init, tol=1e-3).fit(A).relative_error_ < 1e-2
    distinct = model(8, affinity="precomputed", init=init, tol=1e-6).fit(np.eye(8) + 0.01)
    assert sorted(distinct.labels_) == list(range(8))


def test_one_sample():
    assert model(1, affinity="precomputed").fit([[4.0]]).membership_ == pytest.approx(2)
    with pytest.warns(UserWarning, match="1 of 1 samples"):
        assert model(1).fit([[3.0, 4.0]]).labels_.tolist() == [-1]


@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
def test_more_components_than_clusters(init):
    graph = nx.disjoint_union_all([nx.complete_graph(n) for n in (12, 9, 3, 3)])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "[36] of 27 samples belong to no cluster")
        fitted = model(affinity="precomputed", init=init, tol=1e-6).fit(graph)
    assert fitted.converged_
    # The two largest explain most of A.
    assert len(set(fitted.labels_[:12])) == len(set(fitted.labels_[12:21])) == 1
    assert fitted.labels_[0] != fitted.labels_[12]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
def test_nothing_is_similar(form, init):
    with pytest.warns(UserWarning, match="5 of 5 samples belong to no cluster"):
        fitted = model(affinity="precomputed", init=init).fit(form(np.zeros((5, 5))))
    assert (fitted.objective_, fitted.relative_error_, fitted.converged_) == (0, 0, True)
    assert fitted.optimality().projected_gradient == 0


def test_a_graph_after_a_frame_forgets_its_columns(blobs):
    fitted = model(3).fit(pd.DataFrame(blobs[0], columns=list("abc")))
    fitted.set_params(n_clusters=2).fit(nx.karate_club_graph())
    assert fitted.n_features_in_ == 34
    assert not hasattr(fitted, "feature_names_in_")
    fitted.predict(np.ones((1, 34)))


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "cosine", "gaussian", "self_tuning"])
def test_samples_that_change_after_the_fit_change_no_prediction(affinity):
    X = np.random.default_rng(0).random((40, 4))
    new = X[:10] + 0.01
    fitted = model(affinity=affinity).fit(X)
    expected, kept = fitted.transform(new), X.copy()
    X[:] = np.arange(4)
    np.testing.assert_array_equal(fitted.transform(new), expected)
    np.testing.assert_array_equal(fitted.transform(kept), fitted.membership_)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "cosine", "precomputed"])
def test_a_similarity_is_checked_and_measured_once(affinity, monkeypatch):
    X = np.random.default_rng(0).random((40, 4))
    counts = {"_sum_of_squares": 0, "asymmetry": 0, "is_nonnegative": 0}

    def count(kind, name):
        compute = getattr(kind, name)

        def counted(self):
            counts[name] += 1
            return compute(self)

        monkeypatch.setattr(kind, name, counted)

    for name in counts:
        count({"nearest_neighbors": Sparse, "cosine": Gram, "precomputed": Dense}[affinity], name)
    model(affinity=affinity).fit(X @ X.T if affinity == "precomputed" else X)
    assert counts == {"_sum_of_squares": 1, "asymmetry": 1, "is_nonnegative": 1}


@pytest.mark.parametrize("rule", [NearestNeighbors, RandomWalk])
def test_a_graph_is_made_once_when_the_number_of_clusters_is_chosen(rule, monkeypatch):
    graph = nx.planted_partition_graph(3, 20, 0.4, 0.02, seed=0)
    X = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).random((60, 3)) / 3
    data = graph if rule is RandomWalk else X
    given = nx.to_numpy_array(graph) if rule is RandomWalk else X
    fit, made = rule.fit, []

    def counted(self, X, **options):
        made.append(np.array_equal(X.toarray() if sparse.issparse(X) else X, given))  # others are nulls
        return fit(self, X, **options)

    monkeypatch.setattr(rule, "fit", counted)
    chosen = SymNMF("auto", random_state=0).fit(data)
    assert sum(made) == 1
    assert "_already_read" not in vars(chosen)
    same = SymNMF(chosen.membership_.shape[1], random_state=0).fit(data)
    np.testing.assert_array_equal(chosen.membership_, same.membership_)


@pytest.mark.parametrize("kind", ["path", "ring from 1"])
def test_an_array_of_edges_is_clustered_with_a_warning(kind):
    edges = np.array([(i, (i + 1) % 30) for i in range(30)]) + (kind == "ring from 1")
    with pytest.warns(UserWarning, match=r"30 pairs of whole numbers from .* looks like a list of edges"):
        model(2).fit(edges)


@pytest.mark.parametrize(
    "points",
    [
        np.random.default_rng(0).integers(0, 20, (200, 2)),  # of a grid, with some on the diagonal
        np.random.default_rng(0).integers(0, 10**6, (200, 2)),
        np.random.default_rng(0).integers(0, 20, (200, 2)).astype(float),
        np.array([(i, (i + 1) % 30) for i in range(30)], dtype=float),
        np.random.default_rng(0).integers(0, 20, (200, 3)),
    ],
    ids=["grid", "far apart", "floats", "edges as floats", "three features"],
)
def test_points_are_no_edges(points):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_edges(points)


@pytest.mark.parametrize(
    "graph",
    [nx.cycle_graph(5), Network(sparse.csr_array(BLOCKS)), Sparse(sparse.eye_array(3))],
    ids=["networkx", "Network", "operator"],
)
def test_models_of_data_say_which_estimators_take_graphs(graph):
    with pytest.raises(InputTypeError, match=r"NMF and its relatives factor a data matrix.*SymNMF.*GraphNMF"):
        NMF(2).fit(graph)


def test_features_are_checked_once(monkeypatch):
    checked = []

    def counted(X, **options):
        checked.append(X)
        return check_features(X, **options)

    monkeypatch.setattr("symclust.inputs.features.check_features", counted)
    monkeypatch.setattr("symclust.graphs.affinities.check_features", counted)
    model().fit(np.random.default_rng(0).random((40, 4)))
    assert len(checked) == 1
