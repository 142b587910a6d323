import networkx as nx
import numpy as np
import pytest

from symclust import Diana, HierarchicalNMF, HierarchicalSymNMF, LinkageClustering, topics
from symclust.exceptions import InputError, InputTypeError
from symclust.hierarchy import Tree
from symclust.plotting import plot_dendrogram, plot_topic_words, plot_tree

DOCUMENTS = [
    "cat dog pet fur", "dog pet bark walk", "cat fur purr milk",
    "stock market bank money", "bank money loan market", "trade stock price market",
    "rocket space orbit moon", "nasa moon orbit launch", "space launch rocket orbit",
] * 3  # fmt: skip


def ticks(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.fixture(scope="module")
def club():
    return HierarchicalSymNMF(4, random_state=0).fit(nx.karate_club_graph())


@pytest.fixture(scope="module")
def tree_of_topics():
    return topics(DOCUMENTS, 3)


def test_leaves_are_named_with_their_sizes(club):
    sizes = np.bincount(club.labels_)
    assert ticks(plot_tree(club).yaxis) == [f"{c}:  {size} samples" for c, size in enumerate(sizes)]
    assert ticks(plot_tree(club.tree_).yaxis) == ticks(plot_tree(club).yaxis)


def test_a_large_tree_is_cut_at_its_first_splits():
    tree = Tree(50)
    for i in range(49):
        tree.split(2 * i, [[i], range(i + 1, 50)])
    shown = ticks(plot_tree(tree, max_leaves=4).yaxis)
    assert shown == ["0:  1 sample", "1:  1 sample", "2:  1 sample", "…  47 samples"]
    ends = ticks(plot_dendrogram(tree, max_leaves=5).xaxis)
    assert len(ends) == 5
    assert "(46 leaves)" in ends


def test_terms_stand_beside_leaves(tree_of_topics):
    words = ticks(plot_tree(tree_of_topics, n_terms=2).yaxis)
    expected = [", ".join(term for term, _ in leaf.terms[:2]) for leaf in tree_of_topics.leaves]
    assert [word.split(":  ")[1].split("  (")[0] for word in words] == expected
    model = HierarchicalNMF(3, random_state=0).fit(np.kron(np.eye(3), np.ones((4, 2))) + 0.01)
    assert all("samples" in word for word in ticks(plot_tree(model).yaxis))
    best = model.top_terms(1, "abcdef")
    shown = ticks(plot_tree(model, n_terms=1, feature_names="abcdef").yaxis)
    assert [word.split()[1] for word in shown] == [terms[0] for terms in best]


def test_merges_are_coloured_by_cluster():
    K = np.kron(np.eye(3), np.ones((3, 3))) + 0.1
    model = LinkageClustering(3, affinity="precomputed").fit(K)
    ax = plot_dendrogram(model)
    colours = {tuple(colour) for colour in ax.collections[0].get_colors()}
    assert len(colours) == 4  # three clusters, and what joins them
    assert sorted(map(int, ticks(ax.xaxis))) == list(range(9))
    assert sum(int(word[1:-1]) for word in ticks(plot_dendrogram(model, max_leaves=3).xaxis)) == 9


def test_leaves_of_a_tree_stay_in_order():
    K = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    model = Diana(2, affinity="precomputed").fit(K)
    assert ticks(plot_dendrogram(model).xaxis) == ["0: 3", "1: 3"]


def test_words_of_topics(tree_of_topics):
    ax = plot_topic_words(tree_of_topics, n_terms=3)
    expected = [term for leaf in tree_of_topics.leaves for term, _ in leaf.terms[:3]]
    assert [text.get_text() for text in ax.texts] == expected
    assert ticks(ax.yaxis) == [f"{leaf.label}  ({leaf.size})" for leaf in tree_of_topics.leaves]
    assert len(ticks(plot_topic_words(tree_of_topics, max_topics=2).yaxis)) == 2


def test_refuses_what_has_no_tree():
    with pytest.raises(InputTypeError, match="A tree cannot be read from list"):
        plot_tree([1])
    with pytest.raises(InputTypeError, match="list has no merges or splits"):
        plot_dendrogram([1])
    with pytest.raises(InputError, match="nothing to draw"):
        plot_dendrogram(Tree(3))
    with pytest.raises(InputTypeError, match="Tree has no topics"):
        plot_topic_words(Tree(3))
    model = HierarchicalNMF(2, random_state=0).fit(np.kron(np.eye(2), np.ones((4, 2))) + 0.01)
    with pytest.raises(InputError, match=r"must name the 4 columns of components_; got 2"):
        plot_topic_words(model, ["a", "b"])
