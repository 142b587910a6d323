"""Row descent on X itself against a plain version that forms A and asks np.roots for every entry."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels

DTYPES = (np.float32, np.float64)
TOLERANCE = {np.float32: 2e-4, np.float64: 1e-9}
NO_PAIRS = 2 * (np.empty(0, dtype=np.int64),)


class Parts:
    """A = diag(s) X diag(w) Xᵀ diag(s) + E for random sparse X and E."""

    def __init__(self, n, d, dtype=np.float64, seed=0, signed=False):
        rng = np.random.default_rng(seed)
        low = -1 if signed else 0
        X = rng.uniform(low, 1, size=(n, d)) * (rng.uniform(size=(n, d)) < 0.3)
        E = np.triu(rng.uniform(low, 0.3, size=(n, n)) * (rng.uniform(size=(n, n)) < 0.1))
        self.X, self.E = sp.csr_array(X.astype(dtype)), sp.csr_array((E + E.T).astype(dtype))
        self.s = rng.uniform(0.5, 1.5, size=n).astype(dtype)
        self.w = rng.uniform(0.5, 1.5, size=d).astype(dtype)

    def formed(self):
        left = self.s[:, None].astype(float) * self.X.toarray()
        return left * self.w @ left.T + self.E.toarray()

    def inward(self, H):
        return self.w[:, None] * (self.X.T @ (self.s[:, None] * H))

    def arrays(self, index):
        X, E = self.X, self.E
        kinds = [array.astype(index) for array in (X.indptr, X.indices, E.indptr, E.indices)]
        return (*kinds[:2], X.data, self.s, self.w, *kinds[2:], E.data)


def sweep(parts, H, full=True, offset=0.0, active=None, cycles=1, n_starts=1, index=np.int32, pairs=NO_PAIRS):
    """Run the kernel on a copy; return H, G, Z, decrease, squared gradients and those of the rows."""
    H, n = H.copy(), len(H)
    G, Z = _kernels.gram(H, n_starts), np.ascontiguousarray(parts.inward(H))
    decrease, squared, rows = np.zeros(n_starts), np.zeros(n_starts), np.zeros(n)
    active = np.ones(n, np.uint8) if active is None else active.astype(np.uint8)
    diagonal = parts.formed().diagonal().astype(H.dtype)
    _kernels.row_sweep_factored(
        *parts.arrays(index), diagonal, Z, H, G, offset, full, cycles, *pairs, active, rows, decrease, squared
    )
    return H, G, Z, decrease, squared, rows


def start(n, k, dtype=np.float64, seed=1, zeros=0.3):
    rng = np.random.default_rng(seed)
    return (rng.uniform(size=(n, k)) * (rng.uniform(size=(n, k)) >= zeros)).astype(dtype)


def objective(A, H, full, offset=0.0, hidden=None):
    E = A - H.astype(float) @ H.T.astype(float)
    if not full:
        np.fill_diagonal(E, 0)
    if hidden is not None:
        E[hidden] = 0
    return np.sum(E**2) + 2 * offset * np.sum(H.astype(float).sum(axis=1) ** 2)


def quartic_twin(a, b):
    """Return argmin over x >= 0 of x⁴/4 + a x²/2 + b x: the best of zero and all positive critical points."""
    roots = np.roots([1.0, 0.0, a, b])
    x = np.append(roots.real[np.abs(roots.imag) <= 1e-8 * np.abs(roots)], 0.0)
    x = x[x >= 0]
    return x[np.argmin(x**4 / 4 + a * x**2 / 2 + b * x)]


def twin(A, H0, full=True, offset=0.0, active=None, hidden=None):
    """One time over every entry of every active row of H, each at its best; also the squared gradient met."""
    H, squared = H0.astype(float), 0.0
    hidden = np.zeros(A.shape, bool) if hidden is None else hidden
    for i in np.flatnonzero(np.ones(len(H)) if active is None else active):
        seen = ~hidden[i] & (np.arange(len(H)) != i)
        G, b, h = H[seen].T @ H[seen] + offset, A[i, seen] @ H[seen], H[i]
        slope = G @ h - b + ((h @ h - A[i, i]) * h if full else 0)
        squared += 16 * np.sum(np.where(h > 0, slope, np.minimum(slope, 0)) ** 2)
        for l in range(len(h)):
            rest = np.delete(np.arange(len(h)), l)
            slope = G[l, rest] @ h[rest] - b[l]
            if full:
                h[l] = quartic_twin(h[rest] @ h[rest] - A[i, i] + G[l, l], slope)
            elif G[l, l] > 1e-14:
                h[l] = max(0.0, -slope / G[l, l])
            h[l] = H0.dtype.type(h[l])
    return H, squared


def check_against_twin(parts, H0, full, offset=0.0, active=None, index=np.int32):
    A, dtype = parts.formed(), H0.dtype.type
    H, G, Z, decrease, squared, rows = sweep(parts, H0, full, offset, active, index=index)
    expected, total = twin(A, H0, full, offset, active)
    tolerance = TOLERANCE[dtype]
    first, last = objective(A, H0, full, offset), objective(A, H, full, offset)
    assert_allclose(H, expected, rtol=tolerance, atol=tolerance)
    assert_allclose(Z, parts.inward(H), rtol=tolerance, atol=tolerance)
    assert_allclose(G[0], H.T.astype(float) @ H, rtol=1e-6 if dtype is np.float32 else 1e-12, atol=1e-9)
    assert decrease[0] == pytest.approx(first - last, abs=tolerance * first)
    assert [squared[0], rows.sum()] == pytest.approx([total, total], rel=tolerance)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("full", "offset"), [(True, 0.0), (False, 0.0), (True, 0.7), (False, 0.7)])
def test_a_sweep_equals_its_twin(full, offset, dtype, index):
    check_against_twin(Parts(30, 20, dtype), start(30, 3, dtype), full, offset, index=index)


@pytest.mark.parametrize("k", [1, 2, 5, 16, 33, 70])
def test_widths(k):
    check_against_twin(Parts(k + 8, 12), start(k + 8, k), True)


def test_negative_entries():
    parts = Parts(25, 10, seed=4, signed=True)
    parts.w *= np.where(np.arange(10) % 3, 1, -1)
    check_against_twin(parts, start(25, 3), True)


@settings(max_examples=30)
@given(
    n=st.integers(1, 10), d=st.integers(0, 8), k=st.integers(1, 4), seed=st.integers(0, 2**16),
    full=st.booleans(), signed=st.booleans(), cycles=st.integers(1, 3),
)  # fmt: skip
def test_the_objective_falls_by_what_is_said(n, d, k, seed, full, signed, cycles):
    parts, H0 = Parts(n, d, seed=seed, signed=signed), start(n, k, seed=seed + 1) + 0.01
    A = parts.formed()
    H, G, Z, decrease, *_ = sweep(parts, H0, full, cycles=cycles)
    first, last = objective(A, H0, full), objective(A, H, full)
    assert H.min() >= 0
    assert decrease[0] == pytest.approx(first - last, abs=1e-10 * (1 + first))
    assert last <= first + 1e-12 * (1 + first)
    assert_allclose(G[0], H.T @ H, rtol=1e-9, atol=1e-9)
    assert_allclose(Z, parts.inward(H), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [True, False])
def test_it_is_the_sweep_over_the_entries_of_a(full, dtype):
    """Also where a row is gone over several times, and later, where most entries of H have stopped moving."""
    parts = Parts(60, 25, dtype)
    A, H = sp.csr_array(parts.formed().astype(dtype)), start(60, 9, dtype)
    for _ in range(5):
        other, G, decrease, squared, rows = H.copy(), _kernels.gram(H), np.zeros(1), np.zeros(1), np.zeros(60)
        _kernels.row_sweep_sparse(
            A.indptr, A.indices, A.data, A.diagonal(), other, G, 0.1, full, 4, *NO_PAIRS,
            np.ones(60, np.uint8), rows, decrease, squared,
        )  # fmt: skip
        H, *_, own, met, by_rows = sweep(parts, H, full, 0.1, cycles=4)
        tolerance = 10 * TOLERANCE[dtype]
        assert_allclose(H, other, rtol=tolerance, atol=tolerance)
        assert_allclose([own[0], met[0]], [decrease[0], squared[0]], rtol=tolerance, atol=tolerance)
        assert_allclose(by_rows, rows, rtol=tolerance, atol=tolerance * rows.max())


@pytest.mark.parametrize("full", [True, False])
def test_starts_side_by_side_equal_starts_alone(full):
    parts, k = Parts(50, 20), 3
    alone = [start(50, k, seed=s) for s in range(4)]
    H, G, _, decrease, squared, rows = sweep(parts, np.hstack(alone), full, 0.2, n_starts=4)
    sum_of_rows = np.zeros(50)
    for s, H0 in enumerate(alone):
        one = sweep(parts, H0, full, 0.2)
        assert_allclose(H[:, s * k : (s + 1) * k], one[0], rtol=1e-11, atol=1e-12)
        assert_allclose(G[s], one[1][0], rtol=1e-11)
        assert_allclose([decrease[s], squared[s]], [one[3][0], one[4][0]], rtol=1e-11)
        sum_of_rows += one[5]
    assert_allclose(rows, sum_of_rows, rtol=1e-10, atol=1e-12)


def test_inactive_rows_stay_and_are_not_measured():
    parts, H0, active = Parts(60, 20), start(60, 3), np.arange(60) % 3 == 0
    check_against_twin(parts, H0, True, active=active)
    H, *_, rows = sweep(parts, H0, active=active)
    assert_array_equal(H[~active], H0[~active])
    assert_array_equal(rows[~active], 0)
    assert np.all(np.any(H[active] != H0[active], axis=1))


def test_rows_that_do_not_move_leave_z_alone():
    """A row without similarities rests at zero; its Z would otherwise be rounded anew."""
    parts, H0, others = Parts(30, 10), start(30, 4), np.arange(30) != 5
    alone = sp.diags_array(others.astype(float))
    parts.X, parts.E, H0[5] = sp.csr_array(alone @ parts.X), sp.csr_array(alone @ parts.E @ alone), 0
    H, _, Z, decrease, *_ = sweep(parts, H0, active=~others)
    assert_array_equal(H, H0)
    assert_array_equal(Z, parts.inward(H0))
    assert decrease[0] == 0


def test_pairs_that_are_ignored_are_not_seen():
    parts, H0 = Parts(40, 15), start(40, 3)
    rng = np.random.default_rng(2)
    hidden = np.triu(rng.uniform(size=(40, 40)) < 0.2, 1)
    hidden |= hidden.T
    parts.E = sp.csr_array(np.where(hidden, parts.E.toarray() - parts.formed(), parts.E.toarray()))
    A, mask = parts.formed(), sp.csr_array(hidden)
    pairs = mask.indptr.astype(np.int64), mask.indices.astype(np.int64)
    H, _, _, decrease, *_ = sweep(parts, H0, False, pairs=pairs)
    assert_allclose(H, twin(A, H0, False, hidden=hidden)[0], rtol=1e-9, atol=1e-9)
    first, last = (objective(A, X, False, hidden=hidden) for X in (H0, H))
    assert decrease[0] == pytest.approx(first - last, rel=1e-9)
    assert np.any(sweep(parts, H0, False)[0] != H)


# The norm ---------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    n=st.integers(0, 40), d=st.integers(0, 20), seed=st.integers(0, 2**16),
    density=st.sampled_from([0.02, 0.2, 0.9]), dtype=st.sampled_from(DTYPES),
    index=st.sampled_from([np.int32, np.int64]), diagonal=st.booleans(),
)  # fmt: skip
def test_the_squared_norm_of_an_outer_product(n, d, seed, density, dtype, index, diagonal):
    rng = np.random.default_rng(seed)
    dense = (rng.normal(size=(n, d)) * (rng.uniform(size=(n, d)) < density)).astype(dtype)
    L, T = sp.csr_array(dense), sp.csr_array(np.ascontiguousarray(dense.T))
    v, u = rng.normal(size=d), rng.normal(size=n)
    M = dense.astype(float) * v @ dense.T.astype(float)
    if not diagonal:
        np.fill_diagonal(M, 0)
    arrays = [(X.indptr.astype(index), X.indices.astype(index), X.data) for X in (L, T)]
    got = _kernels.squared_outer(*arrays[0], *arrays[1], v, u, diagonal)
    assert got == pytest.approx(u @ M**2 @ u, abs=1e-12 * (1 + np.sum(M**2)) * (1 + np.max(u**2, initial=0)))
