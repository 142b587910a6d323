"""Cutting a graph in two, against a twin that follows the same steps node by node."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from symclust import _kernels
from symclust.hierarchy import LeafGraph
from symclust.operators import Sparse

NO_CUT = -math.inf
COARSEST, STARTS, START_SWEEPS, LEVEL_SWEEPS, PASSES = 100, 8, 30, 3, 2


class SplitMix:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    def unit(self):
        return (self.next() >> 11) * 2.0**-53


class Twin:
    """A small dense graph: W without loops, loops, volumes and sizes."""

    def __init__(self, W, loops, volumes, sizes, balance, smallest):
        self.W, self.loops, self.volumes, self.sizes = W, loops, volumes, sizes
        self.balance, self.smallest, self.n = balance, smallest, len(W)
        self.degrees = W.sum(axis=1) + loops

    def judge(self, side):
        right = side.astype(bool)
        sums = []
        for part in (~right, right):
            inside = self.W[np.ix_(part, part)].sum() + self.loops[part].sum()
            sums.append((inside, self.volumes[part].sum(), self.sizes[part].sum()))
        if min(size for _, _, size in sums) < self.smallest:
            return NO_CUT
        gain = sum(a / v if v > 0 else 0 for a, v, _ in sums) - self.degrees.sum() / self.volumes.sum()
        share = min(v for _, v, _ in sums) / self.volumes.sum()
        weight = 1.0 if share >= 0.1 or self.balance == 0 else (share / 0.1) ** self.balance
        return gain * weight if gain > 0 else gain - (1 - weight)

    def sweep(self, H):
        roots = np.where(self.degrees > 0, self.degrees, 1) ** -0.5 * (self.degrees > 0)
        S = self.W * roots[:, None] * roots
        for i in range(self.n):
            G = H.T @ H - np.outer(H[i], H[i])
            H[i] = nonnegative_pair(G, S[i] @ H)

    def cut_along(self, H):
        sums = H.sum(axis=1)
        keys = np.where(sums > 0, H[:, 1] / np.where(sums > 0, sums, 1), 0.5)
        order = sorted(range(self.n), key=lambda i: (keys[i], i))
        best, kept = NO_CUT, np.ones(self.n)
        side = np.ones(self.n)
        for i in order[:-1]:
            side[i] = 0
            value = self.judge(side)
            if value > best:
                best, kept = value, side.copy()
        return best, kept

    def move(self, side):
        value = self.judge(side)
        for _ in range(PASSES if value > NO_CUT else 0):
            moved = False
            for i in range(self.n):
                if not self.W[i][side != side[i]].any():
                    continue
                side[i] = 1 - side[i]
                now = self.judge(side)
                if now > value + 1e-12:
                    value, moved = now, True
                else:
                    side[i] = 1 - side[i]
            if not moved:
                break
        return value, side

    def by_factor(self, H, sweeps):
        for _ in range(sweeps):
            self.sweep(H)
        value, side = self.cut_along(H)
        return self.move(side) if value > NO_CUT else (value, side)

    def from_random(self, random):
        found = []
        for _ in range(STARTS):
            H = np.array([[math.sqrt(d) * random.unit() for _ in range(2)] for d in self.degrees])
            found.append(self.by_factor(H / np.linalg.norm(H), START_SWEEPS))
        return max(found, key=lambda pair: pair[0])

    def group(self, random, limit=None):
        order = list(range(self.n))
        for i in range(self.n - 1, 0, -1):
            j = random.next() % (i + 1)
            order[i], order[j] = order[j], order[i]
        group, held = [-1] * self.n, []
        limit = 1.5 * self.degrees.sum() / COARSEST if limit is None else limit
        for i in order:
            if group[i] >= 0:
                continue
            best, strongest = -1, 0.0
            for j in np.flatnonzero(self.W[i]):
                there = held[group[j]] if group[j] >= 0 else self.degrees[j]
                strength = self.W[i, j] / there
                if strength > strongest and there + self.degrees[i] <= limit:
                    best, strongest = j, strength
            if best >= 0 and group[best] >= 0:
                group[i] = group[best]
                held[group[i]] += self.degrees[i]
                continue
            group[i] = len(held)
            held.append(self.degrees[i])
            if best >= 0:
                group[best] = group[i]
                held[-1] += self.degrees[best]
        order = list(dict.fromkeys(group))  # groups are numbered by their first node
        return np.array([order.index(k) for k in group])

    def contract(self, group):
        Z = (group[:, None] == np.arange(group.max() + 1)).astype(float)
        B = Z.T @ (self.W + np.diag(self.loops)) @ Z
        inside = np.diag(B).copy()
        return Twin(
            B - np.diag(inside), inside, self.volumes @ Z, self.sizes @ Z, self.balance, self.smallest
        )

    def bisect(self, random):
        if self.n <= COARSEST:
            return self.from_random(random)
        group = self.group(random)
        if group.max() + 1 > 0.9 * self.n:
            return self.from_random(random)
        value, rough = self.contract(group).bisect(random)
        if value == NO_CUT:
            return self.from_random(random)
        kept = self.move(rough[group].copy())
        totals = [self.degrees[kept[1] == s].sum() for s in (0, 1)]
        H = np.sqrt(self.degrees[:, None] / totals)
        H[kept[1] == 0, 1] *= 0.1
        H[kept[1] == 1, 0] *= 0.1
        again = self.by_factor(H, LEVEL_SWEEPS)
        return again if again[0] > kept[0] else kept


def nonnegative_pair(G, b):
    """Brute force over which of the two are zero."""
    candidates = [np.zeros(2)]
    if np.linalg.det(G) > 1e-12 * G[0, 0] * G[1, 1]:
        candidates.append(np.linalg.solve(G, b))
    for i in (0, 1):
        if G[i, i] > 0:
            one = np.zeros(2)
            one[i] = b[i] / G[i, i]
            candidates.append(one)
    allowed = [h for h in candidates if (h >= 0).all()]
    return min(allowed, key=lambda h: h @ G @ h - 2 * b @ h)


def random_graph(n, density, seed, loops=False):
    """A connected graph with weights drawn from an interval, so that there are no ties."""
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(0.5, 1.5, (n, n)) * (rng.random((n, n)) < density), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.3 * rng.random(n - 1) + 0.01
    return W + W.T, rng.random(n) * loops


@pytest.mark.parametrize(("balance", "loops"), [(0.0, True), (0.25, False), (1.0, True)])
@pytest.mark.parametrize(("n", "density"), [(2, 1.0), (3, 0.5), (9, 0.4), (40, 0.1), (150, 0.03)])
def test_follows_its_twin(n, density, balance, loops):
    W, diagonal = random_graph(n, density, seed=n, loops=loops)
    volumes = W.sum(axis=1) + diagonal + np.random.default_rng(1).random(n)  # edges to elsewhere
    smallest = 1 + n // 20
    value, side = Twin(W, diagonal, volumes, np.ones(n), balance, smallest).bisect(SplitMix(n))
    A = sp.csr_array(W)
    found, sums = np.empty(n, np.uint8), np.empty((3, 2))
    value_found = _kernels.bisect_graph(
        A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, diagonal, volumes, np.ones(n),
        balance, smallest, n, found, sums,
    )  # fmt: skip
    assert_allclose(value_found, value, rtol=1e-9)
    assert_array_equal(found, side != side[0])
    for s in (0, 1):
        part = found == s
        inside = W[np.ix_(part, part)].sum() + diagonal[part].sum()
        assert_allclose(sums[:, s], [inside, volumes[part].sum(), part.sum()], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [0.05, 0.3])  # of all degrees, that a group may have
def test_joins_nodes_as_its_twin_does(share, dtype):
    n = 60
    W, diagonal = random_graph(n, 0.1, seed=5, loops=True)
    W, diagonal = W.astype(dtype), diagonal.astype(dtype).astype(float)
    rng = np.random.default_rng(2)
    volumes, sizes = rng.random(n), rng.integers(1, 4, n).astype(float)
    twin = Twin(W.astype(float), diagonal, volumes, sizes, 0.25, 1)
    limit = share * twin.degrees.sum()
    group = twin.group(SplitMix(7), limit)
    expected = twin.contract(group)
    A = sp.csr_array(W)
    given = (A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, diagonal, volumes, sizes)
    found, indptr, indices, weights, loops, its_volumes, its_sizes = _kernels.coarsen_graph(*given, limit, 7)
    assert_array_equal(found, group)
    shape = (expected.n, expected.n)
    assert_allclose(sp.csr_array((weights, indices, indptr), shape=shape).toarray(), expected.W, atol=1e-12)
    assert_allclose(loops, expected.loops)
    assert_allclose(its_volumes, expected.volumes)
    assert_array_equal(its_sizes, expected.sizes)
    assert (loops + expected.W.sum(axis=1) <= limit * (1 + 1e-12)).all()


def test_sizes_decide_which_cuts_leave_enough_nodes():
    n = 40
    W, loops = random_graph(n, 0.1, seed=3)
    sizes = np.random.default_rng(0).integers(1, 9, n).astype(float)
    volumes, smallest = W.sum(axis=1), 0.4 * sizes.sum()
    value, side = Twin(W, loops, volumes, sizes, 0.25, smallest).bisect(SplitMix(1))
    A = sp.csr_array(W)
    found, sums = np.empty(n, np.uint8), np.empty((3, 2))
    given = (A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data, loops, volumes, sizes)
    assert_allclose(_kernels.bisect_graph(*given, 0.25, smallest, 1, found, sums), value, rtol=1e-9)
    assert_array_equal(found, side != side[0])
    assert_allclose(sums[2], [sizes[found == 0].sum(), sizes[found == 1].sum()])
    assert sums[2].min() >= smallest


def whole(W, dtype=float):
    return LeafGraph.whole(Sparse(sp.csr_array(np.asarray(W, dtype=dtype))))


def test_most_small_graphs_are_cut_as_well_as_possible():
    missed = []
    for seed in range(60):
        n = 4 + seed % 5
        W, loops = random_graph(n, 0.3, seed)
        twin = Twin(W, loops, W.sum(axis=1), np.ones(n), 0.0, 1)
        cut = whole(W).bisect(0.0, 1, 0)
        assert not cut.right[0]
        assert cut.value == pytest.approx(twin.judge(cut.right.astype(float)))
        numbers = range(1, 1 << (n - 1))
        best = max(twin.judge(np.array([0, *((x >> b) & 1 for b in range(n - 1))])) for x in numbers)
        missed.append(best - cut.value)
    assert np.mean(np.array(missed) < 1e-9) > 0.9  # 98 % of 900 such graphs
    assert max(missed) < 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_are_submatrices(dtype):
    A = sp.random_array((50, 50), density=0.2, rng=np.random.default_rng(0)).toarray()
    A = (A + A.T).astype(dtype)
    index = np.random.default_rng(1).permutation(50)[:20]
    part = whole(A, dtype).part(index)
    assert part.weights.dtype == dtype
    expected = A[np.ix_(index, index)]
    dense = sp.csr_array((part.weights, part.indices, part.indptr), shape=(20, 20)).toarray()
    assert_array_equal(dense + np.diag(part.loops.astype(dtype)), expected)
    assert_allclose(part.volumes, A.sum(axis=1, dtype=np.float64)[index], rtol=1e-6)
    nothing = part.part(np.empty(0, np.int32))
    assert (nothing.n, nothing.association()) == (0, 0.0)
    assert_allclose(part.association(), expected.sum(dtype=np.float64), rtol=1e-6)


def test_pieces_are_kept_whole_where_two_are_large_enough():
    W = sp.block_diag([np.ones((m, m)) - np.eye(m) for m in (5, 4, 3, 2)]).toarray()
    cut = whole(W).bisect(0.25, 3, 0)
    assert cut.right.tolist() == [False] * 5 + [True] * 9  # the left took half of the volume
    assert_array_equal(cut.association, cut.volume)


def test_small_pieces_follow_the_heavier_part_of_the_only_large_one():
    ring = np.kron(np.eye(2), np.ones((4, 4))) - np.eye(8)
    ring[3, 4] = ring[4, 3] = 1
    ring[0, 1] = ring[1, 0] = 2  # the first half is heavier
    W = sp.block_diag([ring, np.ones((2, 2)), np.zeros((1, 1))]).toarray()
    cut = whole(W).bisect(0.25, 3, 0)
    assert cut.right.tolist() == [False] * 4 + [True] * 4 + [False] * 3


def test_nodes_without_edges_are_dealt_out_only_if_nothing_else_is_left():
    assert whole(np.zeros((4, 4))).bisect(0.25, 1, 0).right.tolist() == [False, False, True, True]
    one_loop = np.zeros((3, 3))
    one_loop[1, 1] = 1
    assert whole(one_loop).bisect(0.25, 1, 0).right.sum() in (1, 2)
    assert whole(np.zeros((4, 4))).bisect(0.25, 3, 0) is None
    assert whole(np.zeros((1, 1))).bisect(0.25, 1, 0) is None


def test_zeros_are_no_edges():
    pair = sp.csr_array((np.array([1.0, 1.0, 0.0, 0.0]), [1, 0, 2, 1], [0, 1, 3, 4]), shape=(3, 3))
    graph = LeafGraph.whole(Sparse(pair))
    assert graph.indices.tolist() == [1, 0]


def test_a_star_is_cut_though_it_does_not_shrink():
    n = 300
    W = np.zeros((n, n))
    W[0, 1:] = W[1:, 0] = 1
    cut = whole(W).bisect(0.25, 10, 0)
    assert 10 <= cut.right.sum() <= n - 10
