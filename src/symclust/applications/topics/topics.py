"""From documents to a tree of topics."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from symclust._types import Array, Data, Features, Names, RandomState
from symclust.applications._checks import check_model_params
from symclust.applications.topics._batches import as_batches, count_batches
from symclust.applications.topics._corpus import Corpus, read_corpus
from symclust.applications.topics._documents import Documents, documents_of
from symclust.applications.topics._refinement import RefinedTopics
from symclust.applications.topics._terms import count_terms
from symclust.applications.topics._topic import Topic, describe_nodes
from symclust.applications.topics.topic_tree import FittedTopics, TopicTree
from symclust.documents import DocumentWeights, weighted_rows
from symclust.estimators import HierarchicalNMF, SymNMF
from symclust.exceptions import (
    CombinationError,
    DegenerateWarning,
    InputError,
    NotConvergedWarning,
    OptionError,
    warn,
)
from symclust.operators import RowBlocks
from symclust.selection import Selection, select_n_clusters
from symclust.storage import refuse_checkpoint
from symclust.validation import check_features, check_known, check_number

__all__ = ["topics"]

# Weights and the number of leaves were chosen with all collections of docs/evidence/documents.md before us.
WEIGHTS: dict[str, Any] = {"tfidf": "positive", "log_counts": True}
LEAVES = 3  # times as many leaves as topics before they are merged
MOST_TOPICS, DOCUMENTS_EACH = 60, 4  # of the numbers tried for "auto": the largest; documents per topic


def topics(
    texts: Data,
    n_topics: int | str | None = 20,
    *,
    embeddings: Features | None = None,
    language: str | None = "english",
    feature_names: Names = None,
    text_key: str = "text",
    encoding: str = "utf-8",
    clean: bool = True,
    n_terms: int = 20,
    n_examples: int = 3,
    refine: bool = True,
    model_params: dict[str, Any] | None = None,
    random_state: RandomState = None,
    **vectorizer_options: Any,
) -> TopicTree:
    """Find topics and topics within topics in a collection of documents.

    Terms are counted by scikit-learn's ``CountVectorizer`` and weighted by
    `symclust.documents.DocumentWeights`; `HierarchicalNMF` then splits the documents in two again and again
    (Kuang 2014, chapter 5), to three times as many leaves as topics, and trees of their neighbours are grown
    beside it. Documents move between leaves, and leaves are merged to the number of topics, in two ways, of
    which halves of the words judge; merging goes on to the root.

    Parameters
    ----------
    texts : list of str, dict, path, or matrix
        Any iterable of strings, None standing for an empty one; a dict of the names of documents and their
        texts, as `symclust.read` returns; a Series, whose index names the documents; the path of a folder,
        whose text files are read in the order of their names; the path of a ``.jsonl`` or ``.jsonl.gz``
        file; a DataFrame of columns of text, which are joined; or a documents × terms matrix of counts,
        dense, sparse, a DataFrame, or a Dask array with
        blocks of rows, which stay where they are (docs/large_data.md). Texts are composed first
        (Unicode's NFC), so that an é is one character however it was written.

        A corpus that memory does not hold comes as an iterator of batches, each a list of strings, a dict or
        a Series: texts are let go once they are counted, and the tree is that of all at once. While terms
        are counted there are at most two million of them; beyond, the rarest are dropped, with a note
        (docs/large_data.md). `TopicTree.partial_fit` takes in documents later.
    n_topics : int, "auto" or None, default=20
        Largest number of leaves: splitting ends earlier when no leaf can be split, and ``notes`` says so.
        "auto" chooses by the neighbour graph of the documents, as ``n_clusters="auto"`` of the estimators
        does; ``selection`` of the result holds the evidence.
        None leaves the end to ``model_params={"score_threshold": ...}``.
    embeddings : array-like of shape (n_documents, n_features), default=None
        Vectors of the documents, such as a language model gives them: topics are then the clusters that
        `SymNMF` finds among these, and words only say what they are about. New documents are placed by
        their words.
    language : {"english", None}, default="english"
        The language whose stop words are left out. scikit-learn has English ones only; for other languages
        give ``stop_words=[...]``.
    feature_names : sequence of str, default=None
        Names of the terms of a matrix; by default the columns of a DataFrame.
    text_key : str, default="text"
        Where in each JSON object the text is.
    encoding : str, default="utf-8"
        The encoding of files. What cannot be decoded is replaced, and reported in ``notes``.
    clean : bool, default=True
        Remove HTML from texts (tags, comments, scripts, and escapes such as ``&lt;``, also where they were
        escaped twice), and count no words of URLs and e-mail addresses. Comparisons and code stay. False
        takes texts as they are.
    n_terms, n_examples : int, default=20 and 3
        How many terms and typical documents to keep with each topic.
    refine : bool, default=True
        Whether documents may change their leaf, and leaves merge, after the tree has grown
        (docs/evidence/documents.md). False leaves the tree as `HierarchicalNMF` grows it, from the weights of
        the thesis.
    model_params : dict, default=None
        Further parameters of `HierarchicalNMF`, for example ``{"outlier_trials": 0}``.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.
    **vectorizer_options
        Options of ``CountVectorizer``: `stop_words`, `ngram_range`, `min_df`, `max_df`, `token_pattern`,
        `analyzer`, `max_features`, ... By default a term is a word of at least two characters that begins
        with a letter (vowel signs, accents and other marks belong to it), is in at least 3 documents (fewer
        below 100 documents), and in at most half of them.

    Returns
    -------
    TopicTree

    Notes
    -----
    Documents without any term are left out: they are labelled -1 and listed in ``empty``; those with one term
    are listed in ``one_word``. Files are only read as text. Hidden files and links are skipped. Thai, Chinese
    and Japanese put no spaces between words: give a ``tokenizer`` for them.

    Examples
    --------
    >>> from symclust import topics
    >>> texts = ["ice hockey team", "hockey puck on ice", "orbit of the moon", "moon rocket in orbit", ""]
    >>> tree = topics(texts, 2, random_state=0)
    >>> sorted(topic.terms[0][0] for topic in tree.leaves)
    ['hockey', 'moon']
    >>> tree.empty.tolist()
    [4]
    """
    check_number("n_terms", n_terms, least=1, whole=True)
    check_number("n_examples", n_examples, least=0, whole=True)
    check_model_params(HierarchicalNMF, model_params, "The number of topics is n_topics.")
    if refine and (model_params or {}).get("soft"):
        raise CombinationError(
            "A soft tree belongs to HierarchicalNMF alone, since refined topics have their documents to "
            "themselves: give refine=False as well, or read the weights of documents off flatten()."
        )
    refuse_checkpoint((model_params or {}).get("callback"), "topics")
    _check_n_topics(n_topics, model_params or {})
    reading: dict[str, Any] = {"text_key": text_key, "encoding": encoding, "clean": clean}
    texts, is_batched = as_batches(texts)
    if is_batched:
        reading_now = {"feature_names": feature_names, **reading}
        corpus, counts, vectorizer = count_batches(texts, language, vectorizer_options, **reading_now)
        terms = vectorizer.get_feature_names_out()
    else:
        corpus = read_corpus(texts, feature_names=feature_names, **reading)
        counts, vectorizer, terms = _count(corpus, language, vectorizer_options)
    words = _count_words(counts)
    kept = np.flatnonzero(words)
    if not kept.size:
        raise InputError(f"None of the {len(corpus)} documents has a term: there is nothing to cluster.")
    weights = DocumentWeights(**(WEIGHTS if refine else {}))
    X = _weigh(weights, counts, words)
    if embeddings is not None:
        embeddings = _read_embeddings(embeddings, len(corpus), refine, model_params)[kept]
    selection = None
    if n_topics == "auto":
        selection = _choose(X if embeddings is None else embeddings, random_state)
    if selection is not None:
        n_topics = selection.n_clusters
        corpus.notes.append(f"The number of topics was chosen: {selection}")
    assert not isinstance(n_topics, str)
    if embeddings is None:
        params = {"random_state": random_state, **(model_params or {})}
        model = _fit(HierarchicalNMF(_leaves(n_topics, len(kept), refine), **params), X, refine)
        found = RefinedTopics.of(X, model.labels_, n_topics, random_state) if refine else model
        corpus.notes += _shortfall(model, len(found.components_), n_topics)
    else:
        found = _of_embeddings(X, embeddings, n_topics, random_state)
    has_names, shown = _has_names(corpus), (n_terms, n_examples)
    fitted = FittedTopics(vectorizer, weights, found, terms, has_names, kept, len(corpus), reading, *shown)
    described = describe_nodes(fitted, documents_of(X), corpus)
    return _result(fitted, described, corpus, words, selection)


def _read_embeddings(embeddings: Any, n: int, refine: bool, model_params: dict[str, Any] | None) -> Array:
    if not refine or model_params:
        raise CombinationError(
            "With embeddings there is no tree of splits: leave refine and model_params out."
        )
    E = check_features(embeddings)
    if E.shape[0] != n:
        raise InputError(f"embeddings has {E.shape[0]} rows, and there are {n} documents: give one for each.")
    return E.toarray() if sparse.issparse(E) else E


def _of_embeddings(X: Any, E: Array, n_topics: int | None, random_state: Any) -> RefinedTopics:
    """Topics that are clusters of embeddings; their tree is that of merges by these."""
    documents = documents_of(X)
    if not isinstance(documents, Documents):
        raise CombinationError("Embeddings are clustered in memory, and the counts are a Dask array.")
    labels = SymNMF(min(int(n_topics or 1), len(E)), random_state=random_state).fit_predict(E)
    inside = labels >= 0
    labels[inside] = np.unique(labels[inside], return_inverse=True)[1]
    return RefinedTopics.of_clusters(documents, labels, normalize(E))


def _choose(X: Any, random_state: Any) -> Selection:
    """The choice of the number of topics of weighted documents."""
    if isinstance(X, RowBlocks):
        raise CombinationError(
            "n_topics='auto' looks at the neighbours of all documents in one place, and these are a Dask "
            "array: choose the number on a sample of them, or give it."
        )
    most = max(3, min(MOST_TOPICS, X.shape[0] // DOCUMENTS_EACH))
    return select_n_clusters(X, candidates=range(2, most + 1), method="auto", random_state=random_state)


def _check_n_topics(n_topics: Any, model_params: dict[str, Any]) -> None:
    if isinstance(n_topics, str):
        check_known("n_topics", n_topics, ("auto",), ", or give a number")
    elif n_topics is not None:
        check_number("n_topics", n_topics, least=1, whole=True)
    elif model_params.get("score_threshold") is None:
        raise OptionError(
            "n_topics=None needs another way to end: give the number of topics, or the lowest score at which "
            'a topic is split as model_params={"score_threshold": ...}.'
        )


def _leaves(n_topics: int | None, n_documents: int, refine: bool) -> int | None:
    """The number of leaves of the tree: more than topics if leaves are merged afterwards."""
    if n_topics is None:
        return None
    wanted = LEAVES * int(n_topics) if refine and n_topics > 1 else int(n_topics)
    return min(wanted, n_documents)


def _fit(model: HierarchicalNMF, X: Any, refine: bool) -> HierarchicalNMF:
    """Fit, and pass on all warnings but that of fewer leaves: n_topics is a limit here, and a note names it.

    Leaves that documents can still leave, and that are merged, need no warning of how uneven they are.
    """
    quiet = (NotConvergedWarning, DegenerateWarning) if refine else (NotConvergedWarning,)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    for warning in caught:
        if warning.category not in quiet:  # not their subclasses: an interrupt is passed on
            warn(str(warning.message), warning.category)
    return model


def _shortfall(model: HierarchicalNMF, found: int, n_topics: int | None) -> list[str]:
    """A sentence that says why there are fewer topics than were asked for, if that is so."""
    if n_topics is None or found >= n_topics:
        return []
    reason = "no topic can be split further"
    if model.stop_reason_.startswith(("interrupted", "stopped")):
        reason = model.stop_reason_
    elif model.score_threshold is not None:
        reason = "no topic reaches the score_threshold"
    what = "topic was" if found == 1 else "topics were"
    return [f"Only {found} {what} found of the {n_topics} asked for: {reason}."]


def _count_words(counts: sparse.csr_array | RowBlocks) -> Array:
    """The number of terms of each document."""
    return np.concatenate(counts.gather(_n_terms)) if isinstance(counts, RowBlocks) else _n_terms(counts)


def _weigh(weights: DocumentWeights, counts: Any, words: Array) -> Any:
    """The weighted documents that have a term; blocks of them stay where they are."""
    if not isinstance(counts, RowBlocks):
        return weights.fit_transform(counts[np.flatnonzero(words)])
    sizes = np.array([np.count_nonzero(part) for part in counts.split(words)])
    kept = counts.map(_with_terms).resized(sizes)
    weights.fit_blocks(kept)
    return kept.map(weighted_rows, weights)


def _n_terms(counts: sparse.csr_array) -> Array:
    return np.diff(counts.indptr)


def _with_terms(counts: sparse.csr_array) -> sparse.csr_array:
    return counts[np.flatnonzero(_n_terms(counts))]


def _has_names(corpus: Corpus) -> bool:
    return corpus.texts is not None or corpus.terms is not None


def _result(
    fitted: FittedTopics, described: list[Topic], corpus: Corpus, words: Array, selection: Selection | None
) -> TopicTree:
    return TopicTree(
        topics=described,
        labels_=fitted.spread(fitted.model.labels_, -1),
        outliers=fitted.kept[np.asarray(fitted.model.outliers_, dtype=np.intp)],
        empty=np.flatnonzero(words == 0),
        one_word=np.flatnonzero(words == 1),
        names=corpus.names,
        feature_names=fitted.terms.tolist(),
        notes=corpus.notes,
        selection_=selection,
        _fitted=fitted,
    )


def _count(corpus: Corpus, language: str | None, options: dict[str, Any]) -> tuple[Any, Any, Array]:
    """Documents × terms without stored zeros, the vectoriser, and the terms."""
    if corpus.texts is None:
        if options:
            raise CombinationError(
                f"A matrix of counts was given, so {', '.join(map(repr, options))} cannot be used any more: "
                "leave these options out, or give texts."
            )
        counts, vectorizer = corpus.counts, None
        terms = np.array(corpus.terms or [f"term {i}" for i in range(counts.shape[1])], dtype=object)
        if isinstance(counts, RowBlocks):
            return counts, vectorizer, terms
    else:
        counts, vectorizer = count_terms(corpus.countable(), language, options)
        terms = vectorizer.get_feature_names_out()
    counts = sparse.csr_array(counts, copy=True)
    counts.eliminate_zeros()
    return counts, vectorizer, terms
