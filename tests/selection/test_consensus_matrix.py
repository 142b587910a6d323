import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.selection import ConsensusMatrix, _consensus_matrix

PERFECT = [[0, 0, 1, 1, 2, 2], [2, 2, 0, 0, 1, 1], [1, 1, 2, 2, 0, 0]]

labels = st.tuples(st.integers(1, 6), st.integers(1, 9)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(-1, 3))
)
occurring = labels.filter(lambda runs: (runs >= 0).any())


def plain(runs):
    """(33)-(35) as they are written; pairs that never occur together have the mean of the others."""
    samples = [i for i in range(runs.shape[1]) if (runs[:, i] >= 0).any()]
    C = np.full((len(samples),) * 2, np.nan)
    for a, i in enumerate(samples):
        for b, j in enumerate(samples):
            both = [t for t in range(len(runs)) if runs[t, i] >= 0 and runs[t, j] >= 0]
            if both:
                C[a, b] = sum(runs[t, i] == runs[t, j] for t in both) / len(both)
    pairs = C[~np.eye(len(samples), dtype=bool)]
    known = pairs[~np.isnan(pairs)]
    return np.where(np.isnan(C), known.mean() if known.size else 0.0, C), samples


@given(occurring)
def test_values_are_the_frequencies(runs):
    consensus = ConsensusMatrix(runs)
    C, samples = plain(runs)
    np.testing.assert_allclose(consensus.values, C, atol=1e-6)
    assert consensus.samples.tolist() == samples
    assert (consensus.n_runs, consensus.n_samples) == runs.shape
    assert consensus.n_clusters == max(len(set(run[run >= 0])) for run in runs)


@given(occurring, st.randoms(use_true_random=False))
def test_numbers_of_clusters_mean_nothing(runs, random):
    def renumbered(run):
        names = random.sample(range(1000), 4)
        return [label if label < 0 else names[label] for label in run]

    other = ConsensusMatrix([renumbered(run) for run in runs])
    np.testing.assert_array_equal(other.values, ConsensusMatrix(runs).values)


@pytest.mark.parametrize("columns", [1, 3, 10])
def test_groups_of_runs_of_any_width_give_the_same(monkeypatch, columns):
    runs = np.random.RandomState(0).randint(-1, 5, size=(7, 30))
    whole = ConsensusMatrix(runs).values
    monkeypatch.setattr(_consensus_matrix, "COLUMNS", columns)
    np.testing.assert_array_equal(ConsensusMatrix(runs).values, whole)


@given(occurring)
def test_measures_are_those_of_their_definitions(runs):
    consensus, (C, samples) = ConsensusMatrix(runs), plain(runs)
    n = len(samples)
    squares = [4 * (C[i, j] - 0.5) ** 2 for i in range(n) for j in range(n)]
    assert consensus.dispersion() == pytest.approx(sum(squares) / n**2)
    pairs = np.array([C[i, j] for i in range(n) for j in range(i)])
    grid, shares = consensus.cdf([0, 0.3, 0.5, 1])
    assert grid.tolist() == [0, 0.3, 0.5, 1]
    if n == 1:
        assert np.isnan(consensus.area())
        return
    np.testing.assert_allclose(shares, [(pairs <= x + 1e-9).mean() for x in grid])
    x = np.linspace(0, 1, 1001)[:, None]
    assert consensus.area() == pytest.approx(np.mean(pairs <= x), abs=2e-3)


@given(occurring)
def test_stability_is_the_mean_consensus_with_the_others_of_a_cluster(runs):
    consensus, (C, samples) = ConsensusMatrix(runs), plain(runs)
    clusters = np.arange(runs.shape[1]) % 3 - 1
    found = consensus.stability(clusters)
    place = {sample: a for a, sample in enumerate(samples)}
    for i, value in enumerate(found):
        others = [j for j in samples if j != i and clusters[j] == clusters[i] >= 0]
        if i in place and others:
            assert value == pytest.approx(np.mean([C[place[i], place[j]] for j in others]), abs=1e-6)
        else:
            assert np.isnan(value)


@given(occurring, st.integers(1, 10))
def test_clusters_are_side_by_side_in_the_order_of_the_tree(runs, k):
    consensus = ConsensusMatrix(runs)
    order, found = consensus.order(), consensus.labels(k)
    assert sorted(order) == list(range(len(consensus.samples)))
    ordered = found[consensus.samples][order]
    assert ordered[0] == 0
    assert set(np.diff(ordered)) <= {0, 1}
    assert ordered[-1] + 1 <= min(k, len(order))
    assert (found >= 0).sum() == len(order)
    # Fewer than k only where no run has ever separated the samples of a cluster.
    if ordered[-1] + 1 < min(k, len(order)):
        inside = np.equal.outer(found[consensus.samples], found[consensus.samples])
        assert consensus.values[inside] == pytest.approx(1)


@given(arrays(np.int64, (4, 7), elements=st.integers(0, 3)))
def test_the_tree_is_average_linkage_on_what_is_missing_to_one(runs):
    consensus = ConsensusMatrix(runs)
    tree = consensus.linkage()
    np.testing.assert_array_equal(tree, linkage(squareform(1 - plain(runs)[0], checks=False), "average"))
    tree[:] = -1
    assert consensus.linkage().min() >= 0  # what was handed out is a copy


def test_perfect_blocks():
    consensus = ConsensusMatrix(PERFECT)
    assert consensus.cophenetic_correlation() == 1.0
    assert consensus.dispersion() == 1.0
    assert consensus.area() == pytest.approx(1 - 3 / 15)
    assert adjusted_rand_score(PERFECT[0], consensus.labels()) == 1
    assert consensus.stability(consensus.labels()).tolist() == [1] * 6
    assert len(set(consensus.labels(2))) == 2  # equal mergers are undone one at a time
    assert len(set(consensus.labels(5))) == 3  # nothing is cut that no run has separated


def test_all_alike_has_no_correlation():
    assert np.isnan(ConsensusMatrix([[0, 0, 0], [1, 1, 1]]).cophenetic_correlation())
    assert np.isnan(ConsensusMatrix([[0, 1, 2], [2, 0, 1]]).cophenetic_correlation())
    assert np.isnan(ConsensusMatrix([[3]]).cophenetic_correlation())
    assert ConsensusMatrix([[3]]).labels().tolist() == [0]
    assert ConsensusMatrix([[3]]).order().tolist() == [0]


def test_what_never_occurs_is_left_out():
    consensus = ConsensusMatrix([[0, -1, 0, 1, 1], [1, -1, 1, 0, 0]])
    assert consensus.samples.tolist() == [0, 2, 3, 4]
    found = consensus.labels(2)
    assert found[1] == -1 and found[0] == found[2] != found[3] == found[4]
    assert np.isnan(consensus.stability(found)[1])


def noisy_runs(n, k=4, runs=20, seed=0):
    rng = np.random.RandomState(seed)
    truth = np.arange(n) % k
    found = np.where(rng.uniform(size=(runs, n)) < 0.9, truth, rng.randint(k, size=(runs, n)))
    return truth, np.where(rng.uniform(size=(runs, n)) < 0.8, found, -1)


def test_a_random_set_stands_for_many_samples():
    truth, runs = noisy_runs(900)
    whole, part = ConsensusMatrix(runs), ConsensusMatrix(runs, max_samples=150)
    assert part.values.shape == (150, 150)
    np.testing.assert_array_equal(part.values, whole.values[np.ix_(part.samples, part.samples)])
    for measure in ("cophenetic_correlation", "dispersion", "area"):
        assert getattr(part, measure)() == pytest.approx(getattr(whole, measure)(), abs=0.02)
    assert (
        adjusted_rand_score(part.labels(4), whole.labels(4)) == 1
    )  # samples outside the set have theirs, too
    np.testing.assert_allclose(part.stability(truth), whole.stability(truth), atol=0.12)
    assert repr(part) == "<ConsensusMatrix of 150 of 900 samples in 20 runs>"


def test_the_set_is_repeatable():
    _, runs = noisy_runs(300)
    sets = [ConsensusMatrix(runs, max_samples=50, random_state=seed).samples for seed in (1, 1, 2)]
    assert np.array_equal(sets[0], sets[1])
    assert not np.array_equal(sets[0], sets[2])


@settings(deadline=None)
@given(st.integers(0, 10))
def test_samples_outside_the_set_are_compared_with_it_in_blocks(seed):
    _, runs = noisy_runs(60, runs=4, seed=seed)
    part = ConsensusMatrix(runs, max_samples=20, random_state=seed)
    found, C, ids = part.labels(3), *plain(runs)
    place = {sample: a for a, sample in enumerate(ids)}
    members = [part.samples[found[part.samples] == c] for c in range(3)]
    average = part.values[~np.eye(20, dtype=bool)].mean()
    for i in set(ids) - set(part.samples):
        both = ((runs[:, [i]] >= 0) & (runs[:, part.samples] >= 0)).any(axis=0)
        row = np.where(both, [C[place[i], place[j]] for j in part.samples], average)
        means = [row[np.isin(part.samples, own)].mean() for own in members]
        assert means[found[i]] == pytest.approx(max(means), abs=0.02)


def test_tens_of_thousands_of_samples_make_no_square_array(monkeypatch):
    truth, runs = noisy_runs(30_000, runs=5)
    largest = []
    counts = ConsensusMatrix._counts

    def watched(self, block):
        found = counts(self, block)
        largest.append(found[0].size)
        return found

    monkeypatch.setattr(ConsensusMatrix, "_counts", watched)
    consensus = ConsensusMatrix(runs, max_samples=300)
    found = consensus.labels(4)
    assert adjusted_rand_score(truth[found >= 0], found[found >= 0]) > 0.95
    assert np.nanmin(consensus.stability(found)) >= 0
    assert max(largest) <= _consensus_matrix.ROWS * 300


def test_survives_pickling_without_its_matrix():
    _, runs = noisy_runs(400)
    consensus = ConsensusMatrix(runs)
    consensus.cophenetic_correlation()
    held = pickle.dumps(consensus)
    assert len(held) < 8 * 400 * 400 / 4
    np.testing.assert_array_equal(pickle.loads(held).values, consensus.values)


@pytest.mark.parametrize(
    ("given_labels", "error", "words"),
    [
        ([0, 1, 1], InputError, r"shape \(3,\); expected one row per run"),
        (np.zeros((0, 3), dtype=int), InputError, r"shape \(0, 3\)"),
        ([[0, 1], [0]], InputError, "rows of different lengths"),
        ([[0.5, 1]], InputTypeError, "float64; expected whole numbers"),
        ([["a", "b"]], InputTypeError, "expected whole numbers"),
        ([[0, -2]], InputError, "contains -2"),
        ([[-1, -1]], InputError, "no sample occurs in any run"),
    ],
)
def test_refuses_what_are_no_labels(given_labels, error, words):
    with pytest.raises(error, match=words):
        ConsensusMatrix(given_labels)


def test_refuses_wrong_numbers():
    consensus = ConsensusMatrix(PERFECT)
    with pytest.raises(InputError, match=r"shape \(2,\); expected one cluster for each of 6"):
        consensus.stability([0, 1])
    with pytest.raises(OptionError, match="n_clusters=0"):
        consensus.labels(0)
    with pytest.raises(OptionError, match="max_samples=1"):
        ConsensusMatrix(PERFECT, max_samples=1)
