import warnings
from dataclasses import replace

import joblib
import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from symclust import NMF, Diana, KernelKMeans, LinkageClustering, OffDiagonalSymNMF, SymNMF, registry
from symclust.exceptions import CombinationError, DegenerateWarning, InputError, OptionError
from symclust.selection import ConsensusMatrix, Features, Pairs, Study
from symclust.selection.methods import consensus
from symclust.selection.methods.consensus import Consensus, ConsensusInit

CURVES = ["cophenetic correlation", "dispersion", "area under the cumulative distribution"]


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=[[14, 2, 2], [2, 14, 2], [2, 2, 14]], random_state=0)
    return np.abs(X), y


@pytest.fixture(scope="module")
def one_gaussian():
    X = np.random.RandomState(0).normal(size=(100, 2))
    return X - X.min(axis=0)


def study_of(X, estimator, candidates=(2, 3, 4), **options):
    return Study(Features(X), estimator, candidates, np.random.RandomState(0), **options)


def test_the_registry_knows_both():
    assert registry.resolve("selection.methods", "consensus") is Consensus
    assert registry.resolve("selection.methods", "consensus_init") is ConsensusInit


@pytest.mark.parametrize(
    "estimator", [KMeans(n_init=3), AgglomerativeClustering(), GaussianMixture(), NMF(), SymNMF()], ids=repr
)
@pytest.mark.filterwarnings("ignore")
def test_resampling_finds_separated_clusters_with_any_estimator(blobs, estimator):
    X, y = blobs
    selection = Consensus(n_resamples=12).choose(study_of(X, estimator))
    assert selection.n_clusters == 3
    assert selection.scores[1] == pytest.approx(1.0)
    assert list(selection.curves) == CURVES
    assert selection.method == "consensus" and selection.score == CURVES[0]
    assert list(selection.consensus) == [2, 3, 4]
    assert adjusted_rand_score(y, selection.consensus[3].labels(3)) == 1
    assert selection.stability == pytest.approx(np.ones(90))


def test_similarities_are_resampled_too():
    y = np.repeat([0, 1, 2], 20)
    A = np.where(np.equal.outer(y, y), 0.9, 0.1) + 0.05 * np.random.RandomState(0).uniform(size=(60, 60))
    data = Pairs((A + A.T) / 2)
    study = Study(data, SymNMF(affinity="precomputed"), (2, 3), np.random.RandomState(0))
    selection = Consensus(n_resamples=20).choose(study)
    assert selection.n_clusters == 3
    assert selection.curves["dispersion"].values[1] == 1


def test_curves_are_the_measures_of_the_matrices(blobs):
    selection = Consensus(n_resamples=10).choose(study_of(blobs[0], KMeans(n_init=1, init="random")))
    for i, matrix in enumerate(selection.consensus.values()):
        found = (matrix.cophenetic_correlation(), matrix.dispersion(), matrix.area())
        for name, value in zip(CURVES, found, strict=True):
            assert selection.curves[name].values[i] == pytest.approx(value, nan_ok=True)


def test_each_run_has_its_share_of_the_samples(blobs, monkeypatch):
    runs = []
    monkeypatch.setattr(consensus, "_answer", lambda study, method, labels, *rest: runs.append(labels))
    Consensus(n_resamples=7, share=0.5).choose(study_of(blobs[0], KMeans(n_init=1)))
    assert runs[0].shape == (7, 3, 90)
    assert ((runs[0] >= 0).sum(axis=2) == 45).all()
    assert len({tuple(run[0] >= 0) for run in runs[0]}) == 7


def test_repeats_itself_on_any_number_of_jobs(blobs):
    with joblib.parallel_config(backend="threading"):
        studies = [study_of(blobs[0], KMeans(n_init=1), n_jobs=jobs) for jobs in (None, 2)]
        found = [Consensus(6).choose(study) for study in studies]
    for name in CURVES:
        np.testing.assert_array_equal(found[0].curves[name].values, found[1].curves[name].values)


def test_spread_is_the_jackknife(blobs):
    rng = np.random.RandomState(0)
    labels = np.where(rng.uniform(size=(10, 30)) < 0.8, np.arange(30) % 3, rng.randint(3, size=(10, 30)))
    _, values, errors = consensus._measure(labels, 0)
    left = [
        ConsensusMatrix([run for t, run in enumerate(labels) if t % 5 != g]).dispersion() for g in range(5)
    ]
    assert values[1] == ConsensusMatrix(labels).dispersion()
    assert errors[1] == pytest.approx(np.sqrt(4 / 5 * np.sum((left - np.mean(left)) ** 2)))


def test_jackknife_is_about_the_spread_of_repeated_studies():
    """The standard error from one set of runs, against the deviation over sets of fresh runs."""
    rng = np.random.RandomState(0)

    def runs():
        return np.where(rng.uniform(size=(50, 40)) < 0.7, np.arange(40) % 2, rng.randint(2, size=(50, 40)))

    found = [consensus._measure(runs(), 0) for _ in range(30)]
    deviation = np.std([values for _, values, _ in found], axis=0)
    errors = np.mean([errors for _, _, errors in found], axis=0)
    assert (errors / deviation)[1:] == pytest.approx(np.ones(2), abs=0.5)


@pytest.mark.parametrize(
    ("scores", "best"),
    [([0.9, 1, 1], 2), ([1, 1 - 1e-12, 0.5], 1), ([np.nan, 0.3, 0.2], 1), ([np.nan] * 2, 0)],
)
def test_the_last_of_the_largest_is_chosen(scores, best):
    assert consensus._largest(np.array(scores)) == best


def test_the_sentence_says_what_it_cannot(blobs):
    study = study_of(blobs[0], KMeans(n_init=3))
    by_subsets, by_starts = Consensus(10).choose(study), ConsensusInit(10).choose(study)
    words = "in 10 random subsets of 80% of the samples is largest at k = 3, 1.000"
    assert str(by_subsets).startswith(f"3 clusters: the cophenetic correlation {words}")
    for selection in (by_subsets, by_starts):
        assert "cannot answer one cluster" in selection.sentence
    assert "says nothing about clusters" in by_starts.sentence
    assert "10 random starts" in by_starts.sentence


def test_ties_and_lone_candidates_are_said():
    def reason(values, spread):
        curve = consensus.Curve(np.array(values), np.array(spread))
        return consensus._reason(
            np.arange(2, 2 + len(values)), curve, consensus._largest(curve.values), "here"
        )

    assert reason([1.0, 1.0], [0, 0]).endswith("1.000; 1.000 at k = 2 is as large.")
    assert reason([0.9, 0.95], [0.04, 0.03]).endswith("0.900 at k = 2 is within the error of that.")
    assert reason([0.8, 0.95], [0.01, 0.01]).endswith("0.800 at k = 2 is next.")
    assert reason([0.9, np.nan], [0.1, 0.1]).endswith("0.900; no other candidate has one.")
    assert reason([np.nan, np.nan], [0, 0]).startswith("2 clusters, the smallest candidate")


def test_one_gaussian_looks_like_two_clusters_by_starts_but_not_by_subsets(one_gaussian):
    """Figures 12 and 13 of the thesis."""
    study = study_of(one_gaussian, NMF(init="random", tol=1e-6), (2,))
    by_starts, by_subsets = ConsensusInit(12).choose(study), Consensus(12).choose(study)
    assert by_starts.scores[0] == 1.0
    assert by_starts.curves["dispersion"].values[0] == 1.0
    assert by_subsets.scores[0] < 1
    assert by_subsets.curves["dispersion"].values[0] < 0.97
    assert by_subsets.stability.min() < 0.9 < by_starts.stability.min()


@pytest.mark.parametrize(
    ("estimator", "init"),
    [
        (NMF(), "random"),
        (NMF(init=(np.ones((3, 2)), np.ones((4, 2)))), "random"),
        (SymNMF(), "random"),
        (OffDiagonalSymNMF(), "random"),
        (KernelKMeans(), "samples"),
        (KMeans(n_init=10), "k-means++"),
        (KMeans(init=max), max),
    ],
    ids=repr,
)
def test_starts_are_random_and_single(estimator, init):
    found = consensus._started_at_random(estimator).get_params()
    assert found["init"] == init
    assert found["n_init"] == 1
    assert estimator.get_params()["n_init"] != 1 or found is not estimator


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["NMF", "SymNMF", "OffDiagonalSymNMF", "KernelKMeans", "SymmetricFactorization"]
)
def test_our_estimators_differ_from_start_to_start(name):
    import symclust

    X = np.random.RandomState(0).uniform(size=(60, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegenerateWarning)
        warnings.filterwarnings("ignore", message=".*found .* of the")
        selection = ConsensusInit(6).choose(study_of(X, getattr(symclust, name)(), (8,)))
    assert selection.curves["dispersion"].values[0] < 1


def test_the_estimator_given_stays_as_it_was(blobs):
    estimator = NMF()
    before = estimator.get_params()
    ConsensusInit(3).choose(study_of(blobs[0], estimator, (2,)))
    assert estimator.get_params() == before


@pytest.mark.parametrize("estimator", [AgglomerativeClustering(), LinkageClustering(), Diana()], ids=repr)
def test_an_estimator_without_chance_is_refused(blobs, estimator):
    with pytest.raises(
        CombinationError, match=rf"{type(estimator).__name__} leaves nothing to chance.*'consensus'"
    ):
        ConsensusInit().choose(study_of(blobs[0], estimator))


class Fixed(KMeans):
    """Has a random state, and does not use it."""

    def fit_predict(self, X, y=None):
        return np.arange(len(X)) % self.n_clusters


def test_an_estimator_that_does_not_use_its_chance_is_warned_of(blobs):
    with pytest.warns(DegenerateWarning, match="All 4 runs of Fixed are equal"):
        ConsensusInit(4).choose(study_of(blobs[0], Fixed()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConsensusInit(8).choose(study_of(blobs[0], KMeans(init="random")))


def test_a_single_cluster_in_all_runs_is_never_best(blobs):
    class Lumps(Fixed):
        def fit_predict(self, X, y=None):
            found = np.arange(len(X)) % self.n_clusters
            return np.zeros(len(X), dtype=int) if self.n_clusters == 2 else found

    with pytest.warns(DegenerateWarning):
        selection = ConsensusInit(4).choose(study_of(blobs[0], Lumps(), (2, 3)))
    assert np.isnan(selection.scores[0])
    assert selection.n_clusters == 3


def test_many_samples_share_one_set(blobs):
    X = np.random.RandomState(0).uniform(size=(2500, 2))
    selection = Consensus(3).choose(study_of(X, KMeans(n_init=1), (2, 3)))
    first, second = selection.consensus.values()
    assert len(first.samples) == 2000
    np.testing.assert_array_equal(first.samples, second.samples)
    assert selection.stability.shape == (2500,)


def test_progress_is_told(blobs):
    told = []
    study = replace(study_of(blobs[0], KMeans(n_init=1)), callback=told.append)
    Consensus(3).choose(study)
    assert [(p.stage, p.done) for p in told if p.done == p.total] == [
        ("random subsets", 3),
        ("consensus matrices", 3),
    ]


def test_wrong_parameters_are_refused(blobs):
    study = study_of(blobs[0][:10], KMeans(n_init=1), (2, 9))
    with pytest.raises(InputError, match="80% of 10 samples are 8, too few for 9 clusters"):
        Consensus().choose(study)
    with pytest.raises(InputError, match="share=1 leaves none of 10 samples out"):
        Consensus(share=1).choose(study)
    for method, words in [
        (Consensus(1), "n_resamples=1"),
        (Consensus(share=0), "share=0"),
        (Consensus(share=1.2), "share=1.2"),
        (ConsensusInit(1.5), "n_starts=1.5"),
    ]:
        with pytest.raises(OptionError, match=words):
            method.choose(study)
