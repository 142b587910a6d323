"""From documents to a tree of topics."""

import json
import pickle
import re
import sys
import warnings
from unicodedata import normalize

import hypothesis
import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

from symclust import HierarchicalNMF
from symclust.applications import topics
from symclust.applications.topics._counting import ANY_WORD, JOINERS, WordCounter, token_pattern
from symclust.applications.topics._refinement import RefinedTopics
from symclust.documents import DocumentWeights
from symclust.exceptions import (
    CombinationError,
    InputError,
    InterruptedWarning,
    MissingExtraError,
    OptionError,
)
from symclust.metrics import topic_coherence

from .conftest import COMMON, WORDS


def test_the_subjects_are_found_and_named(corpus, tree):
    _, subjects = corpus
    assert len(tree.leaves) == 3
    fitting = tree.labels_ >= 0
    assert adjusted_rand_score(subjects[fitting], tree.labels_[fitting]) > 0.9
    for leaf in tree.leaves:
        subject = subjects[leaf.documents[0]]
        assert {term for term, _ in leaf.terms[:5]} <= set(WORDS[subject])


def test_topics_hold_what_they_say(corpus, tree):
    texts, _ = corpus
    root = tree[0]
    assert root is tree.topics[0] and root.parent is None and root.depth == 0
    assert sorted(root.documents) == [i for i in range(90) if i not in tree.empty]
    for topic in tree:
        assert topic.size == len(topic.documents)
        assert list(topic.children) == [t.number for t in tree if t.parent == topic.number]
        for example in topic.examples:
            assert example.document in topic.documents
            assert texts[example.document].startswith(example.excerpt[:50])
        similarities = [example.similarity for example in topic.examples]
        assert similarities == sorted(similarities, reverse=True) and 0 < similarities[0] <= 1 + 1e-9
        assert all(weight > 0 for _, weight in topic.terms)
    for leaf in tree.leaves:
        np.testing.assert_array_equal(np.flatnonzero(tree.labels_ == leaf.label), np.sort(leaf.documents))


def test_coherence_is_that_of_the_terms_shown(corpus, tree):
    texts, _ = corpus
    counts = CountVectorizer()
    X = counts.fit_transform(texts)
    for topic in tree:
        terms = [counts.vocabulary_[term] for term, _ in topic.terms]
        assert topic.coherence == pytest.approx(topic_coherence(X, [terms])[0])


def test_numbers_and_stop_words_are_no_terms(tree):
    terms = {term for term, _ in tree[0].terms}
    assert not terms & {"the", "of", "42", "7th"}
    assert tree.membership_.shape == (90, 3)


def test_empty_and_one_word_documents_are_reported(corpus):
    texts = ["", *corpus[0], "of the", "hockey", None]
    tree = topics(texts, 3, random_state=0)
    assert tree.empty.tolist() == [0, 91, 93]
    assert tree.one_word.tolist() == [92]
    assert tree.labels_[[0, 91, 93]].tolist() == [-1, -1, -1]
    assert not tree.membership_[[0, 91, 93]].any()
    assert "3 without terms" in repr(tree)


def test_assign_places_new_documents(corpus, tree):
    texts, subjects = corpus
    found = tree.place(
        ["the puck and the team on ice", "rocket to the moon", "zzz", "", "bake bread with flour"]
    )
    assert found.labels_[2:4].tolist() == [-1, -1]
    for row, subject in [(0, "sport"), (1, "space"), (4, "food")]:
        leaf = tree.leaves[found.labels_[row]]
        assert subjects[leaf.documents[0]] == subject
        assert found.membership_[row].argmax() == found.labels_[row]
    assert not found.membership_[2:4].any()
    assert (tree.place(texts).labels_ == tree.flatten().labels_).mean() > 0.95


def test_assign_solves_one_problem_once(corpus, tree, monkeypatch):
    calls = []
    transform = RefinedTopics.transform
    monkeypatch.setattr(RefinedTopics, "transform", lambda *given: calls.append(1) or transform(*given))
    np.testing.assert_array_equal(tree.place(corpus[0]).labels_, tree.flatten().labels_)
    assert len(calls) == 1


def test_flatten_gives_every_document_with_terms_a_topic(corpus):
    texts, subjects = corpus
    flat = topics(["", *texts], 3, random_state=0).flatten()
    assert flat.labels_[0] == -1 and flat.labels_[1:].min() == 0
    assert adjusted_rand_score(subjects, flat.labels_[1:]) > 0.9
    assert flat.membership_.shape == (91, 3) and len(flat.terms) == 3
    assert flat.components_.shape[0] == 3


def test_a_matrix_gives_the_topics_of_its_texts(corpus, tree):
    names = np.array(tree.feature_names)
    X = CountVectorizer(vocabulary=names).fit_transform(corpus[0])
    for matrix, options in [
        (X, {"feature_names": names}),
        (sparse.csr_array(X), {"feature_names": list(names)}),
        (pd.DataFrame(X.toarray(), columns=names), {}),
    ]:
        found = topics(matrix, 3, random_state=0, **options)
        np.testing.assert_array_equal(found.labels_, tree.labels_)
        assert [t.terms[0][0] for t in found] == [t.terms[0][0] for t in tree]
        np.testing.assert_array_equal(found.place(X).labels_, tree.place(corpus[0]).labels_)
    with pytest.raises(CombinationError, match="come from a matrix of counts"):
        found.place(["hockey"])
    with pytest.raises(InputError, match="has 2 columns, but the topics know"):
        found.place(np.ones((1, 2)))
    with pytest.raises(CombinationError, match="'min_df' cannot be used"):
        topics(X, 3, min_df=2)


def test_columns_of_new_documents_are_known_by_their_names(corpus, tree):
    names = tree.feature_names
    table = pd.DataFrame(CountVectorizer(vocabulary=names).fit_transform(corpus[0]).toarray(), columns=names)
    named, unnamed = (topics(X, 3, random_state=0) for X in (table, table.to_numpy()))
    mixed = table[names[::-1]]
    for found in (tree, named):
        with pytest.raises(InputError, match=rf"Column 0 of the table is '{names[-1]}'.*table\[tree.feature"):
            found.place(mixed)
        np.testing.assert_array_equal(found.place(mixed[names]).labels_, tree.place(corpus[0]).labels_)
    np.testing.assert_array_equal(unnamed.place(table).labels_, tree.place(corpus[0]).labels_)


def test_a_folder_and_json_lines_give_the_topics_of_their_texts(corpus, tree, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for number, text in enumerate(corpus[0]):
        (folder / f"{number:03}.txt").write_text(text)
    lines = tmp_path / "docs.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in corpus[0]))
    for source, name in [(folder, "007.txt"), (lines, "line 8")]:
        found = topics(source, 3, random_state=0)
        np.testing.assert_array_equal(found.labels_, tree.labels_)
        assert found.names[7] == name


@pytest.mark.filterwarnings("error")
def test_options_of_the_vectoriser_pass_through(corpus):
    texts = corpus[0]
    pairs = topics(texts, 3, random_state=0, ngram_range=(2, 2), min_df=1, max_df=1.0)
    assert all(" " in term for topic in pairs for term, _ in topic.terms)
    letters = topics(texts, 2, random_state=0, analyzer="char", ngram_range=(3, 3))
    assert all(len(term) == 3 for term, _ in letters[0].terms)
    own = topics(texts, 2, random_state=0, stop_words={"hockey", "moon"})
    assert not {"hockey", "moon"} & {term for topic in own for term, _ in topic.terms}
    single = topics(texts, 2, random_state=0, dtype=np.float32)
    assert single.membership_.dtype == single.place(texts[:2]).membership_.dtype == np.float32
    called = topics(texts, 2, random_state=0, analyzer=str.split, max_df=1.0)
    assert "the" in called.feature_names
    tokens = topics(texts, 2, random_state=0, tokenizer=str.split, language=None, max_df=1.0)
    assert "42" in tokens.feature_names


def test_options_are_checked(corpus):
    texts = corpus[0]
    with pytest.raises(OptionError, match=r"'stopwords' is neither an option of topics.*stop_words"):
        topics(texts, stopwords=["a"])
    with pytest.raises(OptionError, match="'input' is neither"):
        topics(texts, input="filename")
    with pytest.raises(OptionError, match=r"language='german' has no list.*stop_words=\[...\]"):
        topics(texts, language="german")
    assert topics(texts, 2, language="german", stop_words=["der"], random_state=0).leaves
    with pytest.raises(OptionError, match="min_df"):
        topics(texts, min_df="often")
    with pytest.raises(OptionError, match="Invalid value for ngram_range"):
        topics(texts, ngram_range=(2, 1))
    with pytest.raises(OptionError, match="CountVectorizer: missing \\)"):
        topics(texts, token_pattern="(")
    for wrong in ({"n_clusters": 3}, {"outliers": 9}, 3):
        with pytest.raises(OptionError, match=r"dict of parameters of HierarchicalNMF: .*outlier_ratio"):
            topics(texts, model_params=wrong)
    with pytest.raises(OptionError, match="n_topics=0"):
        topics(texts, 0)
    with pytest.raises(OptionError, match="n_examples"):
        topics(texts, n_examples=-1)


@pytest.mark.parametrize("texts", [["the of", "and"], ["", ""], []])
def test_documents_without_terms_are_refused(texts):
    with pytest.raises(InputError, match=r"No terms are left|nothing to cluster"):
        topics(texts)


def test_tiny_collections():
    one = topics(["hockey on ice"], random_state=0)
    assert one.labels_.tolist() == [0]
    assert str(one) == "1 document, 1 topic\n└─ [0] hockey, ice  (1)"
    two = topics(["hockey on ice", "moon orbit"], random_state=0)
    assert len(two.leaves) <= 2
    same = topics(["ice ice hockey"] * 4, random_state=0)
    assert len(same.leaves) >= 1
    assert str(same).startswith("4 documents")


@pytest.mark.filterwarnings("error")
def test_fewer_topics_than_asked_are_a_note_and_no_warning():
    tree = topics(["ice hockey"] * 6, 5, random_state=0)
    assert tree.notes == ["Only 1 topic was found of the 5 asked for: no topic can be split further."]


def test_the_note_says_why_there_are_fewer(corpus):
    def note(**params):
        return topics(corpus[0], 9, random_state=0, model_params=params).notes[0]

    assert note(score_threshold=1e9) == (
        "Only 2 topics were found of the 9 asked for: no topic reaches the score_threshold."
    )
    assert note(callback=lambda step: step.iteration == 2).startswith(
        "Only 3 topics were found of the 9 asked for: stopped by the callback"
    )


def test_an_interrupted_run_warns_and_is_noted(corpus):
    def interrupt(step):
        raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted") as caught:
        tree = topics(corpus[0], 9, random_state=0, model_params={"callback": interrupt})
    assert caught[0].filename == __file__
    assert "of the 9 asked for: interrupted" in tree.notes[0]


def test_other_warnings_pass(corpus):
    def complain(step):
        warnings.warn("so it goes", InterruptedWarning, stacklevel=1)

    with pytest.warns(InterruptedWarning, match="so it goes") as caught:
        topics(corpus[0], 2, random_state=0, model_params={"callback": complain})
    assert caught[0].filename == __file__


def test_outliers_are_kept_apart(corpus):
    # Copies of a text that shares no word with the others are cut off first, and are worth no topic.
    odd = ["lorem ipsum dolor sit amet consectetur"] * 2
    tree = topics([*corpus[0], *odd], 3, min_df=1, random_state=0)
    apart = [number for number in range(92) if tree.labels_[number] < 0]
    assert tree.outliers.tolist() == apart
    assert tree.to_dict()["outliers"] == [str(number) for number in apart]
    assert not tree.membership_[apart].any()
    assert tree.flatten().labels_[:90].min() >= 0


def test_parameters_of_the_hierarchy_pass_through(corpus):
    few = topics(corpus[0], None, random_state=0, model_params={"score_threshold": 0.9})
    assert len(few.leaves) == 2


def test_without_refinement_the_tree_is_that_of_the_model(corpus):
    texts = corpus[0]
    tree = topics(texts, 3, random_state=0, refine=False)
    X = DocumentWeights().fit_transform(CountVectorizer(vocabulary=tree.feature_names).fit_transform(texts))
    model = HierarchicalNMF(3, outlier_ratio=30.0, criterion="energy", random_state=0).fit(X)
    np.testing.assert_array_equal(tree.labels_, model.labels_)


@pytest.mark.parametrize("params", [None, {}, {"score_threshold": None}])
def test_without_a_number_of_topics_a_threshold_is_asked_for(corpus, params):
    with pytest.raises(
        OptionError, match=r"n_topics=None needs another way to end.*score_threshold"
    ) as refused:
        topics(corpus[0], None, model_params=params)
    assert "n_clusters" not in str(refused.value)


def test_copies_of_a_document_are_one_example():
    texts = ["hockey on ice"] * 5 + ["hockey team on the ice rink"] + ["moon orbit"] * 3
    tree = topics(texts, 2, random_state=0)
    for topic in tree:
        excerpts = [example.excerpt for example in topic.examples]
        assert len(excerpts) == len(set(excerpts))


def test_plain_data(corpus, tree):
    data = tree.to_dict()
    assert json.loads(tree.to_json()) == data
    assert data["n_documents"] == 90 and data["n_topics"] == 3
    leaves, waiting = [], [data["tree"]]
    while waiting:
        entry = waiting.pop()
        waiting += entry.get("children", [])
        leaves += [] if "children" in entry else [entry]
    listed = sorted(name for leaf in leaves for name in leaf["documents"])
    assert sorted(listed + data["outliers"] + data["empty"]) == sorted(tree.names)
    assert "documents" not in tree.to_json(documents=False).replace("n_documents", "")


def test_json_keeps_letters_of_all_alphabets():
    tree = topics(
        ["хоккей лёд", "хоккей шайба лёд", "луна орбита", "луна ракета"], 2, language=None, random_state=0
    )
    assert "хоккей" in tree.to_json()


def test_json_and_tables_can_be_written_whatever_the_names(tmp_path):
    texts = {"\ud800": "ice hockey", "a\x00": "ice puck", "b": "moon orbit", "c": "moon rocket"}
    tree = topics(texts, 2, random_state=0, min_df=1)
    path = tmp_path / "tree.json"
    path.write_text(tree.to_json(), encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8")) == tree.to_dict()
    tree.topics_dataframe().to_csv(tmp_path / "tree.csv", encoding="utf-8")
    assert tree.names[0] == "\ud800"
    assert tree.draw(n_examples=2).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "हिन्दी की किताबें पढ़ना",  # vowel signs, viramas and a nukta
        "e\u0301te\u0301 franc\u0327ais",  # accents of their own
        "ภาษาไทย เรียนรู้",  # vowels above and below
        "كِتَابٌ مُعَلِّمٌ",  # short vowels
        "שָׁלוֹם עולם",
        "தமிழ் മലയാളം",
        "i̇stanbul",  # what lower() makes of a Turkish İ
        "می\u200cخواهم کتاب\u200cها",  # the joiners are part of the spelling
        "한국어",
    ],
)
def test_words_are_not_cut_at_marks(text):
    tree = topics([text], 1, language=None)
    assert tree.feature_names == sorted(normalize("NFC", text).split())


def test_composed_and_decomposed_letters_are_the_same():
    texts = ["e\u0301te\u0301 été", "été"]
    assert topics(texts, 1, language=None).feature_names == ["été"]
    tree = topics([*texts, "hiver"], 1, stop_words=["e\u0301te\u0301"])
    assert tree.feature_names == ["hiver"]
    assert topics(["été hiver"] * 3, 1, language=None).place(["e\u0301te\u0301"]).labels_.tolist() == [0]


@hypothesis.given(
    text=st.text(st.characters(exclude_categories=["Mn", "Mc", "Me"], exclude_characters=JOINERS))
)
@hypothesis.example(text="The 2nd don't, a_b _c x 42 Straße αβγ х1")
def test_words_without_marks_are_what_they_were(text):
    assert re.findall(token_pattern(), text) == re.findall(r"(?u)\b[^\W\d_]\w+\b", text)


WORDS_OF_MANY = [
    *("The 2nd don't, a_b _c x 42 naïve Straße İstanbul", "हिन्दी की किताबें", "ภาษาไทย", "كِتَابٌ مُعَلِّمٌ"),
    *(
        "שָׁלוֹם",
        "தமிழ் മലയാളം",
        "می\u200cخواهم \u200c\u200dکتاب\u200c",
        "한국어 中文字 かな",
        "Ωμέγα Ж7я 𝒳𝒴 ٤٢ x²",
        "\ud800ab",
    ),
]


@pytest.mark.parametrize("pattern", [ANY_WORD, token_pattern()])
@hypothesis.given(
    texts=st.lists(
        st.text(st.sampled_from(sorted(set("".join(WORDS_OF_MANY)))))
        | st.text()
        | st.sampled_from(WORDS_OF_MANY),
        min_size=1,
        max_size=6,
    ),
    stop_words=st.sampled_from([None, "english", ["don", "की"]]),
    lowercase=st.booleans(),
    min_df=st.integers(1, 2),
)
@hypothesis.example(texts=WORDS_OF_MANY, stop_words="english", lowercase=True, min_df=1)
def test_the_kernel_counts_as_scikit_learn_does(pattern, texts, stop_words, lowercase, min_df):
    options = {"token_pattern": pattern, "stop_words": stop_words, "lowercase": lowercase, "min_df": min_df}
    ours, theirs = WordCounter(**options), CountVectorizer(**options)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            ours.fit_transform(texts)
        return
    found = ours.fit_transform(texts)
    assert ours.vocabulary_ == theirs.vocabulary_ and found.dtype == expected.dtype
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.transform(texts[::-1]).toarray(), expected.toarray()[::-1])


def test_characters_are_in_words_as_in_the_patterns():
    everything = "".join(map(chr, range(0x110000)))
    for pattern in (ANY_WORD, token_pattern()):
        text = everything.replace(" ", "")
        spaced = " ".join(f"{letter}a a{letter} a{letter}a" for letter in text[:0x3000])
        assert WordCounter(token_pattern=pattern, lowercase=False).fit([spaced]).vocabulary_.keys() == set(
            re.findall(pattern, spaced)
        )


def test_table(tree):
    frame = tree.topics_dataframe()
    assert list(frame.index) == [topic.number for topic in tree]
    assert frame.loc[0, "size"] == 90 and frame["label"].notna().sum() == 3
    assert pd.isna(frame.loc[0, "parent"])
    assert frame.loc[0, "terms"].split(", ") == [term for term, _ in tree[0].terms]


def test_table_without_pandas(tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"symclust\[tables\]"):
        tree.topics_dataframe()


def test_unknown_topic(tree):
    with pytest.raises(OptionError, match="numbered from 0 to 4"):
        tree[17]


def test_trees_can_be_compared_and_sent(tree):
    copy = pickle.loads(pickle.dumps(tree))
    assert copy != tree and copy[1] not in tree and tree[1] in tree
    assert copy.to_json() == tree.to_json()
    np.testing.assert_array_equal(
        copy.place(["moon orbit"]).membership_, tree.place(["moon orbit"]).membership_
    )


def test_the_same_seed_gives_the_same_tree(corpus, tree):
    assert topics(corpus[0], 3, random_state=0).to_json() == tree.to_json()


def test_common_words_do_not_lead(tree):
    for leaf in tree.leaves:
        assert not {term for term, _ in leaf.terms[:8]} & set(COMMON)


def test_inner_nodes_are_told_by_their_leaves(tree):
    words = {word for own in WORDS.values() for word in own}
    for topic in tree:
        first = [term for term, _ in topic.terms[:8]]
        assert not set(first) & set(COMMON)
    assert {term for term, _ in tree[0].terms[:6]} <= words
    named = {term for leaf in tree.leaves for term, _ in leaf.terms[:10]}
    assert {term for term, _ in tree[0].terms[:5]} <= named


def test_the_number_of_topics_is_chosen():
    rng = np.random.RandomState(0)
    subjects = ("sport", "space", "music", "law")
    words = np.array([f"{subject}word{i}" for subject in subjects for i in range(12)])
    texts = [" ".join(rng.choice(words[12 * (d % 4) : 12 * (d % 4) + 12], 15)) for d in range(120)]
    tree = topics(texts, "auto", random_state=0)
    assert len(tree.leaves) == 4 == tree.selection_.n_clusters
    assert any(note.startswith("The number of topics was chosen: 4 clusters") for note in tree.notes)
    assert topics(texts, 4, random_state=0).selection_ is None
    with pytest.raises(OptionError, match="n_topics='many' is not known"):
        topics(texts, "many")
