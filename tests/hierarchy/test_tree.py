"""Trees: cuts, export, growth."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, dendrogram, fcluster, is_monotonic, is_valid_linkage
from scipy.sparse import csr_array

from symclust.exceptions import InputError, OptionError
from symclust.hierarchy import Node, Tree, Within, grow, splinter
from symclust.operators import as_operator


def random_tree(n, n_leaves, seed):
    rng = np.random.default_rng(seed)

    def halves(node):
        right = rng.permutation(len(node.members)) < rng.integers(1, len(node.members))
        return node.members[~right], node.members[right]

    return grow(Tree(n), n_leaves, halves, lambda node: -len(node.members))


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(0, 10_000))
def test_cuts_are_nested_partitions(n, seed):
    tree = random_tree(n, n, seed)
    assert len(tree.leaves()) == n
    for k in range(1, n + 1):
        labels = tree.cut(k)
        assert sorted(set(labels)) == list(range(k))
        if k > 1:  # every cluster lies within one of the coarser cut
            coarse = tree.cut(k - 1)
            assert all(len(set(coarse[labels == c])) == 1 for c in range(k))


def same_clusters(ours, theirs, k):
    return len(set(ours)) == len(set(theirs)) == len(set(zip(ours, theirs, strict=True))) == k


@settings(max_examples=40)
@given(st.integers(2, 30), st.floats(0, 1), st.integers(0, 10_000))
def test_scipy_takes_the_linkage_matrix_and_cuts_it_like_the_tree(n, share, seed):
    tree = random_tree(n, 1 + int(share * (n - 1)), seed)
    n_leaves = len(tree.leaves())
    Z = tree.linkage()
    assert is_valid_linkage(Z) and is_monotonic(Z) and len(Z) == n - 1
    assert sorted(dendrogram(Z, no_plot=True)["leaves"]) == list(range(n))
    for k in range(1, n_leaves + 1):
        assert same_clusters(tree.cut(k), fcluster(Z, k, criterion="maxclust"), k)
        assert same_clusters(tree.cut(k), cut_tree(Z, k)[:, 0], k)
    assert same_clusters(tree.cut(n_leaves), fcluster(Z, 0, criterion="distance"), n_leaves)


@settings(max_examples=20)
@given(st.integers(4, 30), st.floats(0.1, 1), st.integers(0, 10_000))
def test_the_linkage_of_leaves(n, share, seed):
    tree = random_tree(n, 2 + int(share * (n - 2)), seed)
    leaves = tree.leaves()
    Z = tree.linkage(of="leaves")
    assert is_valid_linkage(Z) and is_monotonic(Z)
    assert dendrogram(Z, no_plot=True)["leaves"] == list(range(len(leaves)))  # left to right, as in cut
    for k in range(1, len(leaves) + 1):
        ours = tree.cut(k)[[leaf.members[0] for leaf in leaves]]
        assert same_clusters(ours, fcluster(Z, k, criterion="maxclust"), k)


def test_a_dendrogram_of_large_leaves_is_not_too_deep_for_scipy():
    tree = Tree(5000)
    tree.split(0, [np.arange(2000), np.arange(2000, 5000)])
    drawn = dendrogram(tree.linkage(), no_plot=True)["leaves"]
    assert drawn[:2000] == list(range(2000))


def test_samples_in_no_leaf_are_left_out_of_the_linkage():
    tree = Tree(7)
    left, _ = tree.split(0, [[5, 0, 1], [3, 6]])  # 2 and 4 are outliers
    tree.split(left.number, [[0], [5]])  # 1 from here on
    placed = np.flatnonzero(tree.cut(3) >= 0)
    Z = tree.linkage()
    assert is_valid_linkage(Z)
    for k in (1, 2, 3):
        assert same_clusters(tree.cut(k)[placed], fcluster(Z, k, criterion="maxclust"), k)


def make_tree():
    tree = Tree(5)
    left, _ = tree.split(0, [[0, 1, 2], [3, 4]])
    tree.split(left.number, [[0], [1, 2]])
    return tree


def test_exports():
    tree = make_tree()
    assert tree.to_newick() == "((0,1),2);"
    assert tree.to_newick(["a", "b c", "it's", "d", "e"]) == "(((a),('b c','it''s')),(d,e));"
    tree.nodes[1].data["terms"] = np.array([1.5, 2.5])
    read = json.loads(tree.to_json(indent=1))
    assert read["children"][0]["terms"] == [1.5, 2.5]
    assert read["children"][0]["children"][1]["members"] == [1, 2]
    assert read["children"][1]["cluster"] == 2
    assert read["score"] is None
    tree.nodes[0].score = np.inf  # of a single sample; JSON knows no such number
    assert json.loads(tree.to_json(), parse_constant=pytest.fail)["score"] is None


def test_dicts_hold_plain_values():
    tree = make_tree()
    tree.nodes[1].data |= {"terms": np.array([3, 1]), "gain": np.float32(0.5)}
    left = tree.to_dict(np.array(list("abcde")))["children"][0]
    assert left["terms"] == [3, 1]
    assert [type(value) for value in (left["terms"], left["gain"])] == [list, float]
    assert [type(name) for name in left["children"][0]["members"]] == [str]


def test_names_go_by_their_order_and_are_quoted_where_newick_needs_it():
    tree = make_tree()
    shuffled = pd.Series(["a_b", "c-d", "e", "f", "7"], index=[4, 3, 2, 1, 0])
    assert tree.to_newick(shuffled) == "((('a_b'),('c-d',e)),(f,7));"
    assert tree.to_dict(shuffled)["children"][1]["members"] == ["f", "7"]
    for export in (tree.to_newick, tree.to_dict, tree.to_json):
        with pytest.raises(InputError, match="names has 2 entries; expected one for each of 5"):
            export(["a", "b"])


def test_a_tree_too_deep_for_json_says_so():
    tree, last = Tree(1500), 0
    for i in range(1499):
        last = tree.split(last, [[i], np.arange(i + 1, 1500)])[1].number
    assert tree.to_newick().count("(") == 1499
    with pytest.raises(InputError, match="1499 levels"):
        tree.to_json()


def test_samples_in_no_child_are_outliers_from_then_on():
    tree = Tree(4)
    left, _ = tree.split(0, [[0, 1], [3]])
    tree.split(left.number, [[0], [1]])
    assert tree.cut(1).tolist() == [0, 0, 0, 0]
    assert tree.cut(3).tolist() == [0, 1, -1, 2]


def test_splits_in_three_have_cuts_but_no_dendrogram():
    tree = Tree(3)
    tree.split(0, [[0], [1], [2]])
    assert tree.cut(3).tolist() == [0, 1, 2]
    with pytest.raises(OptionError, match=r"n_clusters=2 is not a cut.*\[1, 3\]"):
        tree.cut(2)
    with pytest.raises(InputError, match="two branches"):
        tree.linkage()


def test_refusals():
    tree = make_tree()
    with pytest.raises(OptionError, match="it has 1 to 3 leaves"):
        tree.cut(4)
    with pytest.raises(InputError, match="split already"):
        tree.split(0, [[0], [1]])
    with pytest.raises(InputError, match="part of node 2 has no samples"):
        tree.split(2, [[3, 4], []])
    with pytest.raises(OptionError, match=r"of='nodes'.*'samples', 'leaves'"):
        tree.linkage(of="nodes")


def test_growth_stops_where_nothing_can_be_split():
    tree = grow(Tree(6), 6, lambda node: None, lambda node: 0.0)
    assert len(tree.leaves()) == 1
    assert tree.nodes[0].is_final


def test_growth_takes_the_lowest_priority_first():
    order = []

    def halves(node):
        order.append(len(node.members))
        return node.members[:1], node.members[1:]

    grow(Tree(5), 4, halves, lambda node: len(node.members))
    assert order == [5, 1, 4, 1, 3][: len(order)] or order == [5, 4, 3]


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 1000))
def test_within_is_that_of_the_paper(n, seed):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, n))
    K = K + K.T
    members = np.flatnonzero(rng.random(n) < 0.7)
    within = Within(as_operator(K))
    value = within(Node(0, members))
    m = len(members)
    if m < 2:
        assert value == np.inf
        return
    upper = np.triu(K[np.ix_(members, members)]).sum()
    assert value == pytest.approx(upper / (m * (m + 1)))
    right = rng.random(m) < 0.5
    for number, part in ((7, members[~right]), (8, members[right])):
        if part.size:
            within.note(number, as_operator(K[np.ix_(part, part)]))
        assert within(Node(number, part)) == pytest.approx(Within(as_operator(K))(Node(0, part)))


@settings(max_examples=30)
@given(st.integers(3, 10), st.integers(0, 1000))
def test_the_splinter_group_is_that_of_diana(n, seed):
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, n))
    K = K + K.T
    old, new = list(range(n)), []

    def average(i, group):
        others = [j for j in group if j != i]
        return np.mean([K[i, j] for j in others]) if others else -np.inf

    mover = min(old, key=lambda i: average(i, old))
    while True:
        old.remove(mover)
        new.append(mover)
        if len(old) == 1:
            break
        gains = {i: average(i, new) - average(i, old) for i in old}
        mover = max(gains, key=gains.get)
        if gains[mover] <= 0:
            break
    assert sorted(new) == np.flatnonzero(splinter(as_operator(K))).tolist()


@settings(max_examples=30)
@given(st.integers(2, 12), st.integers(0, 1000))
def test_ties_are_broken_alike_on_any_scale_and_in_any_form(n, seed):
    K = np.random.default_rng(seed).integers(0, 4, (n, n))
    K = np.maximum(K, K.T)
    found = splinter(as_operator(K.astype(float)))
    for form in (0.1 * K, csr_array(0.1 * K), (0.1 * K).astype(np.float32)):
        assert splinter(as_operator(form)).tolist() == found.tolist()
