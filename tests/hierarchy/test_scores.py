"""The score of a split, beside a twin that does what (58)-(63) say, term by term."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.hierarchy import Samples
from symclust.hierarchy.topics.scores import energy, explained_by_one, explained_by_two, mndcg, mndcg_score
from symclust.hierarchy.topics.splits import k_means, rank_two

weights = st.lists(st.integers(0, 6).map(float), min_size=12, max_size=12)


def literal(parent, left, right):
    terms = [t for t in range(len(parent)) if parent[t] > 0]
    m = len(terms)

    def ranking(values):
        return sorted(terms, key=lambda t: -values[t])  # stable: equal ones keep their order

    f, lefts, rights = ranking(parent), ranking(left), ranking(right)
    gain = {}
    for i, term in enumerate(f, start=1):
        p = math.log(m - max(lefts.index(term) + 1, rights.index(term) + 1) + 1)
        gain[term] = math.log(m - i + 1) / (p if p > 0 else math.log(2))

    def dcg(values):
        return values[0] + sum(g / math.log2(i) for i, g in enumerate(values[1:], start=2))

    ideal = dcg(sorted(gain.values(), reverse=True))
    return dcg([gain[t] for t in lefts]) / ideal * dcg([gain[t] for t in rights]) / ideal


@given(weights, weights, weights)
@settings(max_examples=100)
def test_is_the_literal_formula(parent, left, right):
    score = mndcg_score(np.array(parent), np.array(left), np.array(right))
    if sum(w > 0 for w in parent) <= 1:
        assert score == -1
    else:
        assert score == pytest.approx(literal(parent, left, right), rel=1e-12)
        assert 0 <= score <= 1 + 1e-12


def test_terms_that_the_parent_does_not_have_change_nothing():
    rng = np.random.default_rng(0)
    parent, left, right = rng.random((3, 20))
    padded = [np.append(w, extra) for w, extra in ((parent, [0, 0]), (left, [9, 1]), (right, [0, 5]))]
    assert mndcg_score(*padded) == mndcg_score(parent, left, right)


def test_a_divided_topic_scores_higher_than_one_and_its_noise():
    parent = np.linspace(1, 0.1, 40)
    odd = np.arange(40) % 2 == 1
    divided = mndcg_score(parent, np.where(odd, parent, 0), np.where(odd, 0, parent))
    noise = mndcg_score(parent, parent, parent[::-1])
    assert divided > noise


@pytest.mark.parametrize("split", [partial(rank_two, tol=1e-6), k_means])
def test_energy_is_what_a_dense_computation_says(split):
    X = np.random.default_rng(4).random((30, 12)) ** 4 + np.kron(np.eye(2), np.ones((15, 6)))
    samples = Samples.of(X)
    halves = split(samples, np.random.RandomState(0))
    dense, F = samples.csr().toarray(), halves.memberships @ halves.terms.T
    lengths = np.sum(F * dense, axis=1) / np.sum(F * F, axis=1)  # of zeros and ones no split says any
    residual = dense - lengths[:, np.newaxis] * F
    assert explained_by_two(samples, halves) == pytest.approx(np.sum(X**2) - np.sum(residual**2), rel=1e-9)
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    # Three power steps come from below, to (σ₂ / σ₁)¹² here.
    assert 0.999 * squares[0] < explained_by_one(samples) <= squares[0] * (1 + 1e-12)


def test_energy_prefers_the_split_that_serves_more_samples():
    topics = np.kron(np.eye(2), np.ones((1, 5)))
    few, many = (Samples.of(np.repeat(topics, [20, n], axis=0) + 0.01) for n in (2, 18))
    scores = {}
    for name, samples in (("few", few), ("many", many)):
        halves = rank_two(samples, np.random.RandomState(0))
        scores[name] = [score(np.ones(10), *halves.terms.T, samples, halves) for score in (mndcg, energy)]
    assert scores["few"][0] == pytest.approx(scores["many"][0])
    assert scores["few"][1] < scores["many"][1]
