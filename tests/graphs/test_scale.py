"""Memory stays below n × n, and bits do not depend on the number of threads."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from symclust.graphs import NearestNeighbors, cosine


def peak(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("weights", ["self_tuning", "cosine"])
def test_neighbour_graphs_of_many_points_never_hold_n_by_n(weights):
    centers = np.random.default_rng(0).random((200, 8)) * 10
    X = np.repeat(centers, 100, axis=0) + np.random.default_rng(1).random((20_000, 8))
    affinity = NearestNeighbors(weights=weights)
    assert (
        peak(lambda: affinity.fit(X)) < 20_000**2 / 4
    )  # a twelfth... of a byte per pair would not hold a graph
    assert peak(lambda: affinity.extend(X[:100])) < 20_000**2 / 4


def test_sparse_samples_never_become_n_by_n():
    X = sparse.random_array((20_000, 5_000), density=0.001, format="csr", rng=0)
    assert peak(lambda: cosine(X, normalize=True) @ np.ones(20_000)) < 20_000**2 / 8


BITS = """
import hashlib, numpy as np
from scipy import sparse
from symclust.graphs import cosine, gaussian, nearest_neighbors, self_tuning
rng = np.random.default_rng(0)
digest = hashlib.sha256()
for X in (rng.random((2500, 3)), rng.integers(0, 3, (2500, 20)).astype(float)):  # the second is full of ties
    for A in (nearest_neighbors(X), cosine(X, 5), nearest_neighbors(sparse.csr_array(X))):
        for part in (A.indptr, A.indices, A.data):
            digest.update(part.tobytes())
    for A in (self_tuning(X[:900], normalize=True), gaussian(X[:900]), cosine(X, normalize=True) @ X):
        digest.update(A.tobytes())
print(digest.hexdigest())
"""


def test_same_bits_on_one_and_two_threads(printed_on):
    assert printed_on(1, BITS) == printed_on(2, BITS) != ""
