"""Topics from embeddings, their names, unions and groups; tables of several columns of text."""

import numpy as np
import pandas as pd
import pytest

import symclust
from symclust.applications import topics
from symclust.applications.topics._topic import distinct, telling
from symclust.exceptions import CombinationError, InputError, OptionError

from .conftest import WORDS


@pytest.fixture(scope="module")
def embedded(corpus):
    """Return vectors in which the first subject is divided in two, and the other two are one."""
    rng = np.random.RandomState(0)
    subjects = np.repeat([0, 1, 2, 3], [15, 15, 30, 30])
    centers = np.array([[9.0, 0, 0], [0, 9, 0], [0, 0, 9], [0, 0, 9]])
    return centers[subjects] + rng.normal(size=(90, 3)), np.minimum(subjects, 2)


def test_embeddings_say_which_documents_belong_together_and_words_what_they_are_about(corpus, embedded):
    E, groups = embedded
    tree = topics(corpus[0], 3, embeddings=E, random_state=0)
    pairs = set(zip(tree.labels_.tolist(), groups.tolist(), strict=True))
    assert len(pairs) == 3 and not tree.notes
    halves = [leaf for leaf in tree.leaves if leaf.size == 15]
    assert all({term for term, _ in leaf.terms[:4]} <= set(WORDS["sport"]) for leaf in halves)
    assert tree.place(["orbit of the moon"]).labels_[0] == tree.labels_[-31]
    assert topics(corpus[0], "auto", embeddings=E, random_state=0).selection_.n_clusters == 3
    with pytest.raises(CombinationError, match="come from embeddings"):
        tree.partial_fit(corpus[0][:3])


def test_the_tree_above_is_that_of_the_embeddings(corpus):
    subjects = np.repeat([0, 1, 2], 30)
    E = np.array([[1.0, 0, 0.1], [0, 1, 0], [1, 0, -0.1]])[subjects]  # food is near to sport
    tree = topics(corpus[0], 3, embeddings=E + 1e-3 * np.arange(90)[:, None] % 7, random_state=0)
    far = next(topic for topic in tree if topic.is_leaf and topic.depth == 1)
    assert set(subjects[far.documents]) == {1}


@pytest.mark.parametrize("options", [{"refine": False}, {"model_params": {"tol": 1e-3}}])
def test_embeddings_leave_no_choice_of_splits(corpus, embedded, options):
    with pytest.raises(CombinationError, match="there is no tree of splits"):
        topics(corpus[0], 2, embeddings=embedded[0], **options)


def test_embeddings_of_other_documents_are_refused(corpus, embedded):
    with pytest.raises(InputError, match="embeddings has 80 rows, and there are 90 documents"):
        topics(corpus[0], 3, embeddings=embedded[0][:80])


@pytest.fixture
def own(corpus):
    return topics(corpus[0], 3, random_state=0)


def test_names_are_shown_and_stay(corpus, own, tmp_path):
    own.rename({1: "The second"}).rename(lambda leaf: leaf.name or leaf.terms[0][0].title())
    names = [leaf.name for leaf in own.leaves]
    assert names[1] == "The second" and "[1] The second: " in str(own)
    assert own.topics_dataframe()["name"].tolist()[-1] == names[-1]
    assert own.describe()[1].name.startswith("The second")
    own.save(tmp_path / "tree.zip")
    assert [leaf.name for leaf in symclust.load(tmp_path / "tree.zip").leaves] == names
    assert [leaf.name for leaf in own.partial_fit(corpus[0][:5]).leaves] == names


@pytest.mark.parametrize("names", [{7: "x"}, {0: 3}, lambda leaf: None])
def test_names_that_are_none_are_refused(own, names):
    with pytest.raises(OptionError, match="give strings for labels of leaves, from 0 to 2"):
        own.rename(names)


def test_leaves_are_joined(own):
    before, shown = own.labels_.copy(), own.topics[1].examples
    own.rename({0: "a", 1: "b", 2: "c"}).merge([0, 2])
    assert len(own.leaves) == 2 == own.n_clusters_
    same = {(old in (0, 2), new) for old, new in zip(before, own.labels_, strict=True) if old >= 0}
    assert len(same) == 2
    assert sorted(leaf.name for leaf in own.leaves) == ["", "b"]
    assert shown and all(example.excerpt for leaf in own.leaves for example in leaf.examples)
    assert own.flatten().components_.shape[0] == 2 and own.place(["hockey"]).membership_.shape == (1, 2)
    assert len(own.merge([0, 1]).leaves) == 1


@pytest.mark.parametrize("groups", [([0, 9],), ([0, 1], [1, 2]), ([0, 0],)])
def test_leaves_that_are_not_there_or_twice_are_not_joined(own, groups):
    with pytest.raises(OptionError, match="labels of leaves, from 0 to 2, none of them twice"):
        own.merge(*groups)


def test_topics_of_splits_alone_cannot_be_joined(corpus):
    tree = topics(corpus[0], 3, refine=False, random_state=0)
    for call in (lambda: tree.merge([0, 1]), lambda: tree.by(np.zeros(90))):
        with pytest.raises(CombinationError, match="refine=False"):
            call()


def test_groups_of_documents(corpus, own):
    years = np.where(np.arange(90) % 2, 1999, 2001)
    years[:30] = 1999
    table = own.by(years, n_terms=3)
    assert table.groupby("group")["documents"].sum().tolist() == [60, 30]
    np.testing.assert_allclose(table.groupby("group")["share"].sum(), 1)
    sport = own.labels_[0]
    assert table[table["topic"] == sport]["group"].tolist() == [1999]
    assert set(table[table["topic"] == sport]["terms"].iloc[0].split(", ")) <= set(WORDS["sport"])
    assert own.by([None, *["a"] * 89])["documents"].sum() == 89
    with pytest.raises(InputError, match="groups has 3 entries, and there are 90 documents"):
        own.by([1, 2, 3])


def test_columns_of_text_are_joined(corpus):
    texts = corpus[0]
    halves = [(" ".join(text.split()[:10]), " ".join(text.split()[10:])) for text in texts]
    table = pd.DataFrame(halves, columns=["title", "text"], index=[f"d{i}" for i in range(90)])
    tree, whole = topics(table, 3, random_state=0), topics(texts, 3, random_state=0)
    np.testing.assert_array_equal(tree.labels_, whole.labels_)
    assert tree.names[:2] == ["d0", "d1"]
    table.loc["d3", "title"] = None
    assert topics(table, 3, random_state=0).labels_.shape == (90,)


def test_a_word_and_its_plural_are_one():
    assert distinct(["cats", "cat", "bus", "buses", "analysis", "boxes", "a", "classes", "class"], 9) == [
        *("cats", "bus", "buses", "analysis", "boxes", "a", "classes"),
    ]
    assert distinct(["one", "ones", "two"], 1) == ["one"]


def test_what_all_documents_have_tells_nothing():
    tells = telling(np.array([10, 10, 1, 0]), 10, np.array([100, 10, 1, 50]), 100)
    assert tells[0] == 0 == tells[3] and tells[1] > tells[2] > 0
