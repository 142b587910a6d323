"""Lists of edges, GraphML and GML become the graphs they describe, names and all."""

import gzip
import io
import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust import HierarchicalSymNMF, read
from symclust.exceptions import InputError, OptionError
from symclust.operators import Network
from symclust.readers import read_described


def as_dict(network):
    """Return the weight of each undirected edge, by the names of its ends."""
    A = network.csr.toarray()
    assert (A == A.T).all()
    i, j = np.nonzero(np.triu(A))
    return {frozenset((network.names[a], network.names[b])): A[a, b] for a, b in zip(i, j, strict=True)}


def read_text(text, **options):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return read_described("-", **{"kind": "graph", **options})


# Round trips ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".txt", ".edges", ".tsv", ".csv", ".txt.gz", ".edgelist"])
@pytest.mark.parametrize("delimiter", [" ", "\t", ","])
@pytest.mark.parametrize("is_named", [True, False])
def test_edge_lists_of_networkx(tmp_path, ending, delimiter, is_named):
    graph = nx.karate_club_graph()
    graph = nx.relabel_nodes(graph, lambda node: f"node{node}") if is_named else graph
    path = tmp_path / f"club{ending}"
    nx.write_weighted_edgelist(graph, path, delimiter=delimiter)
    found = read_described(path, kind="graph")
    assert isinstance(found.data, Network)
    assert set(found.names) == set(graph)
    assert as_dict(found.data) == {frozenset((u, v)): w for u, v, w in graph.edges(data="weight")}


def write_json(graph, path):
    path.write_text(json.dumps(nx.node_link_data(graph)))


WRITERS = {
    ".graphml": nx.write_graphml,
    ".gml": nx.write_gml,
    ".gexf": nx.write_gexf,
    ".net": nx.write_pajek,
    ".json": write_json,
}


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_networkx(tmp_path, ending, packed):
    graph, write = nx.relabel_nodes(nx.karate_club_graph(), lambda node: f"node {node}"), WRITERS[ending]
    for _, data in graph.nodes(data=True):
        data.clear()  # Pajek has no attributes
    graph.add_node("<lonely> & 'quoted'")
    path = tmp_path / f"club{ending}"
    write(graph, path)
    if packed:
        (tmp_path / f"club{ending}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / f"club{ending}.gz"
    found = read_described(path)
    assert found.kind == "graph"
    assert found.names == list(graph)
    assert as_dict(found.data) == {frozenset((u, v)): w for u, v, w in graph.edges(data="weight")}
    assert read_described(path, weight=None).data.csr.data.max() == 1
    bare = tmp_path / "without an ending"
    bare.write_bytes(path.read_bytes())
    assert ending == ".json" or as_dict(read_described(bare).data) == as_dict(found.data)


@pytest.mark.parametrize("ending", [".txt", ".edgelist", ".csv"])
@pytest.mark.parametrize("is_named", [True, False])
def test_edge_lists_of_networkx_with_attributes(tmp_path, ending, is_named):
    graph = nx.karate_club_graph()
    graph = nx.relabel_nodes(graph, lambda node: f"node{node}") if is_named else graph
    graph.edges[list(graph.edges)[3]]["note"] = "two words"
    path = tmp_path / f"club{ending}"
    nx.write_edgelist(graph, path, delimiter="," if ending == ".csv" else " ")
    found = read_described(path)
    assert found.kind == "graph" and set(found.names) == set(graph)
    assert as_dict(found.data) == {frozenset((u, v)): w for u, v, w in graph.edges(data="weight")}
    assert read_described(path, weight=None).data.csr.data.max() == 1
    nx.write_edgelist(nx.path_graph(5), path)  # whose dicts are empty
    assert as_dict(read_described(path).data) == {frozenset((i, i + 1)): 1 for i in range(4)}


def test_damaged_attributes_of_edges_are_refused(tmp_path):
    path = tmp_path / "a.edges"
    for content in ("a b {'weight': 2}\nb c {'weight': \n", "a b {__import__('os')}\nb c {}\n"):
        path.write_text(content)
        with pytest.raises(InputError, match=r"a\.edges cannot be read"):
            read_described(path)
    path.write_text("a b {'weight': 2}\na b {'weight': 3}\n")
    with pytest.raises(InputError, match="listed 2 times"):
        read_described(path)
    assert as_dict(read_described(path, duplicates="sum").data) == {frozenset("ab"): 5}


def test_graphs_of_d3(tmp_path):
    nodes = [{"name": name, "group": 1} for name in ("Myriel", "Napoleon", "Valjean")]
    links = [{"source": 1, "target": 0, "value": 1}, {"source": 2, "target": 0, "value": 8}]
    (tmp_path / "a.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    found = read_described(tmp_path / "a.json")
    assert as_dict(found.data) == {frozenset(("Napoleon", "Myriel")): 1, frozenset(("Valjean", "Myriel")): 8}
    assert "Weights of edges are their attribute 'value'." in found.notes
    (tmp_path / "a.json").write_text('{"nodes": 3, "links": [1]}')
    with pytest.raises(InputError, match=r"a\.json cannot be read"):
        read_described(tmp_path / "a.json")


def test_what_is_read_is_fitted_by_name(tmp_path):
    graph = nx.relabel_nodes(nx.ring_of_cliques(3, 5), lambda node: f"n{node}")
    nx.write_edgelist(graph, tmp_path / "ring.txt", data=False)
    ours, theirs = (
        HierarchicalSymNMF(3, random_state=0).fit(X) for X in (read(tmp_path / "ring.txt"), graph)
    )
    assert sorted(map(sorted, ours.communities())) == sorted(map(sorted, theirs.communities()))


names = st.one_of(
    st.integers(0, 10**12), st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6)
)


@settings(max_examples=150)
@given(st.data())
def test_any_list_of_edges_comes_back(data):
    pairs = data.draw(st.lists(st.tuples(names, names), min_size=2, max_size=12))
    edges = {frozenset(map(str, pair)): pair for pair in pairs if str(pair[0]) != str(pair[1])}.values()
    is_weighted = data.draw(st.booleans())
    weights = [data.draw(st.floats(0.001, 1e6)) if is_weighted else 1.0 for _ in edges]
    sep = data.draw(st.sampled_from([" ", "\t", ",", ";"]))
    lines = [
        sep.join(map(str, (*e, *([w] if is_weighted else [])))) for e, w in zip(edges, weights, strict=True)
    ]
    if len(lines) < 2:
        return
    comments = data.draw(st.sampled_from([[], ["# of networkx"], ["% sym", "% KONECT"]]))
    found = read_text("\n".join([*comments, *lines]), header=False, delimiter="spaces" if sep == " " else sep)
    expected = {frozenset(map(str, e)): w for e, w in zip(edges, weights, strict=True)}
    assert {frozenset(map(str, ends)): w for ends, w in as_dict(found.data).items()} == expected
    are_numbers = all(
        str(name).isascii() and str(name).isdigit() and str(int(name)) == str(name)
        for e in edges
        for name in e
    )
    assert all(isinstance(name, int) for name in found.names) == are_numbers


# What lists of edges look like ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "source,target,weight\na,b,2\nb,c,3\n",
        "Weight;Target;Source\n2;b;a\n3;c;b\n",
        "from\tto\tweight\na\tb\t2\nb\tc\t3\n",
        "a b 2\nb c 3\n",
        "# three nodes\n\na   b\t2\n  b c 3\n",
        "% sym weighted\na b 2\nb a 2\nb c 3\n",
        "a|b|2\r\nb|c|3\r\n",
        "one,other,strength\na,b,2\nb,c,3\n",
    ],
)
def test_forms_of_one_graph(text):
    assert as_dict(read_text(text).data) == {frozenset("ab"): 2, frozenset("bc"): 3}


def test_names_that_are_numbers_lose_nothing():
    assert read_text("7 9\n9 12\n").names == [7, 9, 12]
    assert read_text("007 9\n9 12\n").names == ["007", "9", "12"]
    assert read_text("1.0 2\n2 3\n").names == ["1.0", "2", "3"]
    assert read_text("NA nan\nnan null\n").names == ["NA", "nan", "null"]
    assert read_text("99999999999999999999 1\n1 2\n").names == ["99999999999999999999", "1", "2"]


def test_loops_and_both_directions_are_noted():
    found = read_text("a a\na b\nb a\nc c\nb c\n")
    assert as_dict(found.data) == {frozenset("ab"): 1, frozenset("bc"): 1}
    assert found.notes[-2:] == [
        "Dropped 2 self-loops (the first: 'a', line 1).",
        "Counted 1 edge once, listed from both ends.",
    ]


@pytest.mark.parametrize(("rule", "expected"), [("sum", 8), ("max", 5), ("first", 1)])
def test_duplicates_as_told(rule, expected):
    text = "a b 1\nb c 1\na b 2\nb a 5\n"
    assert as_dict(read_text(text, duplicates=rule).data)[frozenset("ab")] == expected


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=20))
def test_duplicates_follow_their_definition(rows):
    text = "".join(f"{u} {v} {w}\n" for u, v, w in rows)
    combine = {"sum": sum, "max": max, "first": lambda weights: weights[0]}
    for rule, one in combine.items():
        expected = {}
        for pair in {frozenset((u, v)) for u, v, _ in rows if u != v}:
            a, b = sorted(pair)
            ways = [[w for u, v, w in rows if (u, v) == way] for way in ((a, b), (b, a))]
            sides = [one(weights) for weights in ways if weights]
            if rule == "first":
                expected[pair] = next(w for u, v, w in rows if {u, v} == pair)
            else:
                expected[pair] = sides[0] if len(set(sides)) == 1 else one(sides)
        assert as_dict(read_text(text, duplicates=rule, header=False).data) == expected
    is_plain = all(
        len(ws := [(u, w) for u, v, w in rows if {u, v} == {a, b}]) == 1
        or (len(ws) == 2 and ws[0][0] != ws[1][0] and ws[0][1] == ws[1][1])
        for a, b, _ in rows
        if a != b
    )
    if is_plain:
        read_text(text, header=False)
    else:
        with pytest.raises(InputError, match="duplicates='sum', 'max' or 'first'"):
            read_text(text, header=False)


def test_weights_by_column():
    text = "source,target,n,weight\na,b,7,1\nb,c,8,2\n"
    assert as_dict(read_text(text).data)[frozenset("ab")] == 1
    assert as_dict(read_text(text, weight="n").data)[frozenset("ab")] == 7
    assert as_dict(read_text(text, weight=None).data)[frozenset("bc")] == 1
    assert as_dict(read_text("a b 7 1082040961\nb c 8 1082040999\n").data)[frozenset("ab")] == 7
    with pytest.raises(InputError, match="no column 'x' for weights; it has 'source'"):
        read_text(text, weight="x")


def test_negative_and_zero_weights_are_noted():
    found = read_text("a b -1\nb c 2\nc d 0\n")
    assert found.data.csr.nnz == 4
    assert found.names == list("abcd")
    assert any("1 edge of negative weight" in note for note in found.notes)
    assert "Dropped 1 edge of weight 0." in found.notes


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.txt", "# SNAP\n1 2\n2 3\n", "graph"),
        ("a.txt", "0.5 1\n1.5 2\n", "features"),
        ("a.txt", "ann bob 2.5\nbob cem 1.5\n", "graph"),
        ("a.txt", "ann bob\nbob cem\ncem ann\n", "graph"),
        ("a.txt", "red fish\nblue whale\nold owl\n", "texts"),
        ("a.txt", "The first document.\nAnd another one\n", "texts"),
        ("a.csv", "source,target\n1,2\n2,3\n", "graph"),
        ("a.csv", "1,2\n2,3\n", "features"),
        ("a.csv", "ann,bob\nbob,cem\ncem,dov\n", "graph"),
        ("a.csv", "age,height\n29,1.7\n27,1.8\n", "features"),
        ("a", "graph [\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n]\n", "graph"),
        ("a.json.txt", '{"text": "one"}\n{"text": "two"}\n', "texts"),
    ],
)
def test_kinds_are_guessed_by_content(tmp_path, name, text, kind):
    (tmp_path / name).write_text(text)
    assert read_described(tmp_path / name).kind == kind


def test_directed_graphs_lose_their_directions(tmp_path):
    graph = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c")])
    nx.write_graphml(graph, tmp_path / "d.graphml")
    found = read_described(tmp_path / "d.graphml")
    assert as_dict(found.data) == {frozenset("ab"): 1, frozenset("bc"): 1}
    assert found.notes[0] == "Edges are directed in the file; their directions were left out."


def test_labels_of_nodes_are_their_names(tmp_path):
    graph = nx.Graph([(0, 1), (1, 2)])
    nx.set_node_attributes(graph, {0: "ann", 1: "bob", 2: "cem"}, "label")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    assert read_described(tmp_path / "a.graphml").names == ["ann", "bob", "cem"]


def test_options_of_graphs(tmp_path):
    with pytest.raises(OptionError, match="duplicates='all' is not known"):
        read_text("a b\n", duplicates="all")
    (tmp_path / "a.csv").write_text("x,y\na,b\nb,c\na,b\n")
    assert read_described(tmp_path / "a.csv", duplicates="sum", header=True).kind == "graph"
