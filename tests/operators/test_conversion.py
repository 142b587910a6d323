"""From what users have to an operator."""

import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from symclust import HierarchicalSymNMF, SymNMF
from symclust.exceptions import CombinationError, InputError, InputTypeError
from symclust.operators import Dense, Gram, Sparse, as_operator, graph_adjacency, graph_names

A = np.array([[1.0, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 0.0]])


def networkx_graph(kind=nx.Graph):
    graph = kind()
    graph.add_nodes_from("abc")
    graph.add_weighted_edges_from([("a", "a", 1.0), ("b", "a", 2.0), ("b", "c", 3.0)])
    return graph


def igraph_graph():
    graph = igraph.Graph(edges=[(0, 0), (1, 0), (1, 2)])
    graph.es["weight"] = [1.0, 2.0, 3.0]
    return graph


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (A, Dense),
        (A.astype(int), Dense),
        (np.asmatrix(A), Dense),
        (pd.DataFrame(A), Dense),
        (pd.DataFrame(A, index=list("abc"), columns=list("abc")), Dense),
        (sp.coo_matrix(A), Sparse),
        (sp.csc_array(A), Sparse),
        (pd.DataFrame.sparse.from_spmatrix(sp.csc_matrix(A)), Sparse),
        (networkx_graph(), Sparse),
        (igraph_graph(), Sparse),
    ],
)
def test_what_is_read(given, expected):
    operator = as_operator(given)
    assert type(operator) is expected
    assert operator.dtype == np.float64
    assert_array_equal(operator.toarray(), A)


def test_an_operator_is_returned_as_it_is():
    operator = Gram(np.ones((4, 2)))
    assert as_operator(operator) is operator
    assert as_operator(operator, dtype=np.float64) is operator


@pytest.mark.parametrize("given", [A, sp.csr_array(A), networkx_graph(), pd.DataFrame(A)])
def test_dtype_can_be_asked_for(given):
    assert as_operator(given, dtype=np.float32).dtype == np.float32


def test_float32_stays():
    assert as_operator(A.astype(np.float32)).dtype == np.float32
    assert as_operator(sp.csr_array(A.astype(np.float32))).dtype == np.float32


def test_edges_without_weight_count_one_and_parallel_edges_add_up():
    graph = nx.MultiGraph([(0, 1), (0, 1), (1, 2)])
    assert_array_equal(as_operator(graph).toarray(), [[0, 2, 0], [2, 0, 1], [0, 1, 0]])
    assert_array_equal(
        as_operator(igraph.Graph(edges=[(0, 1), (0, 1), (1, 2)])).toarray(), as_operator(graph).toarray()
    )


def test_agrees_with_networkx_and_igraph():
    graph = nx.gnm_random_graph(40, 100, seed=1)
    rng = np.random.default_rng(0)
    nx.set_edge_attributes(graph, {edge: rng.uniform() for edge in graph.edges}, "weight")
    assert_array_equal(as_operator(graph).toarray(), nx.to_numpy_array(graph))
    twin = igraph.Graph.from_networkx(graph)
    assert_array_equal(as_operator(twin).toarray(), nx.to_numpy_array(graph))


def test_subclasses_of_graphs_and_graphs_without_edges():
    class Network(nx.Graph):
        pass

    assert_array_equal(as_operator(networkx_graph(Network)).toarray(), A)
    for graph in (nx.empty_graph(3), igraph.Graph(3)):
        assert_array_equal(as_operator(graph).toarray(), np.zeros((3, 3)))


def test_names():
    assert graph_names(networkx_graph()) == ["a", "b", "c"]
    assert graph_names(igraph_graph()) == [0, 1, 2]
    named = igraph_graph()
    named.vs["name"] = ["x", "y", "z"]
    assert graph_names(named) == ["x", "y", "z"]
    assert graph_names(A) is None
    assert graph_names(sp.csr_array(A)) is None


@pytest.mark.parametrize("graph", [nx.DiGraph([(0, 1)]), igraph.Graph(edges=[(0, 1)], directed=True)])
def test_directed_graphs_are_refused(graph):
    with pytest.raises(InputError, match=r"directed (networkx|igraph).*[Ss]ymmetrise"):
        as_operator(graph)


@pytest.mark.parametrize("weight", ["heavy", None, {}])
def test_weights_that_are_no_numbers_are_refused(weight):
    ours, theirs = nx.Graph(), igraph.Graph(edges=[(0, 1)])
    ours.add_edge(0, 1, weight=weight)
    theirs.es["weight"] = [weight]
    for graph in (ours, theirs):
        with pytest.raises(InputError, match="'weight' must hold a number"):
            as_operator(graph)


def with_strengths():
    """Two triangles, strong inside, joined by three weak edges: one graph in two libraries."""
    inside, between = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5)], [(0, 3), (1, 4), (2, 5)]
    ours, theirs = nx.Graph(), igraph.Graph(edges=inside + between)
    for u, v in inside + between:
        ours.add_edge(u, v, strength=9 if (u, v) in inside else 1, weight=1 if (u, v) in inside else 9)
    for name in ("strength", "weight"):
        theirs.es[name] = [ours.edges[edge][name] for edge in inside + between]
    return [ours, theirs]


@pytest.mark.parametrize("graph", with_strengths())
def test_weights_by_the_name_of_an_attribute(graph):
    for weight, strong, weak in (("strength", 9, 1), ("weight", 1, 9), (None, 1, 1)):
        for found in (graph_adjacency(graph, weight), as_operator(graph, weight=weight).toarray()):
            assert (found[0, 1], found[0, 3]) == (strong, weak)
    for cls in (SymNMF, HierarchicalSymNMF):
        for affinity in ("precomputed", "nearest_neighbors"):
            model = cls(2, affinity=affinity, affinity_params={"weight": "strength"}, random_state=0).fit(
                graph
            )
            assert model.communities() in ([[0, 1, 2], [3, 4, 5]], [[3, 4, 5], [0, 1, 2]])


@pytest.mark.parametrize("graph", with_strengths())
def test_attributes_that_are_not_there_are_refused_with_those_that_are(graph):
    with pytest.raises(
        InputError,
        match=r"weight='width': no edge .* 'strength', 'weight'; None gives each edge the weight 1",
    ):
        as_operator(graph, weight="width")
    with pytest.raises(InputError, match="weight='width'"):
        SymNMF(2, affinity_params={"weight": "width"}).fit(graph)
    with pytest.raises(CombinationError, match="n_neighbors"):
        SymNMF(2, affinity_params={"weight": "strength", "n_neighbors": 3}).fit(graph)


def test_a_named_weight_is_needed_on_every_edge():
    graph = nx.Graph([(0, 1), (1, 2)])
    graph.edges[0, 1]["strength"] = 2
    with pytest.raises(InputError, match="'strength' must hold a number on every edge; between 1 and 2"):
        as_operator(graph, weight="strength")


def test_a_weight_has_no_meaning_without_a_graph():
    with pytest.raises(CombinationError, match="weight='strength'"):
        as_operator(A, weight="strength")


def test_edges_in_place_of_a_similarity_are_refused():
    for edges in ([(0, 1), (1, 2), (2, 3)], np.array([[0, 1], [1, 2], [2, 3]])):
        with pytest.raises(InputTypeError, match="list of 3 edges"):
            SymNMF(2, affinity="precomputed").fit(edges)


@pytest.mark.parametrize(
    "given", [np.ones((2, 3)), np.ones(3), sp.csr_array((2, 3)), pd.DataFrame(np.ones((2, 3)))]
)
def test_shapes_that_are_not_square_are_named(given):
    with pytest.raises(InputError) as error:
        as_operator(given)
    assert str(given.shape) in str(error.value)


@pytest.mark.parametrize("given", [np.ones((0, 0)), nx.Graph(), igraph.Graph()])
def test_nothing_is_refused(given):
    with pytest.raises(InputError, match="at least one row"):
        as_operator(given)


def test_frames_with_rows_and_columns_in_different_order_are_refused():
    with pytest.raises(InputError, match="index and columns differ"):
        as_operator(pd.DataFrame(A, index=list("abc"), columns=list("acb")))


@pytest.mark.parametrize("given", ["graph.csv", [[1.0]], None, 3, {"a": 1}])
def test_anything_else_is_refused_with_a_list_of_what_is_accepted(given):
    with pytest.raises(
        InputTypeError, match=f"{type(given).__name__}.*NumPy.*SciPy.*pandas.*networkx or igraph.*operator"
    ):
        as_operator(given)


def test_an_operator_of_another_dtype_is_refused():
    with pytest.raises(InputError, match=r"Dense 3 x 3 float64.*float32"):
        as_operator(Dense(A), dtype=np.float32)


def test_graph_libraries_are_not_imported():
    code = (
        "import sys, numpy, symclust.operators as o;"
        "o.as_operator(numpy.eye(3)); o.graph_names(numpy.eye(3));"
        "sys.exit(any(name in sys.modules for name in ('networkx', 'igraph')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
