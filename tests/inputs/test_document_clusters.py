"""Clusters of documents by several trees, and the judge of candidates."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from symclust.exceptions import InputError
from symclust.inputs import document_clusters
from symclust.k_means import uneven_merges
from symclust.metrics import cross_view_agreement

module = sys.modules[document_clusters.__module__]


def documents(sizes, words=40, seed=0):
    """Return unit rows of documents with words of their subject and words of all, and the subjects."""
    rng = np.random.RandomState(seed)
    subjects = np.repeat(np.arange(len(sizes)), sizes)
    rates = np.full((len(sizes), words * len(sizes)), 0.05)
    for subject in range(len(sizes)):
        rates[subject, subject * words : (subject + 1) * words] = 0.4
    X = rng.poisson(rates[subjects]).astype(float)
    X[np.arange(len(X)), subjects * words] += 1
    return sparse.csr_array(normalize(X)), subjects


def halves(subjects):
    """Return leaves that divide each subject into two."""
    return 2 * subjects + np.arange(len(subjects)) % 2


@pytest.mark.parametrize("compared", [0, 1000])
def test_subjects_of_uneven_size_are_found(compared, monkeypatch):
    monkeypatch.setattr(module, "COMPARED", compared)  # without a graph there are further trees of topics
    X, subjects = documents([120, 30, 30, 15])
    labels = document_clusters(X, 4, np.random.RandomState(0), [halves(subjects)])
    assert normalized_mutual_info_score(subjects, labels) > 0.95


def test_documents_in_no_leaf_get_a_cluster():
    X, subjects = documents([40, 40, 40])
    leaves = np.where(np.arange(120) % 3 == 0, -1, halves(subjects))
    labels = document_clusters(X, 3, np.random.RandomState(0), [leaves])
    assert normalized_mutual_info_score(subjects, labels) > 0.95


def test_the_same_random_state_gives_the_same_clusters():
    X, subjects = documents([40, 40, 40])
    one, other = (document_clusters(X, 3, np.random.RandomState(3), [halves(subjects)]) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("n", "k"), [(30, 1), (6, 4)])
def test_too_few_documents_or_clusters_are_left_to_others(n, k):
    X, subjects = documents([n // 3] * 3)
    assert document_clusters(X, k, np.random.RandomState(0), [subjects]) is None


def test_the_graph_is_that_of_the_heaviest_words(monkeypatch):
    monkeypatch.setattr(module, "HEAVIEST", 2)
    X = sparse.csr_array(
        normalize([[9.0, 8, 1, 0], [9, 8, 0, 1], [0, 1, 9, 8], [1, 0, 9, 8], [0.0, 0, 5, 0]])
    )
    A = module.graph_of_heaviest(X).toarray()
    assert A[0, 1] > 0 and A[2, 3] > 0 and A[3, 4] > 0
    assert not A[:2, 2:].any()  # the light words alone join these


def test_votes_are_counted_after_numbers_have_been_matched():
    medoid = np.array([0, 0, 0, 1, 1, 2, 2])
    others = [np.array([2, 2, 2, 0, 0, 1, 1]), np.array([1, 1, 0, 0, 0, 2, 2])]
    assert normalized_mutual_info_score(module.vote([medoid, *others], 3), medoid) == pytest.approx(1)


def test_low_exponents_leave_small_clusters_alone():
    S = np.array([[100.0, 0, 0], [90, 43.6, 0], [0, 0, 2], [0, 1.6, 1.2]])  # cosines of pairs 0.9 and 0.6
    sizes = np.array([100, 100, 2, 2])
    large, even = (uneven_merges(S, sizes, exponent)[0] for exponent in (0.01, 1.0))
    assert (large.one, large.other) == (0, 1) and (even.one, even.other) == (2, 3)
    assert even.loss == pytest.approx(1 * 0.4) and large.loss == pytest.approx(50**0.01 * 0.1, rel=1e-3)
    assert len(uneven_merges(S, sizes, 0.5)) == 3


def test_halves_agree_on_subjects_and_not_on_a_cut_through_one():
    X, subjects = documents([60, 60, 60])
    cut = np.where(subjects == 0, np.arange(180) % 2, 2)  # a subject in two, the others in one
    right, wrong = cross_view_agreement(X, [subjects, cut], random_state=0)
    assert right > 0.9 > wrong
    assert cross_view_agreement(X.toarray(), subjects, random_state=0) == pytest.approx(right)
    assert cross_view_agreement(X, np.zeros(180, dtype=int), random_state=0) == 1
    some = np.where(np.arange(180) % 4, subjects, -1)
    assert cross_view_agreement(X, some, random_state=0) > 0.9


@pytest.mark.parametrize("labels", [np.zeros(5, dtype=int), np.zeros(180), np.zeros((2, 2, 180), dtype=int)])
def test_labels_of_other_samples_are_refused(labels):
    with pytest.raises(InputError, match="one for each of the 180 samples"):
        cross_view_agreement(documents([60, 60, 60])[0], labels)
