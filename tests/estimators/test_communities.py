import copy
import json
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from symclust import SymNMF
from symclust.estimators._communities import Communities
from symclust.exceptions import InputError, OptionError


def fitted(graph, k=2, **options):
    return SymNMF(k, affinity="precomputed", tol=1e-6, random_state=0, **options).fit(graph)


def with_factor(H, names=None):
    """A fitted model that says it has found the factor H."""
    model = fitted(np.eye(len(H)), 1)
    model.membership_, model.labels_, model.node_names_ = H, H.argmax(axis=1), names
    return model


factors = st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0, 2.0]))
)


@settings(max_examples=60)
@given(factors, st.sampled_from([0.05, 0.25, 0.5, 1.0]))
def test_overlapping_clusters_follow_their_definition(H, t):
    found = with_factor(H).communities(threshold=t)
    n, k = H.shape
    expected = [[i for i in range(n) if H[i, l] > 0 and H[i, l] >= t * max(H[i])] for l in range(k)]
    assert found == expected
    assert found.by_node == {i: {l for l in range(k) if i in expected[l]} for i in range(n)}
    assert all(found.clusters_of(i) == clusters for i, clusters in found.by_node.items())


@settings(max_examples=30)
@given(factors)
def test_without_threshold_each_has_the_cluster_of_its_label(H):
    model = with_factor(H)
    found = model.communities()
    assert found.by_node == {i: {label} for i, label in enumerate(model.labels_)}
    assert [len(members) for members in found] == np.bincount(model.labels_, minlength=H.shape[1]).tolist()


def test_two_triangles_share_a_named_node():
    model = fitted(nx.Graph(["ab", "ac", "bc", "cd", "ce", "de"]))
    assert sorted(map(sorted, model.communities(threshold=0.5))) == [["a", "b", "c"], ["c", "d", "e"]]
    assert model.communities(threshold=0.5).clusters_of("c") == {0, 1}
    assert model.communities().clusters_of("c") == {model.labels_[list("abcde").index("c")]}


def test_a_node_without_similarities_belongs_nowhere():
    graph = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(4))
    graph.add_node("lonely")
    with pytest.warns(UserWarning, match="lonely"):
        model = fitted(graph)
    assert model.communities(threshold=1e-3).clusters_of("lonely") == set()
    assert model.communities().clusters_of("lonely") == set()


def test_unhashable_names_still_make_lists():
    found = with_factor(np.array([[1.0, 0.0], [0.0, 1.0]]), names=[["a"], ["b"]]).communities()
    assert found == [[["a"]], [["b"]]]


def test_is_a_list_of_lists_for_everybody_else():
    found = Communities([["a"], ["a", "b"]], nodes="abc")
    for same in (list(found), json.loads(json.dumps(found)), copy.deepcopy(found)):
        assert same == found
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.by_node == {"a": {0, 1}, "b": {1}, "c": set()}


def test_numbers_of_numpy_are_found_and_strangers_named():
    found = with_factor(np.eye(3)).communities()
    assert found.clusters_of(np.int64(2)) == {2}
    with pytest.raises(InputError, match="'x' is not one of the 3 nodes"):
        found.clusters_of("x")


@pytest.mark.parametrize("threshold", [0, -0.5, 1.01, np.nan, "half", True])
def test_refuses_impossible_thresholds(threshold):
    with pytest.raises(OptionError, match=r"threshold=.* must be a number above 0 and at most 1"):
        with_factor(np.eye(2)).communities(threshold=threshold)
