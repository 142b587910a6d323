"""Ctrl-C in the middle of a growth: whole splits are kept, and before the first one the interrupt goes on."""

import os
import sys

import networkx as nx
import numpy as np
import pytest

from symclust import hierarchy
from symclust.hierarchy import (
    CommunityGrowth,
    CutGrowth,
    RaiseBoth,
    RaiseModularity,
    Samples,
    TopicGrowth,
    Tree,
    Trials,
    grow,
)
from symclust.hierarchy.topics.splits import rank_two
from symclust.operators import as_operator

community_growth = sys.modules[CommunityGrowth.__module__]

FOLDER = os.path.dirname(hierarchy.__file__)
CHANGE_A_TREE = ("grow", "_split", "_split_first", "split", "_open", "_wake")


def changes_a_tree(code):
    return code.co_filename.startswith(FOLDER) and code.co_name in CHANGE_A_TREE


def moves_nodes(code):
    return code.co_filename == community_growth.__file__


class Interrupt:
    """Raises KeyboardInterrupt at the n-th line of watched functions, as a signal might."""

    def __init__(self, n, watches=changes_a_tree):
        self.left, self.watches = n, watches

    def __call__(self, frame, event, arg):
        if not self.watches(frame.f_code):
            return None
        self.left -= event == "line"
        if event == "line" and self.left == 0:
            raise KeyboardInterrupt
        return self


def interrupted(growing, n, watches=changes_a_tree):
    """Return the tree of a growth, whether an interrupt was passed on, and whether there was one."""
    tree, grow_it = growing()
    watch, before = Interrupt(n, watches), sys.gettrace()
    sys.settrace(watch)
    try:
        grow_it()
    except KeyboardInterrupt:
        return tree, True, True
    finally:
        sys.settrace(before)
    return tree, False, watch.left <= 0


def plainly():
    tree = Tree(12)
    return tree, lambda: grow(tree, 6, lambda n: (n.members[::2], n.members[1::2]), lambda n: -len(n.members))


def by_topics():
    X = np.kron(np.eye(4), np.ones((6, 3))) + 0.1 * np.random.default_rng(0).random((24, 12))
    growth = TopicGrowth(Samples.of(X), 24, Trials(rank_two), np.random.RandomState(0))
    return growth.tree, lambda: growth.grow(4)


def by_cuts():
    growth = CutGrowth(as_operator(nx.ring_of_cliques(5, 4)), 0.25, 1, False, 1, 0)

    def grow_it():
        growth.grow(5)
        assert len(growth.history) == growth.tree.n_splits + 1

    return growth.tree, grow_it


def check(tree):
    """Refuse a tree with a node that is only half there."""
    inner = [node for node in tree.nodes if node.children]
    assert sorted(node.split for node in inner) == list(range(tree.n_splits))
    assert all(node.split is None for node in tree.nodes if not node.children)
    assert [node.number for node in tree.nodes] == list(range(len(tree.nodes)))
    below = [child for node in inner for child in node.children]
    assert sorted(below) == list(range(1, len(tree.nodes)))
    assert all(tree.nodes[child].parent == node.number for node in inner for child in node.children)
    assert (tree.cut(tree.n_splits + 1) >= 0).all()
    assert len({frozenset(node.data) for node in tree.leaves()}) == 1  # all leaves know the same


@pytest.mark.parametrize("growing", [plainly, by_topics, by_cuts])
def test_an_interrupt_leaves_a_whole_tree(growing, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # only this thread is watched, as only one gets signals
    kept, passed_on, n, was_interrupted = [], [], 1, True
    while was_interrupted:
        tree, is_passed_on, was_interrupted = interrupted(growing, n)
        check(tree)
        if was_interrupted and not is_passed_on:
            assert tree.interrupted
            kept.append(tree.n_splits)
        elif is_passed_on:
            passed_on.append(tree.n_splits)
        n += 1
    assert not tree.interrupted
    assert kept == sorted(kept) and set(kept) >= set(range(1, tree.n_splits))
    assert set(passed_on) <= {0, tree.n_splits}  # before the first split, or after the growth has ended


@pytest.mark.parametrize("both", [True, False])
def test_an_interrupt_at_any_line_of_the_moves_leaves_a_whole_tree(both, monkeypatch):
    """Scales, labels and the tree change one after the other, and an interrupt may come between them."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(community_growth, "ENOUGH", 10)
    monkeypatch.setattr(community_growth, "LEAF_NODES", 2)
    A = as_operator(nx.ring_of_cliques(12, 5))
    growth = None

    def by_communities():
        nonlocal growth
        growth = CommunityGrowth(A, 0.25, 1, 0, (RaiseBoth if both else RaiseModularity)(1))
        return None, lambda: growth.grow(5)

    n, kept, was_interrupted = 1, 0, True
    while was_interrupted:
        _, is_passed_on, was_interrupted = interrupted(by_communities, n, moves_nodes)
        if not is_passed_on:
            check(growth.tree)
            assert growth.tree.n_samples == A.n and len(growth.history) == growth.tree.n_splits + 1
            assert growth.tree.interrupted == was_interrupted
            kept += was_interrupted
        n += 1
    assert kept > 20
