"""K-means on the sphere: against a plain twin, its descent, empty clusters, threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from symclust import SphericalKMeans
from symclust.exceptions import InputError, OptionError
from symclust.graphs import unit_rows
from symclust.k_means import SphericalRuns

POINTS = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=st.integers(-3, 3))


WEIGHTED = {
    f"check_sample_weight_equivalence_on_{form}_data": "takes weights above zero"
    for form in ("dense", "sparse")
}


@parametrize_with_checks([SphericalKMeans(n_init=2)], expected_failed_checks=lambda model: WEIGHTED)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def documents(n=120, d=40, k=3, seed=0):
    rng = np.random.RandomState(seed)
    y = rng.randint(k, size=n)
    rates = np.full((k, d), 0.05)
    for j in range(k):
        rates[j, j * d // k : (j + 1) * d // k] = 1
    return rng.poisson(rates[y]) * rng.randint(1, 9, size=(n, 1)), y


def objective(X, labels, centers):
    lengths = np.linalg.norm(X, axis=1)
    unit = X / np.where(lengths > 0, lengths, 1)[:, None]
    return float(len(X) - (unit * centers[labels]).sum())


def lloyd(X, chosen, iterations):
    """One start without batches, slack or repair."""
    X = unit_rows(X)
    centers = X[chosen]
    for _ in range(iterations):
        labels = (X @ centers.T).argmax(axis=1)
        sums = np.array([X[labels == j].sum(axis=0) for j in range(len(chosen))])
        centers = sums / np.linalg.norm(sums, axis=1)[:, None]
    return labels


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_finds_clusters_whatever_the_lengths(form):
    X, y = documents()
    model = SphericalKMeans(3, random_state=0).fit(form(X))
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.converged_ and "no sample changes" in model.stop_reason_
    np.testing.assert_array_equal(model.predict(form(X)), model.labels_)
    assert model.objective_ == pytest.approx(objective(X, model.labels_, model.components_))
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


def test_each_start_of_a_batch_runs_as_alone():
    X = documents()[0].astype(float)
    starts = [np.array([0, 1, 2]), np.array([5, 40, 80]), np.array([3, 33, 100])]
    runs = SphericalRuns(unit_rows(X), 3).run(starts, 4)
    for run, chosen in zip(runs, starts, strict=True):
        np.testing.assert_array_equal(run.labels, lloyd(X, chosen, len(run.objectives)))


@given(X=POINTS, seed=st.integers(0, 50), k=st.integers(1, 5))
@settings(max_examples=80)
def test_never_gets_worse_and_no_cluster_is_empty(X, seed, k):
    k = min(k, len(X))
    starts = [np.random.RandomState(seed + s).choice(len(X), k) for s in range(3)]  # with duplicates
    for run in SphericalRuns(unit_rows(X), k).run(starts, 50):
        assert run.done
        assert (np.diff(run.objectives) <= 1e-12).all()
        assert np.bincount(run.labels, minlength=k).all()


@given(X=POINTS, k=st.integers(1, 5))
@settings(max_examples=40)
def test_the_best_start_is_taken_and_dense_and_sparse_agree(X, k):
    k = min(k, len(X))
    model = SphericalKMeans(k, n_init=3, random_state=0).fit(X)
    assert model.objective_ == model.inits_.min()
    assert model.objective_ == pytest.approx(objective(X, model.labels_, model.components_), abs=1e-9)
    twin = SphericalKMeans(k, n_init=3, random_state=0).fit(sparse.csr_array(X))
    assert twin.components_.shape == model.components_.shape
    assert twin.objective_ == pytest.approx(objective(X, twin.labels_, twin.components_), abs=1e-9)


@pytest.mark.filterwarnings("ignore::symclust.exceptions.DegenerateWarning")
def test_samples_without_entries_are_in_no_cluster_and_move_nothing():
    X, _ = documents()
    model = SphericalKMeans(3, random_state=0).fit(np.vstack([X, np.zeros((4, X.shape[1]))]))
    assert model.labels_[-4:].tolist() == [-1, -1, -1, -1]
    assert adjusted_rand_score(SphericalKMeans(3, random_state=1).fit(X).labels_, model.labels_[:-4]) == 1
    empty = SphericalKMeans(2, random_state=0).fit(np.zeros((5, 2)))
    assert set(empty.labels_) == {-1} and not empty.components_.any()


def test_precision_stays():
    X = documents()[0].astype(np.float32)
    model = SphericalKMeans(3, random_state=0).fit(sparse.csr_array(X))
    assert model.components_.dtype == model.membership_.dtype == model.transform(X).dtype == np.float32


def test_transform_gives_cosines():
    X, _ = documents()
    model = SphericalKMeans(3, random_state=0).fit(X)
    cosines = model.transform(X * 7)
    assert cosines.max() <= 1 + 1e-12
    np.testing.assert_allclose(cosines, unit_rows(X.astype(float)) @ model.components_.T)


def test_the_number_of_threads_changes_nothing(printed_on):
    code = (
        "import numpy as np, scipy.sparse as sp; from symclust import SphericalKMeans;"
        "X = sp.random_array((6000, 300), density=0.02, rng=np.random.default_rng(0), format='csr');"
        "m = SphericalKMeans(7, n_init=3, random_state=0).fit(X);"
        "print(m.objective_.hex(), m.labels_.tolist())"
    )
    assert printed_on(1, code) == printed_on(3, code) != ""


def test_options_are_checked():
    X = np.eye(3)
    for model, words in [
        (SphericalKMeans(4), "n_clusters=4 is not possible with n_samples=3"),
        (SphericalKMeans(2, n_init=0), "n_init=0"),
        (SphericalKMeans(2, max_iter=0), "max_iter=0"),
    ]:
        with pytest.raises(OptionError, match=words):
            model.fit(X)
    with pytest.raises(InputError, match="contains NaN"):
        SphericalKMeans(2).fit([[np.nan, 1], [1, 2]])


def test_stops_at_the_limit_and_says_so():
    model = SphericalKMeans(5, max_iter=1, random_state=0).fit(documents()[0])
    assert (model.n_iter_, model.converged_) == (1, False)
    assert "still change" in model.stop_reason_
