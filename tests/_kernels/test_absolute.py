"""Weighted medians and sweeps of the absolute loss against Algorithms 7, 1, 3 and 4 in plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

NO_PAIRS = np.empty(0, dtype=np.int64)
MEASURE, MEDIAN, BINARY = 0, 1, 2
DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 5e-4, np.float64: 1e-9}


def misfit(a, b, x):
    return np.abs(a * x - b).sum()


def median_twin(a, b):
    """Algorithm 7 with its last line: sort the breakpoints, stop where half of the weight is behind."""
    points, weights = b[a > 0] / a[a > 0], a[a > 0]
    if not weights.size:
        return 0.0
    order = np.argsort(points, kind="stable")
    sums = np.cumsum(weights[order])
    return max(0.0, points[order][np.searchsorted(sums, sums[-1] / 2)])


def lowest_misfit(a, b):
    """The least value over x >= 0: at zero or at a breakpoint, whichever it is."""
    candidates = np.append(np.maximum(b[a > 0] / a[a > 0], 0.0), 0.0)
    return min(misfit(a, b, x) for x in candidates)


# One entry --------------------------------------------------------------------------------------------------


def solve(a, b, guess=0.0, dtype=np.float64, rule=MEDIAN):
    """Solve one problem through the kernel: it is that of the first entry, which is `guess` now."""
    R = np.concatenate([[1e9], b])[None].astype(dtype)  # the diagonal must not count
    x = np.concatenate([[guess], a]).astype(dtype)
    nothing, change, first = np.zeros_like(x), np.zeros(1), np.zeros(1, dtype=np.int64)
    _kernels.absolute_rows(R, first, first, nothing, nothing, nothing, x, NO_PAIRS, NO_PAIRS, rule, change)
    assert_array_equal(x[1:], a.astype(dtype))
    return x[0], change[0]


def check_exactly(a, b, guess, dtype=np.float64):
    """Small whole numbers have exact sums, so that ties are ties for both."""
    x, decrease = solve(a, b, guess, dtype)
    assert x == dtype(median_twin(a, b))
    if dtype is np.float64:
        assert misfit(a, b, x) == pytest.approx(lowest_misfit(a, b), rel=1e-12, abs=1e-12)
        expected = 2 * (misfit(a, b, guess) - misfit(a, b, x))
        assert decrease == pytest.approx(expected, rel=1e-10, abs=1e-10 * (1 + np.abs(b).sum()))


TERMS = st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), max_size=60)
GUESSES = st.sampled_from([0.0, 0.5, 1.0, 2.0, 1 / 3, 6.0, 1e6])


@settings(max_examples=200)
@given(terms=TERMS, guess=GUESSES, dtype=st.sampled_from(DTYPES))
def test_an_entry_is_the_lower_weighted_median(terms, guess, dtype):
    a, b = np.array(terms, dtype=float).reshape(-1, 2).T
    check_exactly(a, b, guess, dtype)


@settings(max_examples=100)
@given(bits=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=80), guess=st.sampled_from([0.0, 1.0]))
def test_binary_terms(bits, guess):
    a, b = np.array(bits, dtype=float).reshape(-1, 2).T
    check_exactly(a, b, guess)
    # Among 0 and 1, the other rule takes the better, and 0 if they are equal.
    x, decrease = solve(a, b, guess, rule=BINARY)
    assert x == (misfit(a, b, 1) < misfit(a, b, 0))
    assert decrease == 2 * (misfit(a, b, guess) - misfit(a, b, x))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([], [], 0.0),
        ([0, 0], [3, 4], 0.0),  # nothing depends on x
        ([1], [-2], 0.0),
        ([1], [2], 2.0),
        ([1, 1], [1, 2], 1.0),  # anything from 1 to 2: the lower end
        ([2, 1, 1], [2, 2, 3], 1.0),
        ([1, 1], [-1, 5], 0.0),
        ([1, 0, 3], [5, 9, 6], 2.0),
    ],
)
@pytest.mark.parametrize("guess", [0.0, 1.0, 1.5, 2.0, 5.0])
def test_medians_known_by_hand(a, b, expected, guess):
    assert solve(np.array(a, float), np.array(b, float), guess)[0] == expected


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("off", [-1.0, 0.0, 1.0])
def test_weights_that_differ_by_rounding_are_a_tie(off, dtype):
    # Both halves weigh the same but for the last bits: the lower end is taken, whichever side they favour.
    few = 4 * np.finfo(dtype).eps * off
    for half in (1, 40):
        a = np.repeat([0.7, 0.7 * (1 + few)], half).astype(dtype).astype(float)
        at = np.repeat([1.0, 2.0], half)
        for guess in (0.0, 1.5, 2.0):
            x, _ = solve(a, a * at, guess, dtype)
            assert x == pytest.approx(1.0, rel=1e-6)
            assert solve_sparse(a, a * at, guess, dtype) == pytest.approx(1.0, rel=1e-6)
    # A difference that is more than rounding decides.
    assert solve(np.array([1.0, 1.001]), np.array([1.0, 2.002]))[0] == pytest.approx(2)


def solve_sparse(a, b, guess, dtype):
    """The same problem through the sparse kernel: a column of its own, and one row of A."""
    H = np.concatenate([[guess], a])[:, None].astype(dtype)
    indptr, indices = np.full(len(H) + 1, len(a)), np.arange(1, len(H))
    indptr[0] = 0
    first = np.zeros(1, dtype=np.int64)
    x = H[:, 0].copy()
    _kernels.absolute_sparse(
        indptr, indices, b.astype(dtype), H, x, 0, first, NO_PAIRS, NO_PAIRS, MEDIAN, np.zeros(1)
    )
    return x[0]


def points(kind, size, rng):
    """Breakpoints of all shapes that a method which samples could stumble over."""
    position = np.arange(size) % 1000
    return {
        "sorted": np.sort(rng.integers(-20, 400, size)),
        "reversed": -np.sort(-rng.integers(-20, 400, size)),
        "constant": np.full(size, 7),
        "two values": np.where(rng.uniform(size=size) < 0.5, 3, 5),
        "nearly all below zero": np.where(rng.uniform(size=size) < 0.4, position + 1, -position),
        "heavy tailed": np.round(np.minimum(rng.pareto(0.4, size), 2**30)),
        "organ pipe": np.minimum(position, 1000 - position),
        "few values": rng.integers(0, 4, size),
    }[kind].astype(float)


def weights(kind, size, rng):
    return {
        "equal": np.ones(size),
        "mostly zero": rng.integers(1, 4, size) * (rng.uniform(size=size) < 0.05),
        "powers of two": 2.0 ** rng.integers(0, 11, size),
        "one rules": np.where(np.arange(size) == size // 3, 2.0 * size, 1.0),
    }[kind].astype(float)


@pytest.mark.parametrize("size", [24, 25, 26, 200, 1024, 1500, 6000])
@pytest.mark.parametrize("weight", ["equal", "mostly zero", "powers of two", "one rules"])
@pytest.mark.parametrize(
    "kind",
    ["sorted", "reversed", "constant", "two values", "nearly all below zero", "heavy tailed", "organ pipe",
     "few values"],
)  # fmt: skip
def test_many_terms(kind, weight, size):
    rng = np.random.default_rng(size)
    at, a = points(kind, size, rng), weights(weight, size, rng)
    b = a * at  # exact for weights that are small whole numbers
    expected = median_twin(a, b)
    for guess in (0.0, expected, expected + 1, max(expected - 1, 0), 0.5, 1e7):
        x, decrease = solve(a, b, guess)
        assert x == expected
        drop = 2 * (misfit(a, b, guess) - misfit(a, b, x))
        assert decrease == pytest.approx(drop, rel=1e-9, abs=1e-9 * np.abs(b).sum())


@settings(max_examples=60)
@given(
    size=st.integers(1, 4000), seed=st.integers(0, 2**16), spread=st.sampled_from([0.1, 1.0, 4.0]),
    guess=st.sampled_from([0.0, 1.0, 30.0]), dtype=st.sampled_from(DTYPES),
)  # fmt: skip
def test_no_breakpoint_is_better(size, seed, spread, guess, dtype):
    rng = np.random.default_rng(seed)
    a = np.exp(spread * rng.normal(size=size)).astype(dtype).astype(float)
    b = (a * np.exp(rng.normal(size=size)) - 0.5 * a).astype(dtype).astype(float)
    x, decrease = solve(a, b, guess, dtype)
    eps = np.finfo(dtype).eps
    rounding = 4 * eps * (misfit(a, b, 0.0) + a.sum() * float(x))
    assert misfit(a, b, float(x)) <= misfit(a, b, median_twin(a, b)) + rounding
    drop = 2 * (misfit(a, b, guess) - misfit(a, b, float(x)))
    assert decrease == pytest.approx(drop, abs=4 * rounding + 1e-12 * misfit(a, b, guess))


# Sweeps -----------------------------------------------------------------------------------------------------


def problem(n, k, dtype=np.float64, density=0.6, seed=0, ignored=0.0):
    """Return A, H and the mask of ignored pairs, where A is zero."""
    rng = np.random.default_rng(seed)
    A = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < density))
    H = rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) < 0.7)
    mask = np.triu(rng.uniform(size=(n, n)) < ignored, 1)
    mask |= mask.T
    return np.where(mask, 0, np.maximum(A, A.T)).astype(dtype), H.astype(dtype), mask


def as_pairs(mask):
    pattern = sp.csr_array(mask)
    if not pattern.nnz:
        return NO_PAIRS, NO_PAIRS
    return pattern.indptr.astype(np.int64), pattern.indices.astype(np.int64)


def objective(A, H, mask):
    E = np.abs(A.astype(float) - H.astype(float) @ H.T.astype(float))
    return E[~mask & ~np.eye(len(A), dtype=bool)].sum()


def entry_problem(P, h, mask, k):
    others = ~mask[k]
    others[k] = False
    return h[others], P[k, others]


def with_residual(A, H, mask, orders):
    """Algorithms 1 and 3, column l in the order orders[l]."""
    H, stored = H.astype(float), H.dtype.type
    R = A.astype(float) - H @ H.T
    for l, order in enumerate(orders):
        P = R + np.outer(H[:, l], H[:, l])
        for k in order:
            H[k, l] = stored(median_twin(*entry_problem(P, H[:, l], mask, k)))
        R = P - np.outer(H[:, l], H[:, l])
    return H


def without_residual(A, H, mask, orders):
    """Algorithm 4."""
    A, H, stored = A.astype(float), H.astype(float), H.dtype.type
    for l, order in enumerate(orders):
        for k in order:
            b = A[k] - H @ H[k] + H[:, l] * H[k, l]  # line 9
            H[k, l] = stored(median_twin(*entry_problem(np.tile(b, (len(A), 1)), H[:, l], mask, k)))
    return H


def sweep_rows(A, H, mask, orders, rule=MEDIAN, parts=1):
    """Run the dense kernel as it is meant to be run: a residual that is always one change late.

    Its rows are stored in another order than that of the entries.
    """
    H, n = H.copy(), len(A)
    storage = np.random.default_rng(n).permutation(n)
    place_of = np.argsort(storage)
    R, change = np.ascontiguousarray((A - H @ H.T)[storage]), np.zeros(1)
    earlier = later = np.zeros(n, dtype=A.dtype)
    for l, order in enumerate(orders):
        x = H[:, l].copy()
        before = x.copy()
        for ids in np.array_split(order, parts):
            _kernels.absolute_rows(
                R, place_of[ids], ids, earlier, later, before, x, *as_pairs(mask), rule, change
            )
        H[:, l], earlier, later = x, before, x
    R = R[place_of] + np.outer(earlier, earlier) - np.outer(later, later)
    assert_allclose(R, A - H @ H.T, atol=1e-5 if A.dtype == np.float32 else 1e-13)
    return H, change[0]


def sweep_sparse(A, H, mask, orders, rule=MEDIAN, parts=1, index=np.int32):
    H, csr, change = H.copy(), sp.csr_array(A), np.zeros(1)
    arrays = csr.indptr.astype(index), csr.indices.astype(index), csr.data
    for l, order in enumerate(orders):
        x = H[:, l].copy()
        for ids in np.array_split(order, parts):
            _kernels.absolute_sparse(*arrays, H, x, l, ids, *as_pairs(mask), rule, change)
        assert_array_equal(x, H[:, l])
    return H, change[0]


def sweep_sparse_long(*args, **options):
    return sweep_sparse(*args, **options, index=np.int64)


KERNELS = pytest.mark.parametrize("sweep", [sweep_rows, sweep_sparse, sweep_sparse_long])


def orders_of(kind, n, k):
    rng = np.random.default_rng(5)
    return [{"natural": np.arange(n), "reversed": np.arange(n)[::-1].copy()}.get(kind, rng.permutation(n))
            for _ in range(k)]  # fmt: skip


@KERNELS
@pytest.mark.parametrize("ignored", [0.0, 0.15])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["natural", "reversed", "random"])
def test_a_sweep_equals_its_twins(sweep, kind, dtype, ignored):
    A, H0, mask = problem(30, 4, dtype, ignored=ignored)
    orders = orders_of(kind, 30, 4)
    H, decrease = sweep(A, H0, mask, orders)
    assert H.dtype == dtype
    for twin in (with_residual, without_residual):
        assert_allclose(H, twin(A, H0, mask, orders), rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
    first, last = objective(A, H0, mask), objective(A, H, mask)
    assert last < 0.9 * first
    assert decrease == pytest.approx(first - last, abs=1e-2 * TOLERANCE[dtype] * first)
    apart, also = sweep(A, H0, mask, orders, parts=7)
    assert_array_equal(apart, H)
    assert also == pytest.approx(decrease, rel=1e-12)


@KERNELS
def test_several_sweeps_stay_with_their_twins_and_become_stationary(sweep):
    A, H, mask = problem(25, 3, ignored=0.1, seed=4)
    orders, expected, decreases = orders_of("natural", 25, 3), H, []
    for _ in range(12):
        H, decrease = sweep(A, H, mask, orders)
        expected = with_residual(A, expected, mask, orders)
        assert_allclose(H, expected, rtol=1e-7, atol=1e-7)
        decreases.append(decrease)
    assert min(decreases) >= -1e-12
    assert decreases[-1] < 1e-3 * decreases[0]


@KERNELS
def test_negative_entries_and_empty_columns(sweep):
    A, H0, mask = problem(20, 3, seed=2, ignored=0.1)
    A[A < 0.3] *= -1
    H0[:, 1] = 0
    orders = orders_of("random", 20, 3)
    H, decrease = sweep(A, H0, mask, orders)
    assert_allclose(H, with_residual(A, H0, mask, orders), rtol=1e-9, atol=1e-9)
    assert decrease == pytest.approx(objective(A, H0, mask) - objective(A, H, mask), rel=1e-10)
    assert not H[:, 1].any()  # each of its entries multiplies the others


@settings(max_examples=60)
@given(
    n=st.integers(1, 9), k=st.integers(1, 4), seed=st.integers(0, 2**16), values=st.integers(1, 3),
    is_sparse=st.booleans(), ignored=st.sampled_from([0.0, 0.3]),
)  # fmt: skip
def test_entry_after_entry_where_ties_abound(n, k, seed, values, is_sparse, ignored):
    # Where whole numbers tie, rounding decides for one of many minimisers: values are compared, not entries.
    _, _, mask = problem(n, k, seed=seed, ignored=ignored)
    rng = np.random.default_rng(seed)
    A = np.triu(rng.integers(0, values + 1, size=(n, n)))
    A = np.where(mask, 0, np.maximum(A, A.T)).astype(float)
    H = rng.integers(0, 3, size=(n, k)).astype(float)
    sweep = sweep_sparse if is_sparse else sweep_rows
    for l in range(k):
        for i in range(n):
            before, old = objective(A, H, mask), H.copy()
            orders = [np.array([i]) if m == l else np.empty(0, dtype=np.int64) for m in range(k)]
            H, decrease = step(sweep, A, H, mask, orders)
            P = A - H @ H.T + np.outer(H[:, l], H[:, l])
            a, b = entry_problem(P, H[:, l], mask, i)
            assert misfit(a, b, H[i, l]) == pytest.approx(lowest_misfit(a, b), abs=1e-10)
            assert decrease == pytest.approx(before - objective(A, H, mask), abs=1e-10)
            H_others = np.delete(H.reshape(-1), i * k + l)
            assert_array_equal(H_others, np.delete(old.reshape(-1), i * k + l))


def step(sweep, A, H, mask, orders):
    """Visit one entry. The residual kernel updates rows as they are visited, so that rows not visited lag."""
    if sweep is sweep_sparse:
        return sweep_sparse(A, H, mask, orders)
    l = next(m for m, order in enumerate(orders) if order.size)
    H, x, before, nothing = H.copy(), H[:, l].copy(), H[:, l].copy(), np.zeros(len(H))
    R, change = A - H @ H.T, np.zeros(1)
    _kernels.absolute_rows(
        R, orders[l], orders[l], nothing, nothing, before, x, *as_pairs(mask), MEDIAN, change
    )
    H[:, l] = x
    return H, change[0]


@KERNELS
@pytest.mark.parametrize("dtype", DTYPES)
def test_measuring_changes_nothing(sweep, dtype):
    A, H0, mask = problem(20, 3, dtype, ignored=0.1)
    H, possible = sweep(A, H0, mask, orders_of("random", 20, 3), rule=MEASURE)
    assert_array_equal(H, H0)
    wide, expected = H0.astype(float), 0.0
    for i, l in np.ndindex(H0.shape):
        P = A.astype(float) - wide @ wide.T + np.outer(wide[:, l], wide[:, l])
        a, b = entry_problem(P, wide[:, l], mask, i)
        expected += 2 * (misfit(a, b, wide[i, l]) - lowest_misfit(a, b))
    assert possible == pytest.approx(expected, rel=1e-5 if dtype is np.float32 else 1e-11)


@KERNELS
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_better_of_zero_and_one(sweep, dtype):
    A, H0, mask = problem(20, 3, dtype, ignored=0.1)
    A, orders = np.ceil(A), orders_of("random", 20, 3)
    H, decrease = sweep(A, H0, mask, orders, rule=BINARY)
    expected = H0.astype(float)
    for l, order in enumerate(orders):
        for i in order:
            P = A - expected @ expected.T + np.outer(expected[:, l], expected[:, l])
            a, b = entry_problem(P, expected[:, l], mask, i)
            expected[i, l] = misfit(a, b, 1.0) < misfit(a, b, 0.0)
    assert_array_equal(H, expected)
    first, last = objective(A, H0, mask), objective(A, H, mask)
    assert decrease == pytest.approx(first - last, abs=1e-5 if dtype is np.float32 else 1e-10)


# Entries of HHᵀ on a pattern --------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 60, 700])  # 700: enough for several threads
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 3, 8, 33])
def test_products_on_a_pattern(n, k, dtype, index):
    rng = np.random.default_rng(0)
    pattern = sp.csr_array(sp.random_array((n, n), density=0.3, rng=rng))
    H = rng.normal(size=(n, k)).astype(dtype)
    out = np.full(pattern.nnz, np.nan, dtype=dtype)
    _kernels.pattern_products(pattern.indptr.astype(index), pattern.indices.astype(index), H, out)
    expected = (H.astype(float) @ H.T.astype(float))[pattern.nonzero()]
    assert_allclose(out, expected, rtol=0, atol=k * (1e-6 if dtype is np.float32 else 1e-14))


def test_products_on_an_empty_pattern():
    out = np.empty(0)
    _kernels.pattern_products(np.zeros(4, dtype=np.int32), np.empty(0, dtype=np.int32), np.ones((3, 2)), out)
    assert out.size == 0
