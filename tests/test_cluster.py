"""A real cluster of two processes: trees of documents with a worker killed, and studies.

Every test has a time limit of its own, and nothing waits for a cluster without one.
"""

import os
import signal

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

from symclust import HierarchicalNMF, SymNMF, select_n_clusters, topics
from symclust.selection._data import Features
from symclust.selection._study import _call, _on_other_machines, _Shared

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
        return os.getpid(), _on_other_machines(), shared + task

    shared = _Shared(10)
    found = on_cluster(lambda: joblib.Parallel()(joblib.delayed(_call)(shared, where, i) for i in range(6)))
    assert [value for *_, value in found] == list(range(10, 16))
    assert not any(inside for _, inside, _ in found)
    assert os.getpid() not in {pid for pid, *_ in found}
    assert not _on_other_machines()


@pytest.mark.parametrize("method", ["consensus", "gap", "auto"])
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
