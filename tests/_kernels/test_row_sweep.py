"""Row descent against a plain NumPy version that goes from row to row and asks np.roots for every entry."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

NO_PAIRS = np.empty(0, dtype=np.int64)
DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}
MANY = 8192  # from so many rows on, rows are taken in steps of eight lanes
LANES = 8


def quartic_twin(a, b):
    """Return argmin over x >= 0 of x⁴/4 + a x²/2 + b x: the best of zero and all positive critical points."""
    roots = np.roots([1.0, 0.0, a, b])
    x = np.append(roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)], 0.0)
    x = x[x >= 0]
    return x[np.argmin(x**4 / 4 + a * x**2 / 2 + b * x)]


def row_twin(as_stored, b, h, G, diagonal, full, flat, cycles=1):
    """Minimise over one row, entry after entry; `G` and `b` without the row itself."""
    h = h.astype(float)
    slope = G @ h - b + ((h @ h - diagonal) * h if full else 0)
    squared_gradient = 16 * np.sum(np.where(h > 0, slope, np.minimum(slope, 0)) ** 2)

    def value():
        quadratic = 2 * h @ G @ h - 4 * b @ h
        return quadratic + ((h @ h) ** 2 - 2 * diagonal * h @ h if full else 0)

    gains = []
    for _ in range(cycles):
        before = value()
        for l in range(len(h)):
            rest = np.delete(np.arange(len(h)), l)
            slope = G[l, rest] @ h[rest] - b[l]
            if full:
                h[l] = as_stored(quartic_twin(h[rest] @ h[rest] - diagonal + G[l, l], slope))
            elif G[l, l] > flat:
                h[l] = as_stored(max(0.0, -slope / G[l, l]))
        gains.append(before - value())
        if gains[-1] <= 0.01 * gains[0]:
            break
    return h, squared_gradient


def ignored_by(mask, i):
    return mask.indices[mask.indptr[i] : mask.indptr[i + 1]]


def as_pairs(mask):
    if mask is None:
        return NO_PAIRS, NO_PAIRS
    return mask.indptr.astype(np.int64), mask.indices.astype(np.int64)


def rows_twin(A, H, rows, G, offset, full, row_gradient, cycles=1, mask=None):
    """Go over `rows` in order, changing H; `G` belongs to the H at entry. Return the squared gradient met.

    A row does not see those that `mask` pairs it with; A is zero there.
    """
    flat = 1e-14 * G.diagonal().max()  # what is left of an empty column is rounding
    G, total, diagonal = G + offset, 0.0, A.diagonal().astype(float)
    for i in rows:
        h = H[i].astype(float)
        G = G - np.outer(h, h)
        first, last = A.indptr[i], A.indptr[i + 1]
        b = A.data[first:last].astype(float) @ H[A.indices[first:last]].astype(float) - diagonal[i] * h
        hidden = H[[] if mask is None else ignored_by(mask, i)].astype(float)
        seen = G - hidden.T @ hidden
        H[i], squared = row_twin(H.dtype.type, b, h, seen, diagonal[i], full, flat, cycles)
        G = G + np.outer(H[i].astype(float), H[i].astype(float))
        row_gradient[i] = squared
        total += squared
    return total


def objective(A, H, full=True, offset=0.0, mask=None):
    A, H = A.astype(float), H.astype(float)
    if mask is not None:
        i, j = mask.nonzero()
        return objective(A, H, full, offset) - np.sum(np.sum(H[i] * H[j], axis=1) ** 2)
    if full:
        fit = A.multiply(A).sum() - 2 * np.sum(H * (A @ H)) + np.sum((H.T @ H) ** 2)
    else:
        lengths, A = np.sum(H * H, axis=1), A - sp.diags_array(A.diagonal())
        fit = A.multiply(A).sum() - 2 * np.sum(H * (A @ H)) + np.sum((H.T @ H) ** 2) - lengths @ lengths
    return fit + 2 * offset * np.sum(H.sum(axis=1) ** 2)


def plain_objective(A, H, full, offset=0.0):
    """The same entry by entry: the trace form loses digits where long rows cancel. For few rows."""
    E = A.toarray() - H @ H.T
    if not full:
        np.fill_diagonal(E, 0)
    return np.sum(E**2) + 2 * offset * np.sum(H.sum(axis=1) ** 2)


def sweep_twin(A, H, full=True, offset=0.0, active=None, cycles=1, mask=None):
    """One sweep. Return H, the squared gradient, that of each row, and how many steps were done again."""
    H, n = H.copy(), len(H)
    active = np.ones(n, bool) if active is None else active.astype(bool)
    width = min(64 * n // max(active.sum(), 1), 2048) if n >= MANY and mask is None else n
    total, row_gradient, repeats = 0.0, np.zeros(n), 0
    for begin in range(0, n, LANES * width):
        end = min(begin + LANES * width, n)
        before, after, G = H.copy(), H.copy(), H.astype(float).T @ H.astype(float)
        lanes = [slice(first, min(first + width, end)) for first in range(begin, end, width)]
        for lane in lanes:
            seen = before.copy()  # other lanes as they were when the step began
            rows = np.arange(n)[lane][active[lane]]
            total += rows_twin(A, seen, rows, G, offset, full, row_gradient, cycles, mask)
            after[lane] = seen[lane]
        H = after
        if len(lanes) > 1 and objective(A, after, full, offset) > objective(A, before, full, offset):
            H, repeats = before, repeats + 1
            rows = np.arange(begin, end)[active[begin:end]]
            rows_twin(A, H, rows, G, offset, full, row_gradient, cycles)
    return H, total, row_gradient, repeats


def sweep(A, H, full=True, offset=0.0, active=None, cycles=1, n_starts=1, index=np.int32, mask=None):
    """Run the kernel on a copy; return H, G, decrease, squared gradients and those of the rows."""
    H, n = H.copy(), len(H)
    G, decrease, squared = _kernels.gram(H, n_starts), np.zeros(n_starts), np.zeros(n_starts)
    active = np.ones(n, np.uint8) if active is None else active.astype(np.uint8)
    row_gradient = np.zeros(n)
    _kernels.row_sweep_sparse(
        A.indptr.astype(index), A.indices.astype(index), A.data, A.diagonal(), H, G, offset, full, cycles,
        *as_pairs(mask), active, row_gradient, decrease, squared,
    )  # fmt: skip
    return H, G, decrease, squared, row_gradient


def similarity(n, dtype=np.float64, density=0.3, seed=0, self_edges=True):
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < density))
    if not self_edges:
        np.fill_diagonal(A, 0)
    return sp.csr_array(np.maximum(A, A.T).astype(dtype))


def start(n, k, dtype=np.float64, seed=1, zeros=0.3):
    rng = np.random.default_rng(seed)
    return (rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) >= zeros)).astype(dtype)


def check_against_twin(A, H0, full, offset, dtype, **options):
    H, G, decrease, squared, row_gradient = sweep(A, H0, full, offset, **options)
    options.pop("index", None)
    expected, total, rows, _ = sweep_twin(A, H0, full, offset, **options)
    tolerance, mask = TOLERANCE[dtype], options.get("mask")
    scale = objective(A, H0, full, offset) + A.multiply(A).sum()
    assert_allclose(H, expected, rtol=tolerance, atol=tolerance)
    assert_allclose(G[0], H.astype(float).T @ H, rtol=1e-6 if dtype is np.float32 else 1e-12, atol=1e-9)
    drop = objective(A, H0, full, offset, mask) - objective(A, H, full, offset, mask)
    assert_allclose(decrease[0], drop, atol=scale * (1e-6 if dtype is np.float32 else 1e-13))
    assert_allclose(squared[0], total, rtol=10 * tolerance, atol=1e-25)
    assert_allclose(row_gradient, rows, rtol=10 * tolerance, atol=10 * tolerance * max(rows.max(), 1e-3))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("offset", [0.0, 0.7])
@pytest.mark.parametrize("full", [True, False])
def test_one_sweep_equals_its_twin(full, offset, dtype, index):
    check_against_twin(similarity(40, dtype), start(40, 3, dtype), full, offset, dtype, index=index)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("k", [1, 2, 4, 5, 8, 11, 16, 21, 32, 33, 40, 45, 64, 70])
def test_every_unrolled_width_and_the_general_one(k, full):
    n = 12 + k
    check_against_twin(similarity(n, density=0.6), start(n, k), full, 0.0, np.float64)


@settings(max_examples=40)
@given(
    n=st.integers(1, 15), k=st.integers(1, 5), seed=st.integers(0, 2**16), full=st.booleans(),
    offset=st.sampled_from([0.0, 0.1, 3.0]), cycles=st.integers(1, 3), self_edges=st.booleans(),
)  # fmt: skip
def test_small_problems_of_all_kinds(n, k, seed, full, offset, cycles, self_edges):
    # Where a problem is flat its minimiser is known only to the cube root of the rounding, and later entries
    # inherit that: values can be compared, and not to more digits than these.
    A = similarity(n, density=0.5, seed=seed, self_edges=self_edges)
    H0 = start(n, k, seed=seed + 1) + 0.01
    H, _, decrease, _, _ = sweep(A, H0, full, offset, cycles=cycles)
    expected = sweep_twin(A, H0, full, offset, cycles=cycles)[0]
    first, *values = (plain_objective(A, X, full, offset) for X in (H0, H, expected))
    assert H.min() >= 0
    assert values[0] == pytest.approx(values[1], abs=1e-4 * (1 + first))
    assert decrease[0] == pytest.approx(first - values[0], abs=1e-10 * (1 + first))


@pytest.mark.parametrize("full", [True, False])
def test_repeated_sweeps_become_stationary(full):
    groups = np.repeat(np.arange(3), 10)
    A = sp.csr_array((groups[:, None] == groups) * 0.8 + 0.2 * similarity(30).toarray())
    H = start(30, 3, zeros=0)
    first = sweep(A, H, full)[3][0]
    for _ in range(300):
        H, _, _, squared, _ = sweep(A, H, full)
    assert np.sqrt(squared[0] / first) < 1e-5


@pytest.mark.parametrize("k", [1, 3, 8])
def test_columns_without_information_stay(k):
    # One node has no off-diagonal entry to explain; the second column of two nodes has nothing left to do.
    H0 = np.random.default_rng(k).uniform(size=(1, k))
    H = sweep(sp.csr_array((1, 1)), H0, full=False, cycles=5)[0]
    assert_array_equal(H, H0)


def test_rounding_of_emptied_columns_does_not_become_entries():
    # With more columns than rows most columns end up on one row alone: their length is then arbitrary.
    A, H = similarity(12, density=0.6), start(12, 33)
    values = [plain_objective(A, H, False)]
    for _ in range(30):
        H, _, decrease, _, _ = sweep(A, H, full=False)
        values.append(plain_objective(A, H, False))
        assert decrease[0] == pytest.approx(values[-2] - values[-1], abs=1e-9 * values[0])
    assert values[-1] < 1e-3 * values[0]


@pytest.mark.parametrize("full", [True, False])
def test_starts_side_by_side_equal_starts_alone(full):
    A, k = similarity(50), 3
    alone = [start(50, k, seed=s) for s in range(4)]
    H, G, decrease, squared, rows = sweep(A, np.hstack(alone), full, 0.2, n_starts=4)
    sum_of_rows = np.zeros(50)
    for s, H0 in enumerate(alone):
        one = sweep(A, H0, full, 0.2)
        assert_allclose(H[:, s * k : (s + 1) * k], one[0], rtol=1e-11, atol=1e-12)
        assert_allclose(G[s], one[1][0], rtol=1e-11)
        assert_allclose([decrease[s], squared[s]], [one[2][0], one[3][0]], rtol=1e-11)
        sum_of_rows += one[4]
    assert_allclose(rows, sum_of_rows, rtol=1e-10, atol=1e-12)


def test_inactive_rows_stay_and_are_not_measured():
    A, H0 = similarity(60), start(60, 3)
    active = np.arange(60) % 3 == 0
    check_against_twin(A, H0, True, 0.0, np.float64, active=active)
    H, _, _, _, rows = sweep(A, H0, active=active)
    assert_array_equal(H[~active], H0[~active])
    assert_array_equal(rows[~active], 0)
    assert np.all(np.any(H[active] != H0[active], axis=1))


def test_no_active_row_changes_nothing():
    A, H0 = similarity(10), start(10, 2)
    H, _, decrease, squared, _ = sweep(A, H0, active=np.zeros(10))
    assert_array_equal(H, H0)
    assert decrease[0] == squared[0] == 0


def test_the_sums_are_added_to_what_is_there():
    A, H = similarity(10), start(10, 2)
    G, decrease, squared = _kernels.gram(H), np.array([5.0]), np.array([7.0])
    _, _, drop, gradient, _ = sweep(A, H)
    _kernels.row_sweep_sparse(
        A.indptr, A.indices, A.data, A.diagonal(), H, G, 0.0, True, 1, NO_PAIRS, NO_PAIRS,
        np.ones(10, np.uint8), np.zeros(10), decrease, squared,
    )  # fmt: skip
    assert_array_equal([decrease[0], squared[0]], [5 + drop[0], 7 + gradient[0]])


# Blocks of rows of a dense matrix ---------------------------------------------------------------------------


def sweep_blocks(A, H, size, full=True, offset=0.0, n_starts=1, mask=None):
    H = H.copy()
    G, decrease, squared = _kernels.gram(H, n_starts), np.zeros(n_starts), np.zeros(n_starts)
    for rows in (slice(first, min(first + size, len(H))) for first in range(0, len(H), size)):
        block = np.ascontiguousarray(A[rows, rows])
        _kernels.row_sweep_block(
            block, rows.start, A[rows] @ H, H, G, offset, full, 1, *as_pairs(mask), decrease, squared
        )
    return H, G, decrease, squared


@pytest.mark.parametrize("size", [1, 7, 16, 50])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("full", "offset"), [(True, 0.0), (False, 0.0), (True, 0.5), (False, 0.5)])
def test_blocks_equal_the_sparse_sweep(full, offset, dtype, size):
    A = similarity(50, dtype, density=0.8)
    H0 = np.hstack([start(50, 3, dtype, seed=s) for s in range(2)])
    H, G, decrease, squared, _ = sweep(A, H0, full, offset, n_starts=2)
    blocks = sweep_blocks(A.toarray(), H0, size, full, offset, n_starts=2)
    for mine, expected in zip(blocks, (H, G, decrease, squared), strict=True):
        assert mine.dtype == expected.dtype
        assert_allclose(mine, expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


# Ignored pairs ----------------------------------------------------------------------------------------------


def masked(A, density=0.2, seed=7):
    """Return a symmetric pattern without diagonal, and A without its entries there."""
    n = A.shape[0]
    pattern = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    pattern = sp.triu(pattern, 1)
    pattern = sp.csr_array(((pattern + pattern.T) != 0).astype(A.dtype))
    kept = sp.csr_array(A - A.multiply(pattern))
    kept.eliminate_zeros()
    return kept.astype(A.dtype), pattern


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("full", "offset"), [(False, 0.0), (True, 0.0), (False, 0.7)])
def test_a_sweep_without_some_pairs_equals_its_twin(full, offset, dtype, index):
    A, mask = masked(similarity(40, dtype))
    H0 = start(40, 3, dtype)
    check_against_twin(A, H0, full, offset, dtype, index=index, mask=mask)
    assert np.any(sweep(A, H0, full, offset, mask=mask)[0] != sweep(A, H0, full, offset)[0])


@pytest.mark.parametrize("k", [1, 5, 16, 33, 70])
def test_widths_without_some_pairs(k):
    A, mask = masked(similarity(12 + k, density=0.6), density=0.1)
    check_against_twin(A, start(12 + k, k), False, 0.0, np.float64, mask=mask)


@settings(max_examples=30)
@example(n=4, k=1, seed=1, density=0.5625, is_sparse=False)
@given(
    n=st.integers(1, 12), k=st.integers(1, 4), seed=st.integers(0, 2**16), density=st.floats(0, 0.6),
    is_sparse=st.booleans(),
)  # fmt: skip
def test_small_problems_without_some_pairs(n, k, seed, density, is_sparse):
    A, mask = masked(similarity(n, density=0.5, seed=seed), density, seed)
    H0 = start(n, k, seed=seed + 1) + 0.01
    H, G, decrease, *_ = sweep(A, H0, False, mask=mask) if is_sparse else sweep_blocks(
        A.toarray(), H0, 4, False, mask=mask
    )  # fmt: skip
    counts = (1 - np.eye(n)) * (1 - mask.toarray())
    first, last, expected = (
        np.sum(counts * (A.toarray() - X @ X.T) ** 2) for X in (H0, H, sweep_twin(A, H0, False, mask=mask)[0])
    )
    assert H.min() >= 0
    assert last == pytest.approx(expected, abs=1e-6 * (1 + first))
    # Rows are solved against G less what is ignored: a large row leaves the rounding of its square.
    rounding = 1e-15 * np.max(G) ** 2
    assert decrease[0] == pytest.approx(first - last, abs=1e-10 * (1 + first) + rounding)
    assert_allclose(G[0], H.T @ H, rtol=1e-9, atol=1e-9 * (1 + np.max(H0) ** 2))


def test_inactive_rows_without_some_pairs():
    A, mask = masked(similarity(60))
    check_against_twin(A, start(60, 3), False, 0.0, np.float64, mask=mask, active=np.arange(60) % 3 == 0)


@pytest.mark.parametrize("full", [True, False])
def test_starts_side_by_side_without_some_pairs(full):
    (A, mask), k = masked(similarity(50)), 3
    alone = [start(50, k, seed=s) for s in range(3)]
    H, G, decrease, squared, _ = sweep(A, np.hstack(alone), full, n_starts=3, mask=mask)
    for s, H0 in enumerate(alone):
        one = sweep(A, H0, full, mask=mask)
        assert_allclose(H[:, s * k : (s + 1) * k], one[0], rtol=1e-11, atol=1e-12)
        assert_allclose(G[s], one[1][0], rtol=1e-11)
        assert_allclose([decrease[s], squared[s]], [one[2][0], one[3][0]], rtol=1e-11)


@pytest.mark.parametrize("size", [1, 7, 50])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_blocks_without_some_pairs_equal_the_sparse_sweep(full, dtype, size):
    A, mask = masked(similarity(50, dtype, density=0.8))
    H0 = np.hstack([start(50, 3, dtype, seed=s) for s in range(2)])
    expected = sweep(A, H0, full, n_starts=2, mask=mask)[:4]
    for mine, other in zip(
        sweep_blocks(A.toarray(), H0, size, full, n_starts=2, mask=mask), expected, strict=True
    ):
        assert_allclose(mine, other, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_a_row_that_ignores_all_others_stays():
    A, H0 = similarity(10), start(10, 2)
    alone = np.zeros((10, 10))
    alone[3] = alone[:, 3] = 1
    alone[3, 3] = 0
    mask = sp.csr_array(alone)
    A = sp.csr_array(A.toarray() * (1 - alone))
    H = sweep(A, H0, False, mask=mask)[0]
    assert_array_equal(H[3], H0[3])
    assert np.all(np.any(np.delete(H != H0, 3, axis=0), axis=1))


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
    return sp.csr_array(A + A.T + sp.diags_array(np.full(n, 0.3)))


def rival_lanes(n, size=64):
    """A clique for each lane: with fewer columns than lanes, those that move at once want the same column."""
    rng = np.random.default_rng(3)
    blocks = [rng.uniform(0.4, 0.6, size=(min(size, n - first),) * 2) for first in range(0, n, size)]
    A = sp.block_diag(blocks, format="csr")
    return sp.csr_array(A + A.T)


@pytest.mark.parametrize("full", [True, False])
def test_lanes_equal_their_twin(full):
    n = MANY + 30
    A, H0 = ring_of_cliques(n), start(n, 2, zeros=0.5)
    check_against_twin(A, H0, full, 0.05, np.float64)


def test_many_rows_without_some_pairs_are_taken_one_after_the_other():
    n = MANY + 30
    A, mask = masked(ring_of_cliques(n), density=1e-4)
    check_against_twin(A, start(n, 2, zeros=0.5), False, 0.0, np.float64, mask=mask)


def test_lanes_of_few_active_rows_equal_their_twin():
    n = MANY + 30
    A, H0 = ring_of_cliques(n), start(n, 2)
    active = np.random.default_rng(5).uniform(size=n) < 0.1
    check_against_twin(A, H0, True, 0.0, np.float64, active=active)
    assert_array_equal(sweep(A, H0, active=active)[0][~active], H0[~active])


def test_a_step_that_would_rise_is_done_again_in_order():
    A, H0 = rival_lanes(MANY), np.full((MANY, 1), 1e-3)
    expected, _, _, repeats = sweep_twin(A, H0)
    assert repeats > 0
    H, _, decrease, _, _ = sweep(A, H0)
    assert_allclose(H, expected, rtol=1e-9, atol=1e-9)
    assert decrease[0] == pytest.approx(objective(A, H0) - objective(A, H), rel=1e-10)


def test_only_the_start_that_would_rise_is_done_again():
    A = rival_lanes(MANY)
    overshooting, calm = np.full((MANY, 1), 1e-3), np.full((MANY, 1), 0.3)
    both = sweep(A, np.hstack([overshooting, calm]), n_starts=2)
    for s, H0 in enumerate((overshooting, calm)):
        alone = sweep(A, H0)
        assert_allclose(both[0][:, s : s + 1], alone[0], rtol=1e-11)
        assert_allclose(both[2][s], alone[2][0], rtol=1e-11)
        assert_allclose(both[1][s], alone[1][0], rtol=1e-11)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("make", [ring_of_cliques, rival_lanes])
def test_lanes_never_rise_and_track_the_objective(make, full, dtype):
    A, H = make(MANY + 100), np.full((MANY + 100, 3), 1e-3)
    H += 1e-3 * start(len(H), 3)
    A, H = A.astype(dtype), H.astype(dtype)
    values = [objective(A, H, full)]
    rounding = (1e-6 if dtype is np.float32 else 1e-13) * values[0]
    for _ in range(8):
        H, G, decrease, _, _ = sweep(A, H, full)
        values.append(objective(A, H, full))
        assert decrease[0] >= 0
        assert decrease[0] == pytest.approx(values[-2] - values[-1], abs=rounding)
        assert_allclose(G[0], H.astype(float).T @ H, rtol=1e-5 if dtype is np.float32 else 1e-11, atol=1e-9)
    assert all(later <= earlier + rounding for earlier, later in pairwise(values))
    assert values[-1] < 0.999 * values[0]
