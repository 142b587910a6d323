"""Names of samples: of DataFrames, AnnData, graphs, tables of edges and tables of similarities."""

from functools import partial

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import symclust
from symclust import (
    NMF,
    HierarchicalNMF,
    HierarchicalSymNMF,
    KernelKMeans,
    SphericalKMeans,
    SymmetricFactorization,
    SymNMF,
    select_n_clusters,
)
from symclust.exceptions import CombinationError, DegenerateWarning, InputError
from symclust.operators import Dense, Network, as_operator

ESTIMATORS = [
    partial(symclust.DivisiveClustering, KernelKMeans())
    if name == "DivisiveClustering"
    else getattr(symclust, name)
    for name in symclust.__all__
    if isinstance(getattr(symclust, name), type) and hasattr(getattr(symclust, name), "fit")
]
NAMES = [f"sample {number}" for number in range(90)]
SOFT = [SymNMF, NMF, SymmetricFactorization, symclust.LeftStochastic, symclust.GraphNMF]


@pytest.fixture
def table(blobs):
    return pd.DataFrame(blobs[0], index=NAMES, columns=["x", "y", "z"])


def edges_of(graph):
    return nx.to_pandas_edgelist(graph)


@pytest.mark.parametrize("model", ESTIMATORS)
def test_the_index_names_the_samples_of_every_estimator(model, table):
    fitted = model(n_clusters=3).fit(table)
    assert fitted.node_names_ == NAMES
    assert sorted(name for members in fitted.communities() for name in members) == sorted(NAMES)
    found = fitted.to_dataframe()
    assert found.index.tolist() == NAMES
    assert found.columns.tolist() == ["label", "confidence", "cluster_0", "cluster_1", "cluster_2"]
    np.testing.assert_array_equal(found.label, fitted.labels_)
    np.testing.assert_array_equal(found.iloc[:, 2:].to_numpy(), fitted.membership_)
    np.testing.assert_array_equal(
        model(n_clusters=3).fit(table.to_numpy()).labels_.shape, fitted.labels_.shape
    )


@pytest.mark.parametrize("model", ESTIMATORS)
def test_rows_that_are_only_counted_have_no_names(model, blobs):
    fitted = model(n_clusters=3).fit(pd.DataFrame(blobs[0]))
    assert fitted.node_names_ is None
    assert fitted.to_dataframe().index.equals(pd.RangeIndex(90))


@pytest.mark.parametrize("model", ESTIMATORS)
def test_confidence_is_the_share_of_walks_or_of_the_largest_membership(model, table):
    fitted = model(n_clusters=3).fit(table)
    found = fitted.to_dataframe().confidence
    if sp.issparse(vars(fitted).get("affinity_matrix_")):
        assert found.median() > 0.9  # three clear groups, of which Diana misplaces five samples
        assert found.between(0, 0.97 + 1e-9).all()
    elif model not in SOFT and found.isna().all():
        assert set(np.unique(fitted.membership_)) <= {0, 1}
    else:
        H = np.maximum(fitted.membership_, 0)
        np.testing.assert_allclose(found, [max(row) / sum(row) for row in H], rtol=1e-6)
        assert (found >= 1 / 3 - 1e-6).all()


@pytest.mark.parametrize("model", SOFT)
def test_soft_methods_have_a_confidence(model, table):
    assert model(n_clusters=3).fit(table).to_dataframe().confidence.between(0, 1).all()


def test_a_sample_in_no_cluster_has_no_confidence():
    X = pd.DataFrame([[1.0, 0], [2, 0], [0, 3], [0, 0]], index=list("abcd"))
    with pytest.warns(DegenerateWarning, match="the first: d"):
        found = NMF(2).fit(X).to_dataframe()
    assert found.label["d"] == -1
    assert np.isnan(found.confidence["d"])


def test_a_sparse_factor_makes_a_sparse_table(monkeypatch):
    model = SymNMF(2, affinity="precomputed", random_state=0).fit(
        pd.DataFrame(np.eye(3), list("abc"), list("abc"))
    )
    dense = model.to_dataframe()
    model.membership_ = sp.csr_array(model.membership_)
    sparse = model.to_dataframe()
    assert all(isinstance(kind, pd.SparseDtype) for kind in sparse.dtypes.iloc[2:])
    np.testing.assert_array_equal(sparse.to_numpy(), dense.to_numpy())


def test_chosen_numbers_and_flat_trees_keep_names(table):
    assert SymNMF("auto", random_state=0).fit(table).node_names_ == NAMES
    assert HierarchicalSymNMF(3).fit(table).flatten().to_dataframe().index.tolist() == NAMES


def test_new_samples_do_not_need_names(table):
    model = SymNMF(3, random_state=0).fit(table)
    np.testing.assert_array_equal(model.predict(table.reset_index(drop=True)), model.labels_)
    with pytest.raises(InputError, match=r"X has 2 features, but SymNMF is expecting 3 features as input[.]"):
        model.predict(table.to_numpy()[:, :2])


# Tables of edges --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SymNMF, HierarchicalSymNMF, KernelKMeans, SymmetricFactorization])
@pytest.mark.parametrize("columns", [["source", "target"], ["Source", "TARGET"], ["from", "to"]])
def test_a_table_of_edges_is_the_graph_of_its_edges(model, columns):
    graph = nx.relabel_nodes(nx.ring_of_cliques(3, 5), lambda node: f"n{node}")
    edges = edges_of(graph).set_axis(columns, axis=1)
    ours, theirs = (
        model(3, random_state=0).fit(X) for X in (edges, nx.from_edgelist(edges.to_numpy().tolist()))
    )
    assert ours.node_names_ == theirs.node_names_
    assert ours.communities() == theirs.communities()
    assert ours.affinity_ == theirs.affinity_


def test_weights_of_a_table_of_edges_by_name():
    edges = pd.DataFrame({"source": list("abc"), "target": list("bca"), "Weight": [1, 2, 3], "n": [4, 5, 6]})
    A = SymNMF(2, affinity="precomputed").fit(edges).affinity_matrix_.toarray()
    assert A.tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    A = (
        SymNMF(2, affinity="precomputed", affinity_params={"weight": "n"})
        .fit(edges)
        .affinity_matrix_.toarray()
    )
    assert A.tolist() == [[0, 4, 6], [4, 0, 5], [6, 5, 0]]
    A = (
        SymNMF(2, affinity="precomputed", affinity_params={"weight": None})
        .fit(edges)
        .affinity_matrix_.toarray()
    )
    assert A.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"weight": "n"}), "no column 'weight'; besides its ends it has 'n'"),
        (lambda t: t.assign(weight=["1", "x", "2"]), "row 2 of column 'weight' holds 'x'"),
        (lambda t: t.assign(target=["b", None, "a"]), "row 2 of the table has no 'target'"),
        (lambda t: t.assign(weight=[1, np.nan, 2]), "between 'b' and 'c' is nan"),
        (lambda t: pd.concat([t, t]), "between 'a' and 'b' is listed 2 times \\(row 1 and row 4"),
    ],
)
def test_tables_of_edges_that_cannot_be_read(change, message):
    edges = pd.DataFrame({"source": list("abc"), "target": list("bca"), "weight": [1, 2, 3]})
    with pytest.raises(InputError, match=message):
        SymNMF(2).fit(change(edges))


def test_loops_of_a_table_of_edges_are_dropped_with_a_warning():
    edges = pd.DataFrame({"source": list("abca"), "target": list("bcaa")})
    with pytest.warns(UserWarning, match="Dropped 1 self-loop"):
        A = SymNMF(2, affinity="precomputed").fit(edges).affinity_matrix_
    assert A.diagonal().tolist() == [0, 0, 0]


def test_the_number_of_clusters_of_a_table_of_edges():
    graph = nx.relabel_nodes(nx.ring_of_cliques(4, 12), str)
    answer = select_n_clusters(edges_of(graph), candidates=range(2, 7), random_state=0)
    assert answer.n_clusters == select_n_clusters(graph, candidates=range(2, 7), random_state=0).n_clusters


# Tables of similarities -------------------------------------------------------------------------------------


def similarities(diagonal):
    A = np.kron(np.eye(2), np.ones((6, 6))) + 0.01 * (diagonal > 0)
    np.fill_diagonal(A, diagonal)
    names = list("abcdefghijkl")
    return pd.DataFrame(A, index=names, columns=names)


@pytest.mark.parametrize("model", [SymNMF, HierarchicalSymNMF, KernelKMeans, SymmetricFactorization])
def test_a_table_of_similarities_is_taken_as_it_is(model):
    table = similarities(1.0)
    fitted = model(2, random_state=0).fit(table)
    assert sorted(fitted.communities()) == [list("abcdef"), list("ghijkl")]
    np.testing.assert_array_equal(fitted.affinity_matrix_, table.to_numpy())
    assert "precomputed" in fitted.affinity_
    np.testing.assert_array_equal(fitted.predict(table), fitted.labels_)


def test_an_adjacency_table_is_a_network():
    table = similarities(0.0)
    ours, theirs = (
        SymNMF(2, random_state=0).fit(table),
        SymNMF(2, random_state=0).fit(nx.from_pandas_adjacency(table)),
    )
    assert ours.affinity_ == theirs.affinity_
    assert ours.communities() == theirs.communities()


def test_distances_are_asked_about():
    table = similarities(0.0) + 0.5
    np.fill_diagonal(table.values, 0)
    with pytest.raises(InputError, match="distances"):
        SymNMF(2).fit(table)


def test_an_asymmetric_table_is_refused_by_name():
    table = similarities(1.0)
    table.loc["a", "b"] = 5
    with pytest.raises(InputError, match=r"not symmetric.*'a' and 'b'"):
        SymNMF(2).fit(table)


# Operators and networks -------------------------------------------------------------------------------------


def test_operators_keep_their_names():
    A = as_operator(similarities(1.0))
    assert isinstance(A, Dense)
    assert A.names == list("abcdefghijkl")
    assert sorted(SymNMF(2, random_state=0).fit(A).communities()) == [list("abcdef"), list("ghijkl")]


def test_a_network_is_treated_as_a_graph():
    graph = nx.relabel_nodes(nx.ring_of_cliques(3, 5), lambda node: f"n{node}")
    network = Network(nx.to_scipy_sparse_array(graph), list(graph))
    for affinity in ("auto", "network", "precomputed", "random_walk", "nearest_neighbors"):
        ours, theirs = (SymNMF(3, affinity=affinity, random_state=0).fit(X) for X in (network, graph))
        np.testing.assert_array_equal(ours.labels_, theirs.labels_)
        assert (ours.affinity_, ours.node_names_) == (theirs.affinity_, theirs.node_names_)
    with pytest.raises(CombinationError, match="a Network has one weight"):
        SymNMF(3, affinity_params={"weight": "n"}).fit(network)
    with pytest.raises(InputError, match="names has 2 entries, but the network has 15 nodes"):
        Network(network.csr, ["a", "b"])
    assert SymNMF(3).fit(Network(network.csr)).node_names_ == list(range(15))


# AnnData ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("model", [SymNMF, NMF, HierarchicalNMF, SphericalKMeans])
def test_an_anndata_is_its_matrix_with_names(model, form, table):
    adata = anndata.AnnData(form(table.to_numpy()))
    adata.obs_names, adata.var_names = table.index, table.columns
    ours, theirs = model(3, random_state=0).fit(adata), model(3, random_state=0).fit(table)
    assert ours.node_names_ == NAMES
    assert ours.feature_names_in_.tolist() == ["x", "y", "z"]
    assert sorted(map(sorted, ours.communities())) == sorted(map(sorted, theirs.communities()))
    np.testing.assert_array_equal(ours.predict(adata), theirs.predict(table))
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(adata[:, ::-1])


def test_an_anndata_without_names_of_its_own(blobs):
    assert SymNMF(3).fit(anndata.AnnData(blobs[0])).node_names_ is None


def test_a_sparse_anndata_stays_sparse(table):
    model = HierarchicalNMF(3).fit(anndata.AnnData(sp.csr_matrix(table.to_numpy())))
    assert sp.issparse(model._X)


def test_an_anndata_on_disk_is_read(table, tmp_path):
    anndata.AnnData(table).write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    assert NMF(3).fit(backed).node_names_ == NAMES
