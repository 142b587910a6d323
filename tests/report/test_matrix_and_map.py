"""What the page needs to draw similarities and graphs."""

from base64 import b64decode
from io import BytesIO
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from symclust.datasets import planted_partition
from symclust.operators import as_operator
from symclust.report import _matrix
from symclust.report._map import map_of
from symclust.report._matrix import matrix_of
from symclust.report._reading import read_clustering

image_module = pytest.importorskip("PIL.Image")  # comes with matplotlib


def clustering(A, labels, **others):
    return read_clustering(SimpleNamespace(affinity_matrix_=A, labels_=np.asarray(labels), **others))


def levels(matrix):
    return 255 - np.asarray(image_module.open(BytesIO(b64decode(matrix.picture.split(",")[1]))), dtype=int)


@pytest.mark.parametrize("kind", ["dense", "sparse", "operator"])
def test_tiles_are_in_the_order_of_the_clusters(kind):
    labels = np.array([1, 0, 1, -1, 0])
    A = np.where(labels[:, np.newaxis] == labels, 1.0, 0.2) * (labels >= 0)
    A = np.minimum(A, A.T)
    found = matrix_of(
        clustering({"dense": A, "sparse": csr_array(A), "operator": as_operator(A)}[kind], labels)
    )
    order = [1, 4, 0, 2, 3]
    assert np.array_equal(levels(found), np.rint(255 * A[np.ix_(order, order)] ** 0.6))
    assert found.data["starts"] == [0, 2, 4]
    assert found.data["clusters"] == [0, 1, -1]
    assert found.data["names"] == ["0", "1", "none"]
    assert found.data["samples"] == ["1", "4", "0", "2", "3"]
    assert np.allclose(found.data["means"], [[1, 0.2], [0.2, 1]])


def test_a_large_matrix_is_averaged(monkeypatch):
    monkeypatch.setattr(_matrix, "TILES", 20)
    A, y = planted_partition(200, 4, degree=20, random_state=0)
    found = matrix_of(clustering(A, y))
    order = np.argsort(y, kind="stable")
    tiles = A.toarray()[np.ix_(order, order)].reshape(20, 10, 20, 10).mean(axis=(1, 3))
    top = np.quantile(tiles[tiles != 0], 0.99)
    assert np.array_equal(levels(found), np.rint(255 * np.minimum(tiles / top, 1) ** 0.6))
    assert found.data["samples"] == []


def test_what_is_tiny_is_still_seen_and_signs_are_kept():
    A = np.array([[0.0, 1e-9], [1e-9, 1.0]])
    assert levels(matrix_of(clustering(A, [0, 1]))).tolist() == [[0, 1], [1, 255]]
    signed = matrix_of(clustering(np.array([[1.0, -1.0], [-1.0, 0.0]]), [0, 1]))
    assert signed.data["signed"]
    assert levels(signed).tolist() == [[255, 1], [1, 128]]


def test_no_dense_matrix_is_made_of_a_sparse_one(monkeypatch):
    n = 300_000
    i = np.arange(n)
    A = csr_array((np.ones(2 * n), (np.r_[i, (i + 1) % n], np.r_[(i + 1) % n, i])), shape=(n, n))
    source = clustering(A, i * 8 // n)
    found = matrix_of(source)  # n × n would take 720 GB
    assert found.n_tiles == 640
    shown = map_of(source)
    assert "as discs" in shown.caption
    assert [group["size"] for group in shown.data["groups"]] == [n // 8] * 8


def test_a_map_names_its_nodes():
    A, y = planted_partition(60, 3, random_state=0)
    shown = map_of(clustering(A, y, node_names_=[f"<{i}>" for i in range(60)]))
    assert shown.data["names"] == [f"<{i}>" for i in range(60)]
    assert len({group["colour"] for group in shown.data["groups"]}) == 3
    first = np.frombuffer(b64decode(shown.data["order"]), "<u4")[0]
    assert A.sum(axis=1)[first] == A.sum(axis=1).max()


def test_without_similarities_samples_with_similar_memberships_are_close():
    rng = np.random.default_rng(0)
    H = np.repeat(np.eye(3), 20, axis=0) + 0.2 * rng.random((60, 3))
    found = map_of(read_clustering(SimpleNamespace(labels_=np.repeat(range(3), 20), membership_=H)))
    x, y = (np.frombuffer(b64decode(found.data[axis]), "<u2").astype(float) for axis in "xy")
    places = np.column_stack([x, y]).reshape(3, 20, 2)
    middles = places.mean(axis=1, keepdims=True)
    assert np.abs(places - middles).mean() < np.abs(middles - middles.mean(axis=0)).mean()


def test_there_is_no_map_of_ones_and_zeros_nor_without_links():
    assert (
        map_of(read_clustering(SimpleNamespace(labels_=np.array([0, 0, 1]), membership_=np.eye(3)))) is None
    )
    assert map_of(clustering(csr_array((5, 5)), [0, 0, 1, 1, 1])) is None
