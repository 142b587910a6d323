"""Sparse input never becomes n x n: with n = 20,000 that would be 3.2 GB, or 400 MB of bools."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from symclust._threads import split
from symclust.operators import Gram, Shifted, Sparse

N = 20_000
LIMIT = 100e6


def sparse_graph():
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, N, size=(2, 3 * N))
    A = sp.coo_array((rng.uniform(0.1, 1, size=3 * N), (i, j)), shape=(N, N))
    return Sparse(A + A.T)


def documents(**options):
    rng = np.random.default_rng(1)
    rows, columns = np.repeat(np.arange(N), 8), rng.integers(0, 5000, size=8 * N)
    X = sp.coo_array((rng.uniform(0.1, 1, size=8 * N), (rows, columns)), shape=(N, 5000))
    return Gram(X, **options)


BUILDERS = {
    "sparse": sparse_graph,
    "gram": documents,
    "gram without self-edges": lambda: documents(scale=np.full(N, 0.5), self_edges=False),
    "shifted": lambda: Shifted(documents(self_edges=False), sparse_graph(), 0.1),
}


@pytest.mark.parametrize("name", BUILDERS)
def test_no_square_array(name):
    tracemalloc.start()
    try:
        operator = BUILDERS[name]()
        tracemalloc.reset_peak()
        use(operator)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LIMIT


def use(operator):
    H = np.random.default_rng(2).uniform(size=(N, 8))
    operator @ H
    operator.diagonal(), operator.degrees(), operator.squared_norm(), operator.asymmetry()
    operator.rows([5, 7]), operator.block(slice(0, 100)), next(operator.row_blocks())
    operator.scaled(H[:, 0]) @ H
    operator.submatrix(np.arange(0, N, 2)) @ H[::2]
    operator.eigsh(2, tol=1e-2)
    operator.is_nonnegative()
    cursor = operator.row_products(H)
    for rows in split(N, 5000):
        delta = 1e-3 * cursor.product(rows)
        H[rows] += delta
        cursor.update(rows, delta)
