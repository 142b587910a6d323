"""Clusters are written back into what was read: graphs, AnnData and workbooks."""

import anndata
import networkx as nx
import numpy as np
import openpyxl
import pandas as pd
import pytest

GRAPH = nx.relabel_nodes(nx.ring_of_cliques(3, 6), lambda node: f"node {node}")
MAKERS = {
    ".graphml": nx.write_graphml,
    ".gml": nx.write_gml,
    ".gexf": nx.write_gexf,
    ".edgelist": nx.write_edgelist,
}
READERS = {".graphml": nx.read_graphml, ".gml": nx.read_gml}


@pytest.mark.parametrize("given", MAKERS)
@pytest.mark.parametrize("wanted", READERS)
def test_a_graph_comes_back_with_its_attributes_and_clusters(command, tmp_path, given, wanted):
    graph = nx.relabel_nodes(GRAPH, {node: node.replace(" ", "_") for node in GRAPH})
    nx.set_node_attributes(graph, {node: f"street {i}" for i, node in enumerate(graph)}, "street")
    MAKERS[given](graph, tmp_path / f"a{given}")
    out = tmp_path / f"out{wanted}"
    status, _, errors = command("communities", tmp_path / f"a{given}", "-k", 3, "-m", "sym-nmf", "-o", out)
    assert status == 0, errors
    found = READERS[wanted](out)
    assert set(found) == set(graph)
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in graph.edges}
    assert isinstance(found, nx.Graph) and not found.is_directed()
    cluster = dict(found.nodes(data="cluster"))
    groups = {frozenset(node for node in cluster if cluster[node] == number) for number in range(3)}
    assert groups == {frozenset(f"node_{i}" for i in range(start, start + 6)) for start in (0, 6, 12)}
    if given != ".edgelist":
        assert found.nodes["node_3"]["street"] == "street 3"
    assert 0 < found.nodes["node_3"]["cluster_confidence"] <= 1


def test_an_edge_list_of_numbers_becomes_a_graph(command, tmp_path):
    nx.write_edgelist(nx.ring_of_cliques(3, 6), tmp_path / "a.txt", data=False)
    status, _, errors = command("communities", tmp_path / "a.txt", "-o", tmp_path / "out.graphml")
    assert status == 0, errors
    assert (
        nx.read_graphml(tmp_path / "out.graphml").number_of_edges()
        == nx.ring_of_cliques(3, 6).number_of_edges()
    )


def test_an_anndata_comes_back_with_clusters_beside_what_it_had(command, tmp_path):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((20, 4))) * 5 + rng.uniform(size=(60, 12))
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obs_names = [f"cell{i}" for i in range(60)]
    adata.obs["cluster"] = ["a", "b"] * 30
    adata.obsm["X_pca"] = rng.normal(size=(60, 2))
    adata.write_h5ad(tmp_path / "a.h5ad")
    status, _, errors = command("cluster", tmp_path / "a.h5ad", "-k", 3, "-o", tmp_path / "out.h5ad")
    assert status == 0, errors
    found = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert found.obs["cluster"].tolist() == adata.obs["cluster"].tolist()
    assert found.obs["cluster (2)"].cat.categories.tolist() == ["0", "1", "2"]
    assert found.obs["cluster (2)_confidence"].between(0, 1).all()
    assert set(found.obs["cluster (2)_name"]) == set(found.uns["cluster (2)"]["names"].values())
    memberships = found.obsm["cluster (2)_membership"]
    assert memberships.shape == (60, 3)
    np.testing.assert_array_equal(found.obsm["X_pca"], adata.obsm["X_pca"])
    np.testing.assert_array_equal(memberships.argmax(1).astype(str), found.obs["cluster (2)"])
    assert [path.name for path in tmp_path.iterdir()] in (["a.h5ad", "out.h5ad"], ["out.h5ad", "a.h5ad"])


def test_names_in_a_workbook_are_no_formulas(command, tmp_path):
    table = pd.DataFrame({"name": [f"=1+{i}" for i in range(12)], "a": [0, 9] * 6, "b": [0.5, 9] * 6})
    table.to_csv(tmp_path / "a.csv", index=False)
    status, _, errors = command("cluster", tmp_path / "a.csv", "-k", 2, "-o", tmp_path / "out.xlsx")
    assert status == 0, errors
    cells = openpyxl.load_workbook(tmp_path / "out.xlsx").active["A"]
    assert [cell.value for cell in cells] == ["name", *table.name]
    assert {cell.data_type for cell in cells} == {"s"}


@pytest.mark.parametrize(
    ("ending", "lacks"), [(".graphml", "graph"), (".gml", "graph"), (".h5ad", "AnnData")]
)
def test_what_clusters_cannot_be_written_into_is_refused_before_the_work(
    command, people, tmp_path, ending, lacks
):
    path, _ = people
    status, out, errors = command("cluster", path, "-k", 3, "-o", tmp_path / f"out{ending}")
    assert (status, out) == (1, "")
    assert f"has no {lacks} that clusters could be written into. Let the output end in .csv" in errors
