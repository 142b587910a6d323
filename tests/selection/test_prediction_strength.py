"""Prediction strength and its gap against plain implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import AgglomerativeClustering, KMeans

from symclust import AffineNMF, HierarchicalSymNMF
from symclust.datasets import planted_partition, simulated_expression
from symclust.exceptions import OptionError
from symclust.selection import Features, Pairs, Study
from symclust.selection.methods.prediction_strength import (
    GPS,
    HalvedData,
    PredictionStrength,
    _company_kept,
    agreement,
)


def plain_agreement(own, predicted, k):
    """Tibshirani and Walther's definition, pair by pair."""
    strengths = []
    for cluster in range(k):
        members = np.flatnonzero(own == cluster)
        pairs = [(i, j) for i in members for j in members if i != j]
        together = [predicted[i] == predicted[j] >= 0 for i, j in pairs]
        strengths.append(np.mean(together) if len(members) > 1 else 0.0)
    return min(strengths)


labels = st.integers(2, 5).flatmap(
    lambda k: st.tuples(
        st.just(k),
        st.lists(st.tuples(st.integers(-1, k - 1), st.integers(-1, k)), min_size=1, max_size=25),
    )
)


@settings(deadline=None)
@given(labels)
def test_agreement_is_that_of_all_pairs(case):
    k, pairs = case
    own, predicted = np.array(pairs).T
    assert agreement(own, predicted, k) == pytest.approx(plain_agreement(own, predicted, k))


@settings(deadline=None)
@given(labels)
def test_company_is_counted_member_by_member(case):
    k, pairs = case
    own, predicted = np.array(pairs).T
    for i, kept in enumerate(_company_kept(own, predicted, k)):
        others = [j for j in range(len(own)) if j != i and own[j] == own[i]]
        together = [predicted[j] == predicted[i] for j in others]
        expected = np.mean(together) if others and own[i] >= 0 and predicted[i] >= 0 else 0.0
        assert kept == pytest.approx(expected)


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.RandomState(0)
    return np.concatenate([rng.normal(centre, 0.3, size=(30, 3)) for centre in (0, 4, 8)])


def study_of(X, estimator, candidates=(2, 3, 4, 5), seed=0, **options):
    data = X if isinstance(X, Pairs) else Features(X)
    return Study(data, estimator, candidates, np.random.RandomState(seed), **options)


@pytest.mark.parametrize(
    "estimator", [KMeans(n_init=3), AgglomerativeClustering()], ids=["predicts", "does not"]
)
def test_strengths_of_scikit_learns_clusterers(blobs, estimator):
    halves = HalvedData(study_of(blobs, estimator), 5, "")
    assert halves.strengths.shape == (5, 4)
    assert_allclose(halves.strengths[:, 1], 1)
    assert (halves.strengths[:, 2:] < 0.95).all()
    assert_allclose(halves.stability(1), 1)
    assert halves.stability(3).mean() < 0.95


def test_the_largest_number_above_the_threshold(blobs):
    answer = PredictionStrength(5).choose(study_of(blobs, KMeans(n_init=3)))
    assert answer.n_clusters == 3 and str(answer).startswith("3 clusters")
    noise = np.random.RandomState(0).uniform(size=(60, 8))
    answer = PredictionStrength(5).choose(study_of(noise, KMeans(n_init=3)))
    assert answer.n_clusters == 1 and "One cluster: no number tried" in str(answer)
    assert PredictionStrength(5, threshold=0).choose(study_of(noise, KMeans(n_init=3))).n_clusters == 5


def test_gps_finds_clusters_and_their_absence(blobs):
    found = GPS(5, 5).choose(study_of(blobs, KMeans(n_init=3)))
    assert found.n_clusters == 3 and found.p_values[1] == pytest.approx(1 / 26)
    gap = found.curves["prediction strength"].values - found.curves["prediction strength (null)"].values
    assert_allclose(found.scores, gap)
    assert_allclose(found.stability, 1)
    # A box in three dimensions is a null itself.
    box = np.random.RandomState(1).uniform(size=(80, 3))
    answers = [GPS(6, 6).choose(study_of(box, KMeans(n_init=3), seed=seed)).n_clusters for seed in range(5)]
    assert answers.count(1) >= 3


def test_the_null_decides_by_mean_plus_deviation(monkeypatch, blobs):
    strengths = {"halves of the samples": [[0.6, 0.5]], "halves of a null": [[0.5, 0.2], [0.55, 0.1]]}

    def init(self, study, n_repeats, stage):
        self.strengths = np.repeat(strengths[stage], n_repeats, axis=0).astype(float)

    monkeypatch.setattr(HalvedData, "__init__", init)
    monkeypatch.setattr(HalvedData, "stability", lambda *_: None)
    answer = GPS(4, 2, 1).choose(study_of(blobs, KMeans(), (2, 3)))
    assert answer.n_clusters == 3  # the gap 0.35 passes the deviation 0.05
    strengths["halves of the samples"] = [[0.54, 0.18]]
    answer = GPS(4, 2, 1).choose(study_of(blobs, KMeans(), (2, 3)))
    assert answer.n_clusters == 1 and "One cluster: the most promising number, 3" in str(answer)


@pytest.mark.parametrize("true", [1, 3])
def test_affine_nmf_on_the_simulation(true):
    X, _ = simulated_expression(true, 0.3, random_state=0)
    answer = GPS(10, 6).choose(study_of(X, AffineNMF(), tuple(range(2, 6))))
    assert answer.n_clusters == true


def test_networks_are_placed_by_similarity():
    A, _ = planted_partition(200, 3, degree=20, mixing=0.1, random_state=0)
    answer = GPS(4, 4).choose(study_of(Pairs(A), HierarchicalSymNMF(affinity="precomputed")))
    assert answer.n_clusters == 3


def test_networks_without_communities_have_one_cluster():
    """Half of the edges go to the other half of the nodes: no partition at all."""
    answers = []
    for seed in range(3):
        A, _ = planted_partition(150, 2, degree=12, mixing=0.5, random_state=seed)
        study = study_of(Pairs(A), HierarchicalSymNMF(affinity="precomputed"), seed=seed)
        answers.append(GPS(6, 6).choose(study).n_clusters)
    assert answers.count(1) >= 2


def test_jobs_and_backends_change_nothing(blobs):
    first, second = (
        GPS(3, 3).choose(study_of(blobs, KMeans(n_init=2), n_jobs=n_jobs)) for n_jobs in (None, 2)
    )
    for name, curve in first.curves.items():
        assert_array_equal(curve.values, second.curves[name].values)
    assert_array_equal(first.stability, second.stability)


def test_progress_is_told(blobs):
    told = []
    GPS(3, 3).choose(study_of(blobs, KMeans(n_init=2), callback=told.append))
    stages = {progress.stage for progress in told}
    assert stages == {"halves of the samples", "data without clusters"}
    assert all(progress.done <= progress.total for progress in told)


def test_medians(blobs):
    study = study_of(blobs, KMeans(n_init=2))
    strengths = HalvedData(study, 5, "").strengths
    answer = PredictionStrength(5, "median").choose(study_of(blobs, KMeans(n_init=2)))
    assert_allclose(answer.scores, np.median(strengths, axis=0))


@pytest.mark.parametrize(
    "options", [{"n_repeats": 0}, {"n_nulls": 1}, {"average": "mode"}, {"n_null_repeats": 0}], ids=str
)
def test_options_that_mean_nothing(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        GPS(**options)
