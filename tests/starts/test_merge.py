"""Over-cluster, merge, descend: the pieces against brute force."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from symclust.operators import Dense, Gram, Operator, Sparse
from symclust.solvers import Control, RowDescent
from symclust.solvers.coupled import Anls
from symclust.starts import Setting, make_init, solve
from symclust.starts import _clusters as pieces


def similarity(n, seed):
    A = np.random.default_rng(seed).uniform(size=(n, n))
    return A + A.T


def energy(A, members):
    """How much of ‖A‖² the best column c on `members`, zero elsewhere, explains."""
    z = members.astype(float)
    total = z @ A @ z
    c_squared = max(total, 0.0) / max(z.sum(), 1.0) ** 2
    explained = np.sum(A**2) - np.sum((A - c_squared * np.outer(z, z)) ** 2)
    nearby = [np.sum(A**2) - np.sum((A - s * c_squared * np.outer(z, z)) ** 2) for s in (0.99, 1.01)]
    assert max(nearby) <= explained + 1e-9  # it is the best column of this shape
    return explained


LABELLED = {"n": st.integers(2, 14), "columns": st.integers(2, 6), "seed": st.integers(0, 2**16)}


@settings(max_examples=40)
@given(**LABELLED)
def test_contract_is_the_sum_over_blocks(n, columns, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 4))
    labels = rng.integers(0, columns, size=n)  # some clusters may be empty
    Z = (labels[:, None] == np.arange(columns)).astype(float)
    for operator in (Dense(X @ X.T), Sparse(sp.csr_array(X @ X.T)), Gram(X)):
        B, sizes = pieces.contract(operator, labels, columns)
        assert_allclose(B, Z.T @ X @ X.T @ Z, rtol=1e-11, atol=1e-12)
        assert_array_equal(sizes, Z.sum(axis=0))


@settings(max_examples=40)
@given(**LABELLED)
def test_gains_are_differences_of_explained_energy(n, columns, seed):
    A, labels = similarity(n, seed), np.random.default_rng(seed + 1).integers(0, columns, size=n)
    gains = pieces.merge_gains(*pieces.contract(Dense(A), labels, columns))
    for i in range(columns):
        for j in range(columns):
            if i == j:
                assert gains[i, j] == -np.inf
                continue
            together = energy(A, (labels == i) | (labels == j))
            apart = energy(A, labels == i) + energy(A, labels == j)
            assert gains[i, j] == pytest.approx(together - apart, rel=1e-9, abs=1e-9 * np.sum(A**2))


@settings(max_examples=30)
@given(**LABELLED, k=st.integers(1, 6))
def test_the_merge_takes_the_best_pair_every_time(n, columns, seed, k):
    A, labels = similarity(n, seed), np.random.default_rng(seed + 1).integers(0, columns, size=n)
    groups, path = pieces.merge_greedily(*pieces.contract(Dense(A), labels, columns), k)
    assert sorted(l for group in groups for l in group) == list(range(columns))
    assert len(groups) == min(k, columns)
    assert len(path) == max(columns - k, 0)
    assert_array_equal(path.n_clusters, np.arange(columns - 1, min(k, columns) - 1, -1))
    left = [labels == l for l in range(columns)]
    for step in path:
        pairs = [(i, j) for i in range(len(left)) for j in range(i)]
        gains = [energy(A, left[i] | left[j]) - energy(A, left[i]) - energy(A, left[j]) for i, j in pairs]
        assert step.gain == pytest.approx(max(gains), rel=1e-9, abs=1e-9 * np.sum(A**2))
        # The sizes single the pair out among those of equal gain.
        best = [
            (i, j) for (i, j), gain in zip(pairs, gains, strict=True)
            if gain >= max(gains) - 1e-9 * np.sum(A**2)
            and sorted((left[i].sum(), left[j].sum())) == sorted((step.first_size, step.second_size))
        ]  # fmt: skip
        assert best
        i, j = best[0]
        left[j] = left[i] | left[j]
        left.pop(i)


def merge_plainly(B, sizes, k):
    """Compute all gains again for every merge: O(k³), and easy to believe."""
    B, sizes = B.copy(), sizes.astype(np.int64)
    groups, path = [[l] for l in range(len(sizes))], []
    while len(groups) > k:
        gains = pieces.merge_gains(B, sizes)
        i, j = sorted(np.unravel_index(int(gains.argmax()), gains.shape))
        path.append((len(groups) - 1, gains[i, j], sizes[i], sizes[j]))
        B[i] += B[j]
        B[:, i] += B[:, j]
        sizes[i] += sizes[j]
        groups[i] += groups.pop(j)
        B = np.delete(np.delete(B, j, axis=0), j, axis=1)
        sizes = np.delete(sizes, j)
    return groups, np.array(path, dtype=pieces.MERGE_PATH).view(np.recarray)


@pytest.mark.parametrize("kind", ["rough", "ties", "equal", "signed"])
@settings(max_examples=40)
@given(columns=st.integers(1, 40), k=st.integers(1, 12), seed=st.integers(0, 2**16))
def test_merging_goes_the_plain_way_to_the_bit(kind, columns, k, seed):
    rng = np.random.default_rng(seed)
    B = {
        "rough": lambda: rng.uniform(size=(columns, columns)) ** 3,
        "ties": lambda: rng.integers(0, 3, size=(columns, columns)).astype(float),
        "equal": lambda: np.ones((columns, columns)),
        "signed": lambda: rng.normal(size=(columns, columns)),
    }[kind]()
    B, sizes = (B + B.T) / 2, rng.integers(0, 4, size=columns)  # some clusters are empty
    (groups, path), (expected_groups, expected_path) = (
        merge(B, sizes, k) for merge in (pieces.merge_greedily, merge_plainly)
    )
    assert groups == expected_groups
    assert path.tobytes() == expected_path.tobytes()


def test_a_merge_looks_at_few_rows(monkeypatch):
    """400 clusters become 200 by looking through all gains once, not once for each merge."""
    seen, plain = [], pieces.merge_gains
    monkeypatch.setattr(pieces, "merge_gains", lambda B, sizes: seen.append(len(B)) or plain(B, sizes))
    rng = np.random.default_rng(0)
    B = rng.uniform(size=(400, 400))
    groups, path = pieces.merge_greedily(B + B.T, rng.integers(1, 50, size=400), 200)
    assert seen == [400]
    assert len(groups) == len(path) == 200


def test_merging_does_not_change_its_inputs():
    B, sizes = pieces.contract(Dense(similarity(8, 0)), np.arange(8) % 4, 4)
    copies = B.copy(), sizes.copy()
    pieces.merge_greedily(B, sizes, 2)
    assert_array_equal(B, copies[0])
    assert_array_equal(sizes, copies[1])


def test_constant_columns_have_the_best_height_on_each_cluster_and_a_floor_elsewhere():
    A, labels = similarity(9, 3), np.arange(9) % 3
    B, sizes = pieces.contract(Dense(A), labels, 3)
    H = pieces.constant_columns(B, sizes, [[0, 2], [1]], labels, 2)
    target = np.where(labels == 1, 1, 0)
    assert_array_equal(H.argmax(axis=1), target)
    heights = np.array([np.sqrt(A[np.ix_(target == c, target == c)].mean()) for c in (0, 1)])
    floor = pieces.FLOOR * heights.mean()
    expected = np.where(target[:, None] == [0, 1], heights + floor, floor)
    assert_allclose(H, expected, rtol=1e-12)


# The whole --------------------------------------------------------------------------------------------------


def setting(problem, k=3, n_init=1, seed=0, solver=None, **control):
    rng = np.random.RandomState(seed)
    return Setting(problem, solver or RowDescent(), Control(**control), k, n_init, rng)


def merge(problem, k, n_init=1, seed=0, **control):
    return make_init("merge").find(setting(problem, k, n_init, seed, **control))


@pytest.mark.parametrize("form", ["dense", "sparse", "gram"])
def test_separate_cliques_are_found_by_merging(as_problem, form):
    sizes = (5, 8, 11, 6)
    Z = np.repeat(np.eye(4), sizes, axis=0)
    operator = {"dense": Dense(Z @ Z.T), "sparse": Sparse(sp.csr_array(Z @ Z.T)), "gram": Gram(Z)}[form]
    for start in merge(as_problem(operator), 4, n_init=3):
        found = set(zip(start.H.argmax(axis=1), Z.argmax(axis=1), strict=True))
        assert len(found) == 4
        assert len(start.merge_path) == 4
        assert start.reference > 0


@pytest.mark.parametrize(("n", "k", "merges"), [(30, 1, 1), (30, 4, 4), (5, 3, 2), (4, 4, 0), (1, 1, 0)])
def test_merge_paths_end_at_k_also_for_few_samples(as_problem, planted, n, k, merges):
    start = merge(as_problem(planted(n=n, k=min(2, n))), k)[0]
    assert start.H.shape == (n, k)
    assert len(start.merge_path) == merges
    assert_array_equal(start.merge_path.n_clusters, np.arange(k + merges - 1, k - 1, -1))
    assert start.merge_path.dtype.names == ("n_clusters", "gain", "first_size", "second_size")
    assert np.all(np.isfinite(start.H))
    assert start.H.min() >= 0


def test_a_zero_similarity_can_be_merged(as_problem):
    start = merge(as_problem(np.zeros((6, 6))), 2)[0]
    assert_array_equal(start.H, 0)


def test_starts_differ_and_repeat(as_problem, planted):
    problem = as_problem(planted(k=2))
    one, again = (merge(problem, 4, n_init=3, seed=7) for _ in range(2))
    for a, b in zip(one, again, strict=True):
        assert_array_equal(a.H, b.H)
    first, second = make_init("random").find(setting(problem, n_init=2))
    assert np.any(first.H != second.H)
    assert first.merge_path is None
    assert first.reference is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("init", ["merge", "random", "spectral"])
def test_precision_of_the_similarity_is_kept(as_problem, planted, init, dtype):
    problem = as_problem(planted().astype(dtype))
    start = make_init(init).find(setting(problem))[0]
    assert start.H.dtype == dtype


def test_a_given_array_is_copied(as_problem, planted, positive):
    problem, H = as_problem(planted()), positive()
    copy = H.copy()
    results, _ = solve(H, setting(problem, max_iter=3))
    assert_array_equal(H, copy)
    assert np.any(H != results[0].H)


def test_the_callback_hears_only_of_the_descent_that_counts(as_problem, planted):
    seen = []
    merge(as_problem(planted()), 3, callback=seen.append)
    assert seen == []


def test_results_are_measured_against_the_random_start(as_problem, planted):
    problem = as_problem(planted())
    results, points = solve("merge", setting(problem, n_init=2, tol=1e-3))
    for result, point in zip(results, points, strict=True):
        assert result.reference == point.reference
        gradient = problem.measure(result.H, problem.operator @ result.H)[1]
        assert gradient <= 1e-3 * point.reference


class OnlyProducts(Operator):
    """An operator that counts the rows asked of it; asking for any costs a whole product."""

    asked = 0

    def __init__(self, A):
        super().__init__(len(A), A.dtype)
        self.A = A

    def _product(self, H):
        return self.A @ H

    def _rows(self, index):
        self.asked += 1
        return super()._rows(index)


def test_merge_asks_no_rows_of_an_operator_that_has_none(as_problem):
    operator = OnlyProducts(np.kron(np.eye(3), np.ones((5, 5))))
    problem = as_problem(operator)
    operator.asked = 0
    ((result,), _) = solve("merge", setting(problem, solver=Anls()))
    assert operator.asked == 0
    assert len(np.unique(result.H.argmax(axis=1))) == 3


# The clock --------------------------------------------------------------------------------------------------


class Clock:
    """A clock that stands still until something makes time pass."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def passes_in(self, monkeypatch, owner, name, seconds):
        """Let every call of a method take so many seconds, and count them."""
        plain, calls = getattr(owner, name), []

        def slow(*args, **options):
            calls.append(name)
            self.now += seconds
            return plain(*args, **options)

        monkeypatch.setattr(owner, name, slow)
        return calls


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def begin(problem, init, clock, **control):
    return solve(init, setting(problem, 4, tol=0.0, clock=clock.now, **control))[0][0]


@pytest.mark.parametrize(("time_limit", "sweeps"), [(3.5, 4), (0.5, 1), (1e-9, 1)])
def test_a_time_limit_cuts_the_first_descent_of_merge_short(
    as_problem, planted, clock, monkeypatch, time_limit, sweeps
):
    calls = clock.passes_in(monkeypatch, RowDescent, "advance", 1.0)
    result = begin(as_problem(planted()), "merge", clock, time_limit=time_limit)
    assert len(calls) == sweeps  # the first descent has one at least, and after it the time is up
    assert result.stop_reason.startswith(f"stopped at time_limit={time_limit:g} s after 0 iterations")
    assert not result.converged
    assert result.history.seconds[-1] == sweeps


def test_the_first_descent_and_the_one_that_counts_share_the_time(as_problem, planted, clock, monkeypatch):
    calls = clock.passes_in(monkeypatch, RowDescent, "advance", 1.0)
    result = begin(as_problem(planted()), "merge", clock, time_limit=25)
    assert len(calls) == 25
    assert "after 5 iterations" in result.stop_reason


@pytest.mark.parametrize("init", ["greedy", "zero"])
def test_a_time_limit_cuts_a_start_short_after_a_column(as_problem, planted, clock, monkeypatch, init):
    problem = as_problem(planted())
    columns = type(problem.objective.columns(np.zeros((30, 4))))
    clock.passes_in(monkeypatch, columns, "close", 1.0)
    result = begin(problem, init, clock, time_limit=1.5)
    assert result.H.any(axis=0).tolist() == [True, True, False, False]
    assert result.stop_reason.startswith("stopped at time_limit=1.5 s after 0 iterations")


@pytest.mark.parametrize("init", ["spectral", "nndsvda"])
def test_a_start_that_cannot_be_cut_short_counts_too(as_problem, planted, clock, monkeypatch, init):
    clock.passes_in(monkeypatch, Operator, "eigsh", 9.0)
    result = begin(as_problem(planted()), init, clock, time_limit=1.5)
    assert result.stop_reason.startswith("stopped at time_limit=1.5 s after 0 iterations")
    assert result.H.any()


@pytest.mark.parametrize("init", ["random", "array"])
def test_numbers_that_nothing_has_gone_into_get_one_iteration(as_problem, planted, positive, clock, init):
    given = positive(k=4) if init == "array" else init
    clock.now = 9.0
    ((result,), _) = solve(given, setting(as_problem(planted()), 4, tol=0.0, clock=0.0, time_limit=1.0))
    assert result.stop_reason.startswith("stopped at time_limit=1 s after 1 iterations")
