"""A report of any clustering: of every estimator, of topics, of scikit-learn's own."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN
from sklearn.exceptions import NotFittedError

import symclust
from symclust import NMF, DivisiveClustering, HierarchicalNMF, HierarchicalSymNMF, SymNMF, topics
from symclust.exceptions import InputError, InputTypeError
from symclust.hierarchy import Tree
from symclust.report import write_report

for library in ("jinja2", "matplotlib"):
    pytest.importorskip(library)
EXPORTED = [getattr(symclust, name) for name in symclust.__all__]
ESTIMATORS = [thing for thing in EXPORTED if isinstance(thing, type) and issubclass(thing, BaseEstimator)]
X = 3 * np.eye(3, 4)[np.arange(60) // 20] + np.random.default_rng(0).random((60, 4))
TERMS = ["<i>&", "b", "c", "d"]
DOCUMENTS = [
    "cat dog pet fur <b>", "dog pet bark walk", "cat fur purr milk",
    "stock market bank money", "bank money loan market", "trade stock price market",
    "rocket space orbit moon", "nasa moon orbit launch", "space launch rocket orbit",
]  # fmt: skip


@pytest.fixture
def page(Page, tmp_path, sketched):
    def write(model, **options):
        return Page(write_report(tmp_path / "a.html", model, **options).read_text(encoding="utf-8"))

    return write


def tree_lines(page):
    """The text between the heading of the tree and that of the clusters."""
    first = page.text.index("Tree of clusters")
    return page.text[first + 2 : page.text.index("Clusters", first + 1)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator(cls, page):
    model = cls(SymNMF(2), 3) if cls is DivisiveClustering else cls(3)
    model.fit(X)
    seen = page(model, labels_true=np.array(["<i>", "y", "z"])[np.arange(60) // 20], names=range(60))
    text = " | ".join(seen.text)
    assert "samples | 60 | clusters | 3" in text
    assert f"Parameters of {cls.__name__}" in text
    assert ("Tree of clusters" in text) == hasattr(model, "tree_")
    assert ("Similarity, ordered by cluster" in text) == hasattr(model, "affinity_matrix_")
    assert ("relative error" in text) == hasattr(model, "relative_error_")
    assert model.stop_reason_[1:].rstrip(".") in text
    assert all("nan" not in a["alt"] for a in seen.all("img"))
    assert not seen.all("i")  # escaped


def test_a_tree_of_communities_names_its_best_connected(page):
    model = HierarchicalSymNMF(None, random_state=0).fit(nx.les_miserables_graph())
    seen = page(model, n_members=2)
    lines = tree_lines(seen)
    assert lines[:2] == ["77", "all samples"]
    assert len(seen.all("details")) == model.tree_.n_splits
    degrees = np.asarray(model.affinity_matrix_.sum(axis=1)).ravel()
    for label, leaf in enumerate(model.tree_.leaves()):
        strongest = [model.node_names_[i] for i in sorted(leaf.members, key=lambda i: -degrees[i])]
        row = [str(label), str(len(leaf.members)), ", ".join(strongest[:5])]
        assert row in [lines[i : i + 3] for i in range(len(lines))]
        assert ", ".join(strongest[:2]) in seen.text
    assert "membership_" not in vars(model)
    assert "Best connected members" in seen.text


@pytest.mark.parametrize("soft", [False, True])
def test_a_tree_of_topics_names_its_terms(page, soft):
    blocks = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    terms = ["<i>&", *"bcdef"]
    model = HierarchicalNMF(3, soft=soft, random_state=0).fit(blocks)
    assert all(line.isdigit() for line in tree_lines(page(model))[2:])  # features have no names
    seen = page(model, feature_names=terms)
    lines = tree_lines(seen)
    shown = [set(line.split(", ")[:2]) for size, line in pairwise(lines) if size == "4"]
    assert shown == [set(best) for best in model.top_terms(2, terms)]
    assert "Terms" in seen.text
    framed = HierarchicalNMF(3, soft=soft, random_state=0).fit(pd.DataFrame(blocks, columns=terms))
    assert tree_lines(page(framed)) == lines


def test_components_are_named_where_features_are(page):
    model = NMF(3, random_state=0).fit(X)
    assert "Terms" not in page(model).text
    best = [TERMS[j] for j in model.components_.argmax(axis=1)]
    cells = page(model, feature_names=pd.Index(TERMS)).text
    assert all(any(cell.startswith(f"{term}, ") for cell in cells) for term in best)
    with pytest.raises(InputError, match="feature_names has length 3; the model was fitted to 4 features"):
        page(model, feature_names=TERMS[:3])


def test_topics_show_terms_and_examples(page):
    tree = topics(DOCUMENTS * 3, 3)
    seen = page(tree, title="Words & <tags>")
    assert len(seen.all("details")) == len(tree)  # leaves unfold to their examples
    for leaf in tree.leaves:
        assert ", ".join(term for term, _ in leaf.terms[:8]) in seen.text
        assert leaf.examples[0].excerpt in seen.text
    assert not seen.all("b")
    assert "3" in page(tree.flatten()).text


def test_samples_in_no_cluster_are_counted(page):
    far = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9, [[99.0, 0.0]]])
    model = DBSCAN(1, min_samples=3).fit(far)
    text = " | ".join(page(model, labels_true=[*"aaaaabbbbbc"]).text)
    assert "samples | 11 | clusters | 2 | in no cluster | 1" in text
    assert "a (100%)" in text


def test_columns_that_are_no_clusters_choose_no_members(page):
    model = symclust.SymmetricFactorization(3, random_state=0).fit(X)
    assert model.centers_ is not None  # labels by k-means: column c of the factor is not cluster c
    assert "Best connected members" in page(model, names=range(60)).text


def test_names_are_taken_by_place(page):
    names = pd.Series([f"sample {i}" for i in range(60)], index=range(60, 0, -1))
    model = SymNMF(3, random_state=0).fit(X)
    assert page(model, names=names).text == page(model, names=names.tolist()).text


def test_a_deep_tree_starts_with_its_first_splits_open(page):
    class Chain(BaseEstimator):
        tree_ = Tree(400)
        labels_ = np.arange(400)

    tree = Chain.tree_
    for i in range(399):
        tree.split(2 * i, [[i], range(i + 1, 400)])  # the right child is number 2i + 2
    seen = page(Chain())
    opened = ["open" in attributes for attributes in seen.all("details")]
    assert opened == [True] * 30 + [False] * 369


def test_refuses_what_is_no_fitted_clustering(page):
    with pytest.raises(NotFittedError, match="SymNMF"):
        page(SymNMF())
    with pytest.raises(InputTypeError, match="which ndarray has not"):
        page(np.zeros(3))
