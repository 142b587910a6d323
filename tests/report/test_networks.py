"""The page and the picture of a network: every number is that of the network given, counted by networkx."""

import re
from base64 import b64decode

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest

import symclust
from symclust import HierarchicalSymNMF, SpectralNJW, SymNMF
from symclust.graphs import AttributedGraph
from symclust.plotting import plot_graph
from symclust.report._findings import find
from symclust.report._map import map_of
from symclust.report._matrix import matrix_of
from symclust.report._reading import read_clustering

NETWORKS = {"karate": nx.karate_club_graph, "les misérables": nx.les_miserables_graph}
MODELS = {
    "walks": lambda: SymNMF(4, random_state=0),
    "cut": lambda: SymNMF(4, affinity="nearest_neighbors", random_state=0),
    "given": lambda: SymNMF(4, affinity="precomputed", random_state=0),
    "tree": lambda: HierarchicalSymNMF(4, random_state=0),
    "spectral": lambda: SpectralNJW(4, random_state=0),
}


def whole(share):
    return f"{share:.0%}"


def counted(graph, model):
    """Return links, the share of their weight inside clusters, and what is expected by chance."""
    label = dict(zip(graph, model.labels_, strict=True))
    total = graph.size(weight="weight")
    inside = sum(w for u, v, w in graph.edges(data="weight", default=1) if label[u] == label[v])
    volumes = [sum(graph.degree(u, weight="weight") for u in graph if label[u] == c) for c in range(4)]
    return graph.number_of_edges(), inside / total, sum((v / (2 * total)) ** 2 for v in volumes)


def check_page(graph, model):
    links, inside, chance = counted(graph, model)
    clustering = read_clustering(model)
    facts = " ".join(find(clustering).facts)
    assert (
        f"{whole(inside)} of the weight of all links lies inside clusters; with clusters drawn at random it "
        f"would be {whole(chance)}." in facts
    )
    drawn = map_of(clustering)
    assert len(np.frombuffer(b64decode(drawn.data["lines"]), "<u4")) == 2 * links
    assert sum(group["size"] for group in drawn.data["groups"]) == graph.number_of_nodes()
    assert drawn.data["names"] == [str(name) for name in model.node_names_ or ()]
    assert "lines are the links" in drawn.caption
    check_means(graph, model, matrix_of(clustering))
    ax = plot_graph(model)
    plt.close(ax.figure)
    assert ax.get_xlabel() == f"{len(graph)} nodes in 4 clusters, {links} links"


def check_means(graph, model, matrix):
    names = np.array(list(graph), dtype=object)
    for a in range(4):
        one = set(names[model.labels_ == a])
        part = graph.subgraph(one)
        pairs = len(one) * (len(one) - 1) / 2
        assert matrix.data["means"][a][a] == pytest.approx(part.size(weight="weight") / pairs, rel=5e-3)
        for b in range(a):
            other = set(names[model.labels_ == b])
            between = nx.cut_size(graph, one, other, weight="weight") / (len(one) * len(other))
            assert matrix.data["means"][a][b] == pytest.approx(between, rel=5e-3)
    assert matrix.data["what"] == "mean weight per pair"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NETWORKS)
def test_every_number_is_that_of_the_network(name, model, tmp_path):
    graph = NETWORKS[name]()
    fitted = MODELS[model]().fit(graph)
    check_page(graph, fitted)
    fitted.save(tmp_path / "model.symclust")
    check_page(graph, symclust.load(tmp_path / "model.symclust"))


def test_a_matrix_that_is_said_to_be_a_network():
    graph = nx.les_miserables_graph()
    A = nx.to_scipy_sparse_array(graph)
    check_page(graph, SymNMF(4, affinity="network", random_state=0).fit(A))


def test_edges_are_drawn_of_a_graph_with_features():
    graph = nx.karate_club_graph()
    features = np.random.default_rng(0).random((34, 5))
    check_page(graph, SymNMF(4, random_state=0).fit(AttributedGraph(graph, features)))


def test_nodes_that_join_bring_their_links():
    graph = nx.karate_club_graph()
    A = nx.to_numpy_array(graph)
    model = SymNMF(4, random_state=0).fit(graph.subgraph(range(30))).partial_fit(A[30:])
    check_page(graph, model)


def test_doubtful_nodes_are_those_with_links_elsewhere():
    graph = nx.les_miserables_graph()
    model = SpectralNJW(4, random_state=0).fit(graph)
    links = nx.to_scipy_sparse_array(graph).toarray()
    elsewhere = (links * (model.labels_[:, None] != model.labels_)).sum(axis=1)
    found = read_clustering(model).belonging
    assert not found.rivalry[elsewhere == 0].any()
    assert elsewhere[~found.is_clear].min() > 0


def test_samples_are_described_by_their_similarities():
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = SymNMF(2, random_state=0).fit(X)
    assert model.network_ is None
    assert read_clustering(model).similarity is model.affinity_matrix_


def test_the_page_says_how_many_links_there_are(tmp_path):
    model = SymNMF(4, random_state=0).fit(nx.les_miserables_graph())
    page = model.report(tmp_path / "page.html").read_text()
    assert re.search(r"<dt>links</dt>\s*<dd>254</dd>|<dd>254</dd>\s*<dt>links</dt>", page)
    assert "Links, ordered by cluster" in page
    assert "Similarity, ordered" not in page
