"""Sweeps over a factor held by its nonzeros: against NumPy row by row, and against those over a dense one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from symclust import _kernels

NO_PAIRS = np.empty(0, dtype=np.int64)
DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}
MANY = 8192  # from so many rows on, rows are taken in steps of eight lanes


def arrays(H):
    return H.indptr.astype(np.int64), H.indices.astype(np.int32), H.data


def gram(H):
    G = np.empty((H.shape[1], H.shape[1]))
    _kernels.sparse_factor_gram(*arrays(H), G)
    return G


def sweep(A, H, full=True, offset=0.0, active=None, cycles=1, sweeps=1, opening=0.0, index=np.int32):
    """Return H, G, decrease, squared gradient and that of the rows."""
    n, G, decrease, squared = A.shape[0], gram(H), np.zeros(1), np.zeros(1)
    active = np.ones(n, np.uint8) if active is None else active.astype(np.uint8)
    row_gradient = np.zeros(n)
    indptr, columns, values, _ = _kernels.sparse_factor_sweeps(
        A.indptr.astype(index), A.indices.astype(index), A.data, A.diagonal(), *arrays(H), G, offset, full,
        cycles, sweeps, opening, active, row_gradient, decrease, squared,
    )  # fmt: skip
    swept = sp.csr_array((values, columns, indptr), shape=H.shape)
    swept.check_format(full_check=True)
    assert swept.has_canonical_format
    assert np.all(values != 0)
    return swept, G, decrease[0], squared[0], row_gradient


def dense_sweep(A, H, full=True, offset=0.0, active=None, cycles=1):
    """Do the same to a dense H."""
    n, H, decrease, squared = A.shape[0], H.toarray(), np.zeros(1), np.zeros(1)
    active = np.ones(n, np.uint8) if active is None else active.astype(np.uint8)
    G, row_gradient = _kernels.gram(H), np.zeros(n)
    _kernels.row_sweep_sparse(
        A.indptr, A.indices, A.data, A.diagonal(), H, G, offset, full, cycles, NO_PAIRS, NO_PAIRS, active,
        row_gradient, decrease, squared,
    )  # fmt: skip
    return H, G[0], decrease[0], squared[0], row_gradient


def judge(A, H, full=True, offset=0.0):
    return _kernels.sparse_factor_judge(
        A.indptr, A.indices, A.data, A.diagonal(), *arrays(H), gram(H), offset, full
    )


def objective(A, H, full=True, offset=0.0):
    E = A.toarray().astype(float) - H.toarray().astype(float) @ H.toarray().astype(float).T
    if not full:
        np.fill_diagonal(E, 0)
    return np.sum(E**2) + 2 * offset * np.sum(H.toarray().astype(float).sum(axis=1) ** 2)


def gradient(A, H, full=True, offset=0.0):
    A, H = A.toarray().astype(float), H.toarray().astype(float)
    E = H @ H.T - A
    if not full:
        np.fill_diagonal(E, 0)
    return 4 * (E @ H + offset * H.sum(axis=1, keepdims=True))


# The twin ---------------------------------------------------------------------------------------------------


def best_entry(a, b, full, x, flat):
    """Return the best x ≥ 0 of x⁴/4 + a x²/2 + b x, or of the last two terms alone."""
    if not full:
        return max(0.0, -b / a) if a > flat else x
    roots = np.roots([1.0, 0.0, a, b])
    x = np.append(roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)], 0.0)
    x = x[x >= 0]
    return x[np.argmin(x**4 / 4 + a * x**2 / 2 + b * x)]


def sweep_twin(A, H, full, offset):
    """Go over the rows in order, and in each over the columns where it or a neighbour is not zero."""
    H, A, as_stored = H.toarray().astype(float), A.toarray().astype(float), H.dtype.type
    flat, squared = 1e-14 * np.max(np.sum(H**2, axis=0)), []
    for i in range(len(H)):
        others = np.delete(np.arange(len(H)), i)
        G, b, h = H[others].T @ H[others] + offset, A[i, others] @ H[others], H[i]
        can_move = np.flatnonzero((h != 0) | (b != 0))
        slope = G @ h - b + ((h @ h - A[i, i]) * h if full else 0)
        squared.append(16 * np.sum(np.where(h > 0, slope, np.minimum(slope, 0))[can_move] ** 2))
        for l in can_move:
            rest = np.delete(np.arange(len(h)), l)
            curvature = (h[rest] @ h[rest] - A[i, i] if full else 0) + G[l, l]
            h[l] = as_stored(best_entry(curvature, G[l, rest] @ h[rest] - b[l], full, h[l], flat))
    return H, np.array(squared)


def similarity(n, dtype=np.float64, density=0.2, seed=0, diagonal=0.0):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < density), 1)
    return sp.csr_array((A + A.T + diagonal * np.diag(rng.uniform(size=n))).astype(dtype))


def start(n, k, dtype=np.float64, seed=1, density=0.3):
    """Some rows are empty."""
    rng = np.random.default_rng(seed)
    return sp.csr_array((rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) < density)).astype(dtype))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("diagonal", [0.0, 0.5])
@pytest.mark.parametrize(("full", "offset"), [(True, 0.0), (False, 0.0), (True, 0.3), (False, 0.3)])
def test_one_sweep_equals_its_twin(full, offset, diagonal, dtype, index):
    A, H0 = similarity(40, dtype, diagonal=diagonal), start(40, 7, dtype)
    H, G, decrease, squared, rows = sweep(A, H0, full, offset, index=index)
    expected, expected_rows = sweep_twin(A, H0, full, offset)
    tolerance = TOLERANCE[dtype]
    assert H.dtype == dtype
    assert_allclose(H.toarray(), expected, rtol=tolerance, atol=tolerance)
    assert_allclose(G, H.toarray().astype(float).T @ H.toarray(), rtol=1e-6, atol=1e-9)
    assert_allclose(rows, expected_rows, rtol=10 * tolerance, atol=10 * tolerance)
    assert squared == pytest.approx(rows.sum())
    drop = objective(A, H0, full, offset) - objective(A, H, full, offset)
    assert decrease == pytest.approx(drop, rel=1e-6 if dtype is np.float32 else 1e-10)


@settings(max_examples=60)
@given(
    n=st.integers(1, 20), k=st.integers(1, 30), seed=st.integers(0, 2**16), full=st.booleans(),
    offset=st.sampled_from([0.0, 0.1, 3.0]), cycles=st.integers(1, 3),
    density=st.sampled_from([0.05, 0.3, 0.9]),
)  # fmt: skip
def test_small_problems_of_all_kinds(n, k, seed, full, offset, cycles, density):
    """Without a diagonal the dense sweep finds nothing to do elsewhere: values agree, and what is tracked."""
    A, H0 = similarity(n, seed=seed, density=density), start(n, k, seed=seed + 1, density=density)
    H, G, decrease, _, rows = sweep(A, H0, full, offset, cycles=cycles)
    dense = dense_sweep(A, H0, full, offset, cycles=cycles)
    before, after = objective(A, H0, full, offset), objective(A, H, full, offset)
    assert H.data.min(initial=0.0) >= 0
    assert after == pytest.approx(objective(A, sp.csr_array(dense[0]), full, offset), abs=1e-4 * (1 + before))
    assert decrease == pytest.approx(before - after, abs=1e-10 * (1 + before))
    assert_allclose(G, H.toarray().T @ H.toarray(), atol=1e-10 * (1 + G.max()))
    assert rows[0] == pytest.approx(dense[4][0], rel=1e-9, abs=1e-12)


@settings(max_examples=40)
@given(
    n=st.integers(1, 20), k=st.integers(1, 12), seed=st.integers(0, 2**16), full=st.booleans(),
    offset=st.sampled_from([0.0, 0.4]), diagonal=st.sampled_from([0.0, 1.0]), dtype=st.sampled_from(DTYPES),
)  # fmt: skip
def test_judging_a_point(n, k, seed, full, offset, diagonal, dtype):
    A = similarity(n, dtype, seed=seed, diagonal=diagonal)
    H = start(n, k, dtype, seed=seed + 1)
    fit, squared, product, lowest, complementarity = judge(A, H, full, offset)
    slope, dense = gradient(A, H, full, offset), H.toarray().astype(float)
    AH = A.toarray().astype(float) @ dense
    projected = np.where(dense > 0, slope, np.minimum(slope, 0))
    expected = [
        np.sum(AH * dense), np.sum(projected**2), np.sum(AH**2),
        min(0.0, slope[dense == 0].min(initial=0.0)), np.abs(dense * slope).max(),
    ]  # fmt: skip
    assert_allclose([fit, squared, product, lowest, complementarity], expected, rtol=1e-9, atol=1e-10)


def test_inactive_rows_stay_and_are_not_measured():
    A, H0 = similarity(60), start(60, 5)
    active = np.arange(60) % 3 == 0
    H, _, _, _, rows = sweep(A, H0, active=active)
    assert_array_equal(H.toarray()[~active], H0.toarray()[~active])
    assert_array_equal(rows[~active], 0)
    assert_allclose(H.toarray(), dense_sweep(A, H0, active=active)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [60, MANY + 100])
def test_several_sweeps_are_sweeps_one_after_the_other(n):
    A, H = ring_of_cliques(n), labels_as_factor(n)
    active = np.arange(n) % 5 > 0
    together = sweep(A, H, active=active, sweeps=3)
    total = 0.0
    for _ in range(3):
        H, _, decrease, _, rows = sweep(A, H, active=active)
        total += decrease
    assert_allclose(together[0].toarray(), H.toarray(), rtol=1e-9, atol=1e-12)
    assert together[2] == pytest.approx(total)
    assert_allclose(together[4], rows, rtol=1e-6, atol=1e-12)


def test_rows_grow_and_shrink():
    """A node without a cluster takes part in its neighbours'; one without neighbours leaves its own."""
    A = np.zeros((5, 5))
    A[0, 1:4] = A[1:4, 0] = 1.0
    H0 = sp.csr_array(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]))
    H, *_ = sweep(sp.csr_array(A), H0)
    assert (H.toarray() > 0).sum(axis=1).tolist()[0] == 3
    assert not H.toarray()[4].any()


def test_entries_of_small_gradient_stay_zero_and_are_counted():
    A, H0, first = similarity(40), 0.3 * start(40, 7), np.arange(40) == 0  # the first row sees H0
    slope, zero = gradient(A, H0)[0], H0.toarray()[0] == 0
    assert (slope[zero] < 0).any()
    plain, closed = (sweep(A, H0, active=first, opening=opening) for opening in (0.0, np.inf))
    assert (plain[0].toarray()[0][zero] > 0).any()
    assert not closed[0].toarray()[0][zero].any()
    assert plain[3] == closed[3]  # the gradient that is reported has them all the same
    zeros = _kernels.sparse_factor_sweeps(
        A.indptr, A.indices, A.data, A.diagonal(), *arrays(H0), gram(H0), 0.0, True, 1, 1, 0.0,
        first.astype(np.uint8), np.zeros(40), np.zeros(1), np.zeros(1),
    )[3]  # fmt: skip
    assert zeros == np.sum(zero & ((A @ H0).toarray()[0] > 0))


def test_no_row_is_left_empty_because_its_entries_would_be_small():
    A, H0 = similarity(40), start(40, 7)
    H0 = sp.csr_array(H0.toarray() * (np.arange(40) % 2 == 0)[:, None])
    plain, closed = (sweep(A, H0, opening=opening)[0] for opening in (0.0, np.inf))
    assert (np.diff(H0.indptr) == 0).sum() >= 20
    np.testing.assert_array_equal(np.diff(closed.indptr) == 0, np.diff(plain.indptr) == 0)


def test_the_input_stays():
    A, H = similarity(30), start(30, 4)
    before = [part.copy() for part in (H.indptr, H.indices, H.data)]
    sweep(A, H)
    for part, copy in zip((H.indptr, H.indices, H.data), before, strict=True):
        assert_array_equal(part, copy)


def test_nothing_to_do():
    for A, H in ((similarity(6), sp.csr_array((6, 3))), (sp.csr_array((4, 4)), sp.csr_array((4, 2)))):
        swept, G, decrease, squared, _ = sweep(A, H)
        assert swept.nnz == decrease == squared == 0
        assert_array_equal(G, 0)


# Lanes ------------------------------------------------------------------------------------------------------


def ring_of_cliques(n, size=12):
    """Cliques of consecutive nodes, each linked to the next: edges inside and across the lanes."""
    i = np.arange(n)
    pairs = [(i[:-d], i[d:]) for d in range(1, size)]
    pairs = [(a[a // size == b // size], b[a // size == b // size]) for a, b in pairs]
    pairs.append((i, (i + size) % n))
    rows, columns = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    values = np.random.default_rng(0).uniform(0.5, 1, size=len(rows))
    A = sp.coo_array((values, (rows, columns)), shape=(n, n)).tocsr()
    return sp.csr_array(A + A.T)


def rival_lanes(n, size=64):
    """A clique for each lane: with fewer columns than lanes, those that move at once want the same column."""
    rng = np.random.default_rng(3)
    blocks = [rng.uniform(0.4, 0.6, size=(min(size, n - first),) * 2) for first in range(0, n, size)]
    A = sp.block_diag(blocks, format="csr")
    A = sp.csr_array(A + A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    return A


def labels_as_factor(n, k=50, size=100, dtype=np.float64):
    labels = np.arange(n) // size % k
    return sp.csr_array((np.full(n, 0.3, dtype), labels, np.arange(n + 1)), shape=(n, k))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("graph", [ring_of_cliques, rival_lanes])
def test_lanes_go_the_way_of_the_dense_sweep(graph, full, dtype):
    """The same steps, lanes and repeats; with two columns for all, steps of rivals are done again."""
    n = MANY + 300
    A = graph(n).astype(dtype)
    H0 = labels_as_factor(n, k=2 if graph is rival_lanes else 40, dtype=dtype)
    H, G, decrease, squared, rows = sweep(A, H0, full)
    dense, dense_G, *totals, dense_rows = dense_sweep(A, H0, full)
    tolerance = TOLERANCE[dtype]
    assert_allclose(H.toarray(), dense, rtol=tolerance, atol=10 * tolerance)
    assert_allclose(G, dense_G, rtol=1e-5, atol=1e-3)
    assert_allclose([decrease, squared], totals, rtol=10 * tolerance)
    assert_allclose(rows, dense_rows, rtol=0.01, atol=10 * tolerance * rows.max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_the_number_of_threads_changes_no_bit(full, dtype):
    n = 2 * MANY
    A, H0 = ring_of_cliques(n).astype(dtype), labels_as_factor(n, dtype=dtype)
    found = []
    for threads in (1, 2, 5):
        with threadpool_limits(threads):
            H, G, decrease, squared, rows = sweep(A, H0, full, sweeps=2)
            found.append([H.data, H.indices, H.indptr, G, rows, decrease, squared, judge(A, H, full)])
    for other in found[1:]:
        for mine, expected in zip(other, found[0], strict=True):
            assert_array_equal(mine, expected)
