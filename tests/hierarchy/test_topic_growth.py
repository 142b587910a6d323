"""Algorithm 6: who is split, who is left out, and that nothing is computed twice."""

import numpy as np

from symclust.hierarchy import Samples, TopicGrowth, Trials
from symclust.hierarchy.topics.growth import _on_terms
from symclust.hierarchy.topics.scores import mndcg_score
from symclust.hierarchy.topics.splits import rank_two


def topics(n_topics=4, n=25, words=8, seed=0, noise=0.05):
    """Documents of one topic each, with words of their own, words shared by two topics, and some noise."""
    rng = np.random.default_rng(seed)
    shape = n_topics * n, (n_topics + n_topics // 2) * words
    X = noise * rng.random(shape) * (rng.random(shape) < 0.3)
    y = np.repeat(np.arange(n_topics), n)
    for t in range(n_topics):
        pair = n_topics + t // 2
        X[y == t, t * words : (t + 1) * words] += rng.random((n, words))
        X[y == t, pair * words : (pair + 1) * words] += 0.7 * rng.random((n, words))
    return X, y


def growth(X, split=rank_two, **options):
    trials = Trials(split, **options)
    return TopicGrowth(Samples.of(X), len(X), trials, np.random.RandomState(0))


class Counted:
    """Remembers which samples it was asked to divide."""

    def __init__(self):
        self.asked = []

    def __call__(self, samples, random_state):
        self.asked.append(frozenset(samples.members.tolist()))
        return rank_two(samples, random_state)


def test_planted_topics_are_the_leaves():
    X, y = topics()
    tree = growth(X).grow(4)
    found = {frozenset(leaf.members.tolist()) for leaf in tree.leaves()}
    assert found == {frozenset(np.flatnonzero(y == t).tolist()) for t in range(4)}


def test_nodes_carry_their_terms_by_falling_weight():
    X, y = topics()
    for leaf in growth(X).grow(4).leaves():
        t = y[leaf.members[0]]
        mine = {*range(8 * t, 8 * t + 8), *range(32 + 8 * (t // 2), 40 + 8 * (t // 2))}
        assert set(leaf.data["terms"][:8]) <= mine
        assert (np.diff(leaf.data["weights"]) <= 0).all()
        assert (leaf.data["weights"] > 0).all()


def test_each_set_of_samples_is_split_once():
    X, _ = topics(6)
    split = Counted()
    growth(X, split).grow(12)
    assert len(split.asked) == len(set(split.asked))


def test_the_last_children_are_not_tried():
    X, _ = topics(2)
    split = Counted()
    tree = growth(X, split).grow(2)
    assert len(split.asked) == 1
    assert all(np.isnan(leaf.score) for leaf in tree.leaves())


def test_the_highest_score_is_split_first():
    X, _ = topics(6)
    seen = []

    def watch(tree, node):
        # A leaf that waits has no score of its own yet, so only those that are ready take part.
        others = [leaf.score for leaf in tree.leaves() if leaf.number not in node.children]
        seen.append((node.score, max(others, default=-1)))

    growth(X, n_trials=0).grow(8, after=watch)
    assert len(seen) == 7
    assert all(score >= other for score, other in seen[1:])


def test_planted_outliers_belong_to_no_leaf():
    X, _ = topics(2, n=60)
    strange = np.zeros((3, X.shape[1] + 4))
    strange[:, -4:] = 3.0 + np.random.default_rng(1).random((3, 4))
    X = np.vstack([np.pad(X, ((0, 0), (0, 4))), strange])
    labels = growth(X).grow(2).cut(2)
    assert (labels[-3:] == -1).all()
    assert (labels[:-3] >= 0).all()
    kept = growth(X, n_trials=0).grow(2).cut(2)
    assert (kept >= 0).all()


def test_a_leaf_whose_splits_only_cut_off_outliers_stays_whole_with_them():
    X, _ = topics(6)
    # With a ratio of 1 every smaller part is suspicious, so that many leaves are given up.
    tree = growth(X, ratio=1.0).grow(20)
    labels = tree.cut(len(tree.leaves()))
    given_up = [leaf for leaf in tree.leaves() if leaf.is_final and leaf.score > 0]
    assert given_up
    assert all((labels[leaf.members] >= 0).all() for leaf in given_up)
    assert len(tree.leaves()) < len(growth(X, n_trials=0).grow(20).leaves())


def test_terms_that_no_sample_of_a_node_has_count():
    X, _ = topics()
    samples = Samples.of(X)
    halves = rank_two(samples, np.random.RandomState(0))
    terms = {"terms": np.arange(X.shape[1] + 30)[::-1], "weights": np.linspace(2, 1, X.shape[1] + 30)}
    parent, left, right = _on_terms(terms, samples.features, halves)
    assert np.array_equal(parent, terms["weights"][::-1])
    np.testing.assert_array_equal(left[samples.features], halves.terms[:, 0])
    assert not right[X.shape[1] :].any()
    assert mndcg_score(parent, left, right) != mndcg_score(*(w[: X.shape[1]] for w in (parent, left, right)))


def test_a_threshold_stops():
    X, _ = topics()
    assert growth(X).grow(threshold=2.0).n_splits == 1  # the root is always split
    every = growth(X).grow(threshold=0.0)
    assert every.n_splits > 3
    assert all(leaf.is_final for leaf in every.leaves())


def test_a_watcher_stops():
    X, _ = topics()
    assert growth(X).grow(4, after=lambda tree, node: tree.n_splits == 2).n_splits == 2
