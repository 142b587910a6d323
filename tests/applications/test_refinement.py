"""Leaves that exchange documents, merge, and become a tree."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import normalize

from symclust.applications.topics._documents import Documents
from symclust.applications.topics._refinement import RefinedTopics
from symclust.k_means import joined, merges


def planted(k=4, per=12, terms=6, seed=0):
    """Return documents of k subjects with words of their own, and the subject of each."""
    rng = np.random.RandomState(seed)
    subjects = np.repeat(np.arange(k), per)
    rates = np.full((k, k * terms), 0.05)
    for subject in range(k):
        rates[subject, subject * terms : (subject + 1) * terms] = 2
    X = rng.poisson(rates[subjects]).astype(float)
    X[np.arange(len(X)), subjects * terms] += 1
    return sparse.csr_array(X), subjects


def value(X, labels):
    """Return the sum of the cosines of documents with the centre of their topic."""
    X = normalize(X).toarray()
    return sum(np.linalg.norm(X[labels == topic].sum(axis=0)) for topic in np.unique(labels))


def same(labels, others):
    return len(set(zip(labels, others, strict=True))) == len(set(labels)) == len(set(others))


def test_documents_in_the_wrong_leaf_find_the_right_one():
    X, subjects = planted()
    mixed = np.where(np.arange(len(subjects)) % 5 == 0, (subjects + 1) % 4, subjects)
    assert same(RefinedTopics.of(X, mixed, 4).labels_, subjects)


def test_leaves_of_one_subject_are_merged():
    X, subjects = planted()
    halves = 2 * subjects + np.arange(len(subjects)) % 2
    found = RefinedTopics.of(X, halves, 4)
    assert same(found.labels_, subjects) and len(found.tree_.leaves()) == 4
    assert len(RefinedTopics.of(X, halves, None).components_) == 8


@given(st.integers(0, 1000), st.integers(3, 6))
def test_each_merge_loses_least_of_all_pairs(seed, k):
    rng = np.random.RandomState(seed)
    X = sparse.csr_array(normalize(rng.rand(15, 5) * (rng.rand(15, 5) < 0.6) + 1e-3))
    labels = rng.permutation(np.arange(15) % k)
    found = merges(Documents(X).sums(labels, k))
    assert len(found) == k - 1
    for merge in found:
        pairs = itertools.combinations(np.unique(labels), 2)
        losses = [value(X, labels) - value(X, np.where(labels == b, a, labels)) for a, b in pairs]
        after = joined(labels, [merge])
        assert merge.loss == pytest.approx(min(losses), abs=1e-9)
        assert value(X, labels) - value(X, after) == pytest.approx(merge.loss, abs=1e-9)
        labels = after


def test_the_tree_takes_merges_back():
    X, subjects = planted(5)
    found = RefinedTopics.of(X, subjects, 5)
    tree = found.tree_
    np.testing.assert_array_equal(tree.cut(5), found.labels_)
    gains = sorted((node.score for node in tree.nodes if node.children), reverse=True)
    for n_topics in range(1, 5):
        gain = value(X, tree.cut(n_topics + 1)) - value(X, tree.cut(n_topics))
        assert any(gain == pytest.approx(score) for score in gains)
    for node in tree.nodes:
        if node.children:
            left, right = (tree.nodes[child] for child in node.children)
            assert len(left.members) >= len(right.members)
            np.testing.assert_array_equal(np.union1d(left.members, right.members), node.members)
    for leaf, center in zip(tree.leaves(), found.components_, strict=True):
        np.testing.assert_allclose(center, normalize(normalize(X)[leaf.members].sum(axis=0)[None])[0])


def test_what_was_set_aside_is_placed_where_it_shares_terms():
    X, subjects = planted(3)
    X = sparse.csr_array(sparse.block_diag([X, [[1.0]]]))
    labels = np.append(subjects, -1)
    labels[[0, 20]] = -1
    found = RefinedTopics.of(X, labels, 3)
    assert same(found.labels_[:-1], subjects)
    assert found.outliers_.tolist() == [36] and not found.membership_[36].any()
    assert found.tree_.nodes[0].members.size == 37


def test_single_precision_stays_and_one_topic_is_a_root():
    X, subjects = planted()
    found = RefinedTopics.of(X.astype(np.float32), subjects, 4)
    assert found.components_.dtype == found.membership_.dtype == found.transform(found.X).dtype == np.float32
    one = RefinedTopics.of(X, np.zeros(len(subjects), dtype=int), 1)
    assert len(one.tree_.nodes) == 1 and not one.labels_.any()
