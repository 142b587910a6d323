"""Coherence against the sum of (64) written as loops."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from symclust.exceptions import InputError, OptionError
from symclust.metrics import topic_coherence

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(2, 7)), elements=st.integers(0, 2))


def twin(X, terms, mu):
    documents = [set(np.flatnonzero(row)) for row in X]
    total = 0.0
    for place, f in enumerate(terms):
        for g in terms[place + 1 :]:
            both = sum(f in words and g in words for words in documents)
            total += math.log((both + mu) / sum(f in words for words in documents))
    return total


@given(X=COUNTS, seed=st.integers(0, 99), mu=st.sampled_from([0.01, 1.0]))
@settings(max_examples=60)
def test_equals_the_loops(X, seed, mu):
    X[0] = 1  # every term is somewhere
    rng = np.random.RandomState(seed)
    topics = [rng.permutation(X.shape[1])[: rng.randint(1, X.shape[1] + 1)].tolist() for _ in range(3)]
    expected = [twin(X, terms, mu) for terms in topics]
    for form in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(topic_coherence(form(X), topics, smoothing=mu), expected, atol=1e-12)


def test_the_more_important_term_of_a_pair_is_in_the_denominator():
    X = [[1, 1], [1, 0], [1, 0], [1, 0]]
    assert topic_coherence(X, [[0, 1]])[0] == pytest.approx(math.log(2 / 4))
    assert topic_coherence(X, [[1, 0]])[0] == pytest.approx(math.log(2 / 1))


def test_weights_and_lists_of_their_terms_agree():
    rng = np.random.RandomState(0)
    X = rng.poisson(0.8, (40, 9))
    C = rng.uniform(size=(3, 9)) * (rng.uniform(size=(3, 9)) > 0.4)
    lists = [[t for t in np.argsort(-row) if row[t] > 0][:4] for row in C]
    expected = topic_coherence(X, lists)
    np.testing.assert_array_equal(topic_coherence(X, C, n_terms=4), expected)
    np.testing.assert_array_equal(topic_coherence(X, sparse.csr_array(C), n_terms=4), expected)
    np.testing.assert_array_equal(topic_coherence(X, C.astype(np.float32), n_terms=4), expected)


def test_words_that_occur_together_beat_words_that_do_not():
    X = np.kron(np.eye(2), np.ones((5, 3)))
    together, mixed = topic_coherence(X, [[0, 1, 2], [0, 3, 1]])
    assert together > 0 > mixed


def test_weights_instead_of_counts_give_the_same():
    rng = np.random.RandomState(1)
    X = rng.poisson(0.8, (30, 6))
    topics = [[0, 1, 2], [3, 5]]
    np.testing.assert_array_equal(topic_coherence(X * 0.37, topics), topic_coherence(X, topics))


def test_topics_of_one_or_no_term_have_no_pairs():
    assert topic_coherence([[1, 1]], [[0], []]).tolist() == [0, 0]


def test_only_the_first_terms_count():
    X = np.array([[1, 1, 0], [1, 1, 1]])
    assert topic_coherence(X, [[0, 1, 2]], n_terms=2) == topic_coherence(X, [[0, 1]])


def test_what_cannot_be_measured_is_refused():
    with pytest.raises(InputError, match="Term 1 of topic 0 is in no document"):
        topic_coherence([[1, 0], [1, 0]], [[0, 1]])
    with pytest.raises(InputError, match="whole numbers from 0 to 1"):
        topic_coherence([[1, 1]], [[0, 2]])
    with pytest.raises(InputError, match=r"lists a term twice.*weights of all terms"):
        topic_coherence([[1, 1, 1]], np.array([[2, 0, 0]]))  # weights, but of whole numbers
    with pytest.raises(InputError, match="X has 2 terms"):
        topic_coherence([[1, 1]], np.ones((1, 3)))
    with pytest.raises(OptionError, match="smoothing"):
        topic_coherence([[1, 1]], [[0, 1]], smoothing=0)
