"""A real cluster of two processes: trees of documents with a worker killed, studies, neighbours and starts.

Every test has a time limit of its own, and nothing waits for a cluster without one.
"""

import os
import signal

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from symclust import NMF, HierarchicalNMF, SymNMF, select_n_clusters, topics
from symclust._machines import map_machines, on_other_machines
from symclust.graphs import nearest_neighbors
from symclust.graphs._neighbors import NeighborSearch
from symclust.selection._data import Features
from symclust.solvers import _starts

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def client():
    settings = {"symclust.gathered-entries": 1500, "distributed.comm.timeouts.connect": "20s"}
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, timeout="60s") as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def samples():
    return make_blobs(90, 4, centers=3, random_state=0)[0]


@pytest.fixture(scope="module")
def documents():
    rng = np.random.RandomState(0)
    subject = rng.randint(4, size=300)
    likely = np.where(np.arange(60) % 4 == subject[:, None], 0.9, 0.05)
    return sparse.csr_array(rng.poisson(likely) + 0.01 * (rng.rand(300, 60) < 0.02))


def as_dask(X, rows=80):
    parts = [
        da.from_delayed(
            dask.delayed(X[i : i + rows]),
            shape=(min(rows, X.shape[0] - i), X.shape[1]),
            meta=sparse.csr_array((0, 0), dtype=X.dtype),
        )
        for i in range(0, X.shape[0], rows)
    ]
    return da.concatenate(parts)


def on_cluster(function):
    with joblib.parallel_config("dask"):
        return function()


# Trees ------------------------------------------------------------------------------------------------------


def test_a_tree_of_documents(client, documents):
    options = {"random_state": 0, "max_iter": 12}
    one = HierarchicalNMF(4, **options).fit(as_dask(documents))
    other = HierarchicalNMF(4, **options).fit(documents)
    assert np.array_equal(one.labels_, other.labels_)
    np.testing.assert_allclose(one.components_, other.components_, atol=1e-8)


def test_topics(client, documents):
    options = {"random_state": 0, "n_terms": 5, "model_params": {"max_iter": 5}}
    one, other = (topics(X, 3, **options) for X in (as_dask(documents), documents))
    assert np.array_equal(one.labels_, other.labels_)
    assert [topic.terms[0][0] for topic in one] == [topic.terms[0][0] for topic in other]


def test_a_worker_that_is_killed_in_the_middle(client, documents):
    before = client.run(os.getpid)
    killed = []

    def kill(step):
        if not killed:
            killed.append(next(iter(before.values())))
            os.kill(killed[0], signal.SIGKILL)

    options = {"random_state": 0, "max_iter": 12}
    with dask.config.set({"symclust.gathered-entries": 0}):
        one = HierarchicalNMF(4, callback=kill, **options).fit(as_dask(documents))
    assert killed
    assert np.array_equal(one.labels_, HierarchicalNMF(4, **options).fit(documents).labels_)
    # The other worker is enough for the tests that follow: Dask does not always replace one that was killed.


# joblib -----------------------------------------------------------------------------------------------------


def test_work_for_other_machines_hands_out_none_itself(client):
    def where(shared, task):
        return os.getpid(), on_other_machines(), shared + task

    found = on_cluster(lambda: map_machines(where, (10,), [(task,) for task in range(6)]))
    assert [value for *_, value in found] == list(range(10, 16))
    assert not any(inside for _, inside, _ in found)
    assert os.getpid() not in {pid for pid, *_ in found}
    assert not on_other_machines()


@pytest.mark.parametrize("method", ["consensus", "gap", "adjusted_modularity"])
def test_a_study(client, samples, method):
    params = {"consensus": {"n_resamples": 4}, "gap": {"n_nulls": 3}}.get(method, {})

    def choose():
        options = {"candidates": [2, 3, 4], "method": method, "random_state": 0}
        return select_n_clusters(samples, SymNMF(random_state=0), method_params=params, **options)

    one, other = on_cluster(choose), choose()
    assert one.n_clusters == other.n_clusters
    for name, curve in other.curves.items():
        np.testing.assert_allclose(one.curves[name].values, curve.values, rtol=1e-12)


def test_the_data_of_a_study_are_sent_once(client, samples, monkeypatch):
    sent = []
    monkeypatch.setattr(Features, "__reduce_ex__", lambda self, _: sent.append(1) or (Features, (self.X,)))
    X, method_params = np.abs(samples), {"n_resamples": 12}
    options = {"candidates": [2, 3], "method": "consensus", "method_params": method_params, "random_state": 0}
    estimator = HierarchicalNMF(random_state=0)
    one = on_cluster(lambda: select_n_clusters(X, estimator, **options))
    assert 1 <= len(sent) <= 2  # not for each of the 12 parts
    assert one.n_clusters == select_n_clusters(X, estimator, **options).n_clusters


@pytest.mark.parametrize("form", ["brute", "tree", "sparse", "new"])
def test_neighbours(client, form, monkeypatch):
    monkeypatch.setattr("symclust.graphs._neighbors.ROWS", 64)
    rng = np.random.RandomState(0)
    X = rng.rand(400, 3 if form == "tree" else 30)
    X[50:60] = X[0]  # ties
    X = sparse.csr_array(X * (X < 0.2)) if form == "sparse" else X
    new = rng.rand(150, 30) if form == "new" else None
    one, other = on_cluster(lambda: NeighborSearch(X).nearest(5, new)), NeighborSearch(X).nearest(5, new)
    assert all(map(np.array_equal, one, other))


def test_a_graph_of_neighbours(client, monkeypatch):
    monkeypatch.setattr("symclust.graphs._neighbors.ROWS", 64)
    X = np.random.RandomState(0).rand(300, 12)
    one, other = on_cluster(lambda: nearest_neighbors(X)), nearest_neighbors(X)
    assert (one != other).nnz == 0


@pytest.mark.parametrize("options", [{"solver": "anls", "init": "random"}, {"init": "merge"}, {}])
def test_starts_end_where_each_would_alone(client, samples, options, monkeypatch):
    model = SymNMF(3, n_init=3, random_state=0, **options)
    one = on_cluster(lambda: model.fit(samples).inits_).tolist()
    labels = model.labels_
    run = _starts.run

    def one_by_one(problem, solver, starts, control, reference=None, **how):
        given = reference or [None] * len(starts)
        runs = [
            run(problem, solver, [H], control, r and [r], **how) for H, r in zip(starts, given, strict=True)
        ]
        return [result for (result,) in runs]

    side_by_side = SymNMF(3, n_init=3, random_state=0, **options).fit(samples)
    monkeypatch.setattr(_starts, "run", one_by_one)
    alone = SymNMF(3, n_init=3, random_state=0, **options).fit(samples)
    assert one == alone.inits_.tolist()
    assert np.array_equal(labels, alone.labels_)
    np.testing.assert_allclose(one, side_by_side.inits_, rtol=1e-3)


def test_starts_of_two_factors(client, samples):
    X = np.abs(samples)
    model = on_cluster(lambda: NMF(3, n_init=2, init="random", random_state=0).fit(X))
    assert np.array_equal(model.labels_, NMF(3, n_init=2, init="random", random_state=0).fit(X).labels_)


def test_starts_on_a_similarity_that_lies_with_workers_stay_here(client, monkeypatch):
    """A start on a worker would wait for blocks that its own task keeps from being multiplied."""
    monkeypatch.setattr("symclust.solvers._loop.map_machines", None)
    A = da.from_array(np.kron(np.eye(3), np.ones((10, 10))) + 0.01, chunks=(10, 30))
    model = SymNMF(3, n_init=2, init="random", affinity="precomputed", random_state=0)
    found = on_cluster(lambda: model.fit(A).inits_)
    np.testing.assert_allclose(found, model.fit(A).inits_, rtol=1e-9)


def test_a_callback_stays_here(client, samples):
    seen = []
    model = SymNMF(3, n_init=2, random_state=0, callback=lambda progress: seen.append(progress.start))
    on_cluster(lambda: model.fit(samples))
    assert set(seen) == {0, 1}
