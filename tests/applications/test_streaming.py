"""Documents in batches: counted batch by batch, and joining a tree that is there."""

import gc
import gzip
import json
import os
import warnings
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score as nmi

import symclust
from symclust import topics
from symclust.applications.topics import _batches
from symclust.applications.topics._terms import count_terms
from symclust.exceptions import CombinationError, InputError, InputTypeError, OptionError

WORDS = {
    0: ["ice", "hockey", "puck", "team", "goal", "player", "season", "coach"],
    1: ["moon", "orbit", "rocket", "launch", "space", "crater", "probe", "dust"],
    2: ["bread", "flour", "oven", "yeast", "dough", "butter", "salt", "crust"],
}
COMMON = ["today", "report", "people", "number", "place", "small", "large", "often"]


def documents(n, seed=0, kinds=(0, 1, 2)):
    """Texts of three subjects, with words that all share, and their subjects."""
    rng = np.random.default_rng(seed)
    y = rng.choice(kinds, n)
    texts = [" ".join([*rng.choice(WORDS[kind], 8), *rng.choice(COMMON, 4)]) for kind in y]
    return texts, y


def in_batches(texts, size):
    return (texts[begin : begin + size] for begin in range(0, len(texts), size))


def same_tree(one, other):
    assert one.feature_names == other.feature_names
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert [topic.terms for topic in one] == [topic.terms for topic in other]
    assert [topic.examples for topic in one] == [topic.examples for topic in other]
    assert one.names == other.names


# Counting ------


@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_batches_give_the_tree_of_all_texts(size):
    texts, _ = documents(60)
    texts[5] = ""
    texts[9] = "<p>ice hockey</p> &amp; a puck"
    one, other = topics(texts, 3, random_state=0), topics(in_batches(texts, size), 3, random_state=0)
    same_tree(one, other)
    assert other.notes == one.notes
    assert other.empty.tolist() == [5]
    np.testing.assert_array_equal(one.place(texts[:9]).labels_, other.place(texts[:9]).labels_)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_df": 5, "max_df": 30},
        {"min_df": 0.1, "max_df": 0.4},
        {"ngram_range": (1, 2), "binary": True},
        {"stop_words": ["ice"], "dtype": np.float32},
        {"vocabulary": ["moon", "ice", "flour"]},
        {"analyzer": "char", "max_df": 1.0},
    ],
    ids=str,
)
def test_the_same_counts_as_all_at_once(options):
    texts, _ = documents(60)
    texts[20:30] = [""] * 10  # a batch without a term
    corpus, counts, vectorizer = _batches.count_batches(
        in_batches(texts, 10), "english", options, encoding="utf-8", clean=False
    )
    expected, reference = count_terms(texts, "english", options)
    assert vectorizer.get_feature_names_out().tolist() == reference.get_feature_names_out().tolist()
    np.testing.assert_array_equal(counts.toarray(), expected.toarray())
    assert counts.dtype == expected.dtype
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(counts, part), getattr(expected.sorted_indices(), part))
    np.testing.assert_array_equal(vectorizer.transform(texts[:4]).toarray(), expected[:4].toarray())
    assert len(corpus) == 60


def test_the_most_frequent_terms_alone():
    texts = ["ice ice ice moon", "ice moon moon salt", "flour moon ice salt"]
    _, counts, vectorizer = _batches.count_batches(
        in_batches(texts, 2), None, {"max_features": 2, "min_df": 1}, encoding="utf-8"
    )
    assert vectorizer.get_feature_names_out().tolist() == ["ice", "moon"]
    assert counts.toarray().tolist() == [[3, 1], [1, 2], [1, 1]]


@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 2)}, {"dtype": np.float32, "max_df": 0.4}], ids=str
)
@pytest.mark.parametrize("size", [1, 25])
def test_of_equally_frequent_terms_the_same_are_taken_as_all_at_once(options, size):
    texts, _ = documents(100)
    rng = np.random.default_rng(0)
    rare = [f"{a}{b}" for a in "bcdfghjklmnp" for b in "aeiou"]
    texts = [" ".join([text, *rng.choice(rare, 3)]) for text in texts]  # many rare terms, with many ties
    for most in (30, 45, 60):
        wanted = {**options, "max_features": most, "min_df": 1}
        expected, reference = count_terms(texts, None, wanted)
        _, counts, vectorizer = _batches.count_batches(
            in_batches(texts, size), None, wanted, encoding="utf-8", clean=False
        )
        assert vectorizer.get_feature_names_out().tolist() == reference.get_feature_names_out().tolist()
        np.testing.assert_array_equal(counts.toarray(), expected.toarray())


def test_a_vocabulary_that_grows_too_large_loses_rare_terms(monkeypatch):
    monkeypatch.setattr(_batches, "MOST_TERMS", 40)
    texts, y = documents(200)
    texts = [f"{text} once{number}word" for number, text in enumerate(texts)]
    tree = topics(in_batches(texts, 10), 3, min_df=2, random_state=0)
    assert any("rare terms were dropped while counting, to keep at most 40" in note for note in tree.notes)
    assert nmi(y, tree.labels_) > 0.9
    assert not any("once" in term for term in tree.feature_names)


def test_what_a_batch_may_be():
    texts, _ = documents(30)
    named = {f"doc {i}": text for i, text in enumerate(texts[10:20])}
    series = pd.Series(texts[20:], index=[f"row {i}" for i in range(10)])
    tree = topics(iter([tuple(texts[:10]), named, series]), 3, random_state=0)
    assert tree.names == [*map(str, range(10)), *named, *series.index]
    again = topics(iter([np.array(texts)]), 3, random_state=0)
    np.testing.assert_array_equal(again.labels_, tree.labels_)


def test_documents_of_an_iterator_are_no_batches():
    texts, _ = documents(30)
    texts[0] = ""
    same_tree(topics(texts, 3, random_state=0), topics(iter(texts), 3, random_state=0))


def test_texts_are_let_go():
    """While a batch is counted, no text of an earlier one is there any more."""
    alive = []

    class Text(str):
        __slots__ = ("__weakref__",)

    def batches():
        earlier = []
        for batch in in_batches(documents(60)[0], 20):
            texts = [Text(text) for text in batch]
            gc.collect()
            alive.append(sum(reference() is not None for reference in earlier))
            earlier += [weakref.ref(text) for text in texts]
            yield texts
            del texts

    topics(batches(), 3, random_state=0)
    assert alive == [0, 0, 0]


@pytest.mark.parametrize(
    ("texts", "options", "error", "message"),
    [
        ([["ice", "hockey"], ["moon"]], {}, InputTypeError, "Document 0 is of type list"),
        (iter([["ice hockey"], "moon"]), {}, InputTypeError, "come as a str, where batches came before"),
        (iter([["ice hockey"], [3]]), {}, InputTypeError, "is of type int"),
        (iter([sparse.csr_array(np.eye(3))]), {}, InputTypeError, "only texts are taken in batches"),
        (iter([["ice hockey"]]), {"feature_names": ["a"]}, InputError, "feature_names belong to a matrix"),
        (iter([["ice hockey"]]), {"min_df": -1}, OptionError, "min_df"),
        (iter([["ice hockey"]]), {"min_df": 9}, InputError, "No terms are left in 1 documents"),
        (iter([[], []]), {}, InputError, "No terms are left in 0 documents"),
    ],
)
def test_batches_that_cannot_be_counted(texts, options, error, message):
    with pytest.raises(error, match=message):
        topics(texts, 2, **options)


# Joining ------


def test_documents_join_the_topics_they_are_about():
    texts, y = documents(150)
    whole = topics(texts, 3, random_state=0)
    tree = topics(texts[:75], 3, random_state=0)
    before, shape = tree.labels_, [(topic.number, topic.parent, topic.children) for topic in tree]
    for batch in in_batches(texts[75:], 25):
        assert tree.partial_fit(batch) is tree
    assert nmi(y, tree.labels_) > 0.95
    assert nmi(y, tree.labels_) > nmi(y, whole.labels_) - 0.02
    assert np.mean(tree.labels_[:75] == before) > 0.95
    assert [(topic.number, topic.parent, topic.children) for topic in tree] == shape
    assert tree.names == [str(number) for number in range(150)]
    assert tree.membership_.shape == (150, 3)
    for leaf in tree.leaves:
        np.testing.assert_array_equal(leaf.documents, np.flatnonzero(tree.labels_ == leaf.label))
    assert tree.topics[0].size == 150
    for topic in tree:
        assert len(topic.examples) == 3
        assert all(example.excerpt in texts[example.document] for example in topic.examples)
        assert all(example.name == str(example.document) for example in topic.examples)


def test_centres_and_scores_are_those_of_the_documents():
    texts, _ = documents(90)
    tree = topics(texts[:60], 3, random_state=0).partial_fit(texts[60:])
    model = tree._fitted.model
    X = model.X.toarray()
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    for label, center in enumerate(model.components_):
        total = X[model.labels_ == label].sum(axis=0)
        np.testing.assert_allclose(center, total / np.linalg.norm(total), atol=1e-12)
    for node in model.tree_.nodes:
        if node.children:
            sums = [X[model.tree_.nodes[child].members].sum(axis=0) for child in node.children]
            score = sum(map(np.linalg.norm, sums)) - np.linalg.norm(sum(sums))
            assert node.score == pytest.approx(score)
    assert (X @ model.components_.T).argmax(axis=1).tolist() == model.labels_.tolist()


def test_counts_join_counts():
    X = np.kron(np.eye(2), np.ones((6, 4))) + np.random.default_rng(0).integers(0, 2, (12, 8))
    order = np.random.default_rng(1).permutation(12)
    tree = topics(sparse.csr_array(X[order][:8]), 2, random_state=0)
    new = sparse.csr_array(X[order][8:])
    tree.partial_fit(new)
    assert nmi(order // 6, tree.labels_) == pytest.approx(1)
    assert tree.topics[0].size == 12
    assert "4 documents joined the first 8." in tree.notes
    with pytest.raises(InputError, match="7 columns"):
        tree.partial_fit(np.ones((1, 7)))


def test_documents_without_terms_join_nothing():
    texts, _ = documents(40)
    tree = topics(texts, 3, random_state=0)
    with pytest.warns(UserWarning, match="100% of the words of the 2 new documents are none of the"):
        tree.partial_fit(["", "zebra quagga"])
    assert tree.empty.tolist() == [40, 41]
    assert tree.labels_[40:].tolist() == [-1, -1]
    tree.partial_fit({"a name": "hockey"})
    assert tree.names[-1] == "a name"
    assert tree.one_word.tolist() == [42]


def test_new_words_are_told():
    texts, _ = documents(60)
    tree = topics(texts, 3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.partial_fit(documents(20, seed=1)[0])
    assert tree.notes[-1] == "20 documents joined the first 60; 0% of their words are none of the terms."
    strange = [f"violin quartet sonata concert {text}" for text in documents(5, seed=2)[0]]
    tree.partial_fit(strange)  # 4 of 16 words are new, and some are stop words
    assert "27% of their words" in tree.notes[-1]
    with pytest.warns(UserWarning, match="80% of the words .* none of the 31 terms of the topics"):
        tree.partial_fit(["violin quartet sonata concert hockey"])


def test_saved_trees_go_on(tmp_path):
    texts, _ = documents(90)
    tree = topics(in_batches(texts[:50], 25), 3, random_state=0, n_terms=5, n_examples=2)
    tree.partial_fit(texts[50:70])
    tree.save(tmp_path / "tree.zip")
    loaded = symclust.load(tmp_path / "tree.zip")
    for one in (tree, loaded):
        one.partial_fit(texts[70:])
    same_tree(tree, loaded)
    assert {len(topic.terms) for topic in loaded} == {5}
    assert max(len(topic.examples) for topic in loaded) == 2


def test_a_failed_call_leaves_the_tree_as_it_was():
    texts, _ = documents(40)
    tree = topics(texts, 3, random_state=0)
    before = dict(vars(tree))
    with pytest.raises(InputTypeError, match="Document 1"):
        tree.partial_fit(["hockey", 3])
    with pytest.raises(InputError, match="columns"):
        tree.partial_fit(np.ones((1, 3)))
    assert vars(tree) == before
    rough = topics(texts, 3, refine=False, random_state=0)
    with pytest.raises(CombinationError, match="refine=False"):
        rough.partial_fit(texts)


def test_abstracts_that_join_are_placed_as_well_as_if_they_had_been_there():
    """A labelled collection, looked at to compare the two."""
    path = Path(os.environ.get("SYMCLUST_DATA", ""), "wos1k.jsonl.gz")
    if not path.is_file():
        pytest.skip("set SYMCLUST_DATA to the folder that has wos1k.jsonl.gz")
    with gzip.open(path, "rt") as file:
        rows = [json.loads(line) for line in file]
    rows = [rows[number] for number in np.random.default_rng(0).permutation(len(rows))]
    texts, y = [row["text"] for row in rows], [row["label"] for row in rows]
    tree = topics(texts[:500], 7, random_state=0)
    for batch in in_batches(texts[500:], 100):
        tree.partial_fit(batch)
    assert nmi(y, tree.labels_) > nmi(y, topics(texts, 7, random_state=0).labels_) - 0.05
