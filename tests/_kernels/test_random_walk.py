"""The compiled walks against their twin: powers of a dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from symclust import _kernels


def random_graph(n, density, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(0.1, 2, (n, n)) * (rng.uniform(size=(n, n)) < density))
    return (W + W.T).astype(dtype)


def twin(W, starts, own, window, frontier, kept):
    """Rows of M by the formula; of each step only the `frontier` likeliest places go on."""
    n, d = len(W), W.sum(axis=1, dtype=np.float64)
    P = np.divide(W, d[:, None], out=np.zeros((n, n)), where=d[:, None] > 0)
    M = np.zeros((len(starts), n))
    for i, edges in enumerate(starts.astype(np.float64)):
        if not edges.sum() > 0:
            continue
        here = edges / edges.sum()
        total = here.copy()
        for _ in range(window - 1):
            going = np.zeros(n)
            on = np.argsort(-here, kind="stable")[:frontier]
            going[on] = here[on]
            here = going @ P
            total += here
        ratio = np.divide(d.sum() / window * total, d, out=np.zeros(n), where=d > 0)
        if own >= 0:
            ratio[own + i] = 0
        ends = np.flatnonzero(ratio > 1)
        ends = ends[np.argsort(-total[ends], kind="stable")[:kept]]
        M[i, ends] = np.log(ratio[ends])
    return M


def walk(W, starts, own, window, frontier, kept, kind=np.int32):
    csr, from_ = sp.csr_array(W), sp.csr_array(starts)
    kept = min(kept, len(W))
    columns, weights = np.empty((len(starts), kept), kind), np.empty((len(starts), kept), W.dtype)
    counts = np.empty(len(starts), np.int64)
    d = W.sum(axis=1, dtype=np.float64)
    arrays = [a for m in (csr, from_) for a in (m.indptr.astype(kind), m.indices.astype(kind), m.data)]
    _kernels.random_walk_rows(
        *arrays[:3], d, d.sum(), *arrays[3:], own, window, frontier, columns, weights, counts
    )
    M = np.zeros((len(starts), len(W)))
    for i, count in enumerate(counts):
        assert (np.diff(columns[i, :count]) > 0).all()
        M[i, columns[i, :count]] = weights[i, :count]
    return M


@settings(max_examples=60)
@given(st.integers(1, 14), st.integers(0, 1000), st.integers(1, 5), st.integers(1, 14), st.integers(1, 14))
def test_rows_are_those_of_the_formula(n, seed, window, frontier, kept):
    W = random_graph(n, 0.4, seed)
    assert walk(W, W, 0, window, frontier, kept) == pytest.approx(twin(W, W, 0, window, frontier, kept))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_new_nodes_in_any_precision(dtype, kind):
    W, new = random_graph(40, 0.2, 0, dtype), random_graph(40, 0.1, 1, dtype)[:7]
    found = walk(W, new, -1, 3, 40, 10, kind)
    assert found == pytest.approx(twin(W, new, -1, 3, 40, 10), rel=1e-5 if dtype == np.float32 else 1e-9)


def test_any_number_of_threads_gives_the_same_bits():
    W = random_graph(300, 0.05, 3)
    many = walk(W, W, 0, 3, 50, 30)
    with threadpool_limits(1):
        assert (walk(W, W, 0, 3, 50, 30) == many).all()
