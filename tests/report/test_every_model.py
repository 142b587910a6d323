"""A report of any clustering: of every estimator, of topics, of scikit-learn's own."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN
from sklearn.exceptions import NotFittedError

import symclust
from symclust import NMF, DivisiveClustering, HierarchicalNMF, HierarchicalSymNMF, SymNMF, subtypes, topics
from symclust.exceptions import InputError, InputTypeError
from symclust.hierarchy import Tree
from symclust.report import write_report
from symclust.selection import Curve, Selection

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


def tree_words(page):
    """The text of the tree."""
    first = page.text.index("Tree of clusters")
    return " ".join(page.text[first + 2 : page.text.index("Clusters and their members")])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator(cls, page):
    model = cls(SymNMF(2), 3) if cls is DivisiveClustering else cls(3)
    model.fit(X)
    seen = page(model, labels_true=np.array(["<i>", "y", "z"])[np.arange(60) // 20], names=range(60))
    assert "Three clusters in 60 samples." in seen.words
    assert "clusters agree with them for" in seen.words
    assert f"Parameters of {cls.__name__}" in seen.words
    assert ("Tree of clusters" in seen.words) == hasattr(model, "tree_")
    assert ("Similarity, ordered by cluster" in seen.words) == hasattr(model, "affinity_matrix_")
    assert ("Relative error" in seen.words) == hasattr(model, "relative_error_")
    assert model.stop_reason_.rstrip(".") in seen.words
    assert all("nan" not in a["alt"] for a in seen.all("img"))
    assert not seen.all("i")  # escaped
    assert len([a for a in seen.all("li") if a.get("class") == "cluster"]) == 3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_every_estimator_has_a_summary_for_notebooks(cls):
    model = cls(SymNMF(2), 3) if cls is DivisiveClustering else cls(3)
    assert "symclust-summary" not in model._repr_html_()
    model.fit(X)
    assert "<b>Three clusters in 60 samples.</b>" in model._repr_html_()
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert bundle["text/html"].count("symclust-summary") == 1
    assert "sk-" in bundle["text/html"]  # scikit-learn's diagram is still there


def test_a_tree_of_communities_names_its_best_connected(page):
    model = HierarchicalSymNMF(None, random_state=0).fit(nx.les_miserables_graph())
    seen = page(model, n_members=2)
    words = tree_words(seen)
    assert "all nodes · 77" in words
    trees = [a for a in seen.all("details") if a]
    assert len(trees) == model.tree_.n_splits
    for one in model.describe():
        assert f"{one.cluster} {one.name} · {one.size}" in words
    assert "membership_" not in vars(model)


def test_a_tree_of_topics_names_its_terms(page):
    blocks = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    terms = ["<i>&", *"bcdef"]
    model = HierarchicalNMF(3, random_state=0).fit(blocks)
    assert "x0, x1 · 4" in tree_words(page(model))  # features have no names
    seen = page(model, feature_names=terms)
    for label, best in enumerate(model.top_terms(2, terms)):
        orders = (f"{label} {best[0]} , {best[1]} ,", f"{label} {best[1]} , {best[0]} ,")
        assert any(words in tree_words(seen) for words in orders)
    framed = HierarchicalNMF(3, random_state=0).fit(pd.DataFrame(blocks, columns=terms))
    assert tree_words(page(framed)) == tree_words(seen)


def test_components_are_named_where_features_are(page):
    model = NMF(3, random_state=0).fit(X)
    best = model.components_.argmax(axis=1)
    for names, options in ((["x0", "x1", "x2", "x3"], {}), (TERMS, {"feature_names": pd.Index(TERMS)})):
        cells = page(model, **options).text
        assert all(any(cell.startswith(f"{names[j]} ") for cell in cells) for j in best)
    with pytest.raises(InputError, match="feature_names has length 3; the data have 4 features"):
        page(model, feature_names=TERMS[:3])


def test_topics_show_terms_and_examples(page, tmp_path, sketched):
    tree = topics(DOCUMENTS * 3, 3)
    seen = page(tree, title="Words & <tags>")
    assert "Three topics in 27 documents." in seen.words
    assert len(seen.all("details")) == len(tree) + 2  # leaves unfold to examples; parameters of the two steps
    for leaf in tree.leaves:
        assert " , ".join(term for term, _ in leaf.terms[:8]) in seen.words
        assert leaf.examples[0].excerpt in seen.text
    assert not seen.all("b")
    assert tree.report(tmp_path / "b.html").read_text(encoding="utf-8").count("Topics within topics") == 1
    assert "<b>Three topics in 27 documents.</b>" in tree._repr_html_()
    assert "topics in 27 documents." in page(tree.flatten()).words


@pytest.mark.filterwarnings("ignore")
def test_subtypes_show_marker_genes_and_the_choice(page, tmp_path, sketched):
    rng = np.random.default_rng(0)
    means = np.ones((3, 90))
    for c in range(3):
        means[c, 10 * c : 10 * c + 10] = 8
    values = rng.poisson(20 * np.repeat(means, 12, axis=0)).astype(float)
    genes = ["<gene>", *(f"gene {i}" for i in range(1, 90))]
    answer = subtypes(values, 3, genes=genes, orientation="samples", random_state=0)
    seen = page(answer)
    assert "Three subtypes in 36 samples." in seen.words
    assert "Marker genes" in seen.words
    for marker in answer.markers(n=3):
        assert marker.gene in seen.words
    assert "Parameters of AffineNMF" in seen.text
    assert not seen.all("gene")
    assert "Marker genes" in answer.report(tmp_path / "b.html").read_text(encoding="utf-8")
    assert "Three subtypes" in answer._repr_html_()


def test_a_segmentation_shows_its_image(page):
    image = np.random.default_rng(0).random((20, 30, 3))
    labels = (np.arange(600).reshape(20, 30) % 30 > 9).astype(int)
    seen = page(SimpleNamespace(image=image, labels=labels))
    assert "Two segments in 600 pixels." in seen.words
    assert "holds 67% of all pixels" in seen.words
    alts = [a["alt"] for a in seen.all("img")]
    assert alts[:2] == ["The image", "The image with every segment in its mean colour"]


def test_a_choice_alone_is_a_part(page):
    curves = {"silhouette": Curve(np.array([0.4, 0.7, np.nan]))}
    choice = Selection(3, "silhouette", np.array([2, 3, 4]), "silhouette", curves, "3 clusters, says <s>.")
    seen = page(choice)
    assert "3 clusters fit best." in seen.words and "3 clusters, says <s>." in seen.words
    assert "3 (chosen) 0.7 4 –" in seen.words
    assert not seen.all("s")


def test_a_number_that_was_chosen_is_explained(page):
    model = SymNMF("auto", random_state=0).fit(X)
    seen = page(model)
    assert model.selection_.sentence in seen.words
    assert "The number was not given: it was chosen from the data" in seen.words
    assert "How many clusters?" in seen.text
    assert f"Number chosen by {model.selection_.method}" in seen.words


def test_samples_in_no_cluster_are_counted(page):
    far = np.vstack([np.zeros((5, 2)), np.ones((5, 2)) * 9, [[99.0, 0.0]]])
    model = DBSCAN(1, min_samples=3).fit(far)
    words = page(model, labels_true=[*"aaaaabbbbbc"]).words
    assert "Two clusters in 11 samples." in words
    assert "1 sample (9%) belongs to no cluster" in words
    assert "in no cluster 1" in words
    assert "a (100%)" in words


def test_columns_that_are_no_clusters_say_nothing_of_belonging(page):
    model = symclust.SymmetricFactorization(3, random_state=0).fit(X)
    assert model.centers_ is not None  # labels by k-means: column c of the factor is not cluster c
    assert "can be expected in the right one" in page(model, names=range(60)).words


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
    folds = [a for a in seen.all("details") if a.get("class") != "more"][:399]
    assert ["open" in attributes for attributes in folds] == [True] * 30 + [False] * 369
    assert "The 200 smallest clusters are not listed." in seen.words


def test_refuses_what_is_no_fitted_clustering(page):
    with pytest.raises(NotFittedError, match="SymNMF"):
        page(SymNMF())
    with pytest.raises(InputTypeError, match="which ndarray does not have"):
        page(np.zeros(3))
