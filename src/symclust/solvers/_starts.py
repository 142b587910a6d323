"""Many starts at once, and the default start: over-cluster, merge, descend.

A random start often ends where two clusters share a column and a third is split over two. `init="merge"`
therefore descends a little with twice the columns, merges the found clusters greedily down to k by the gain
in explained energy, and descends from there. `init="tree"` takes the leaves of a tree of communities instead,
which costs little more with many clusters than with few; `init="low_rank"` solves the problem on an
approximation of A first.

With many clusters nearly all of H is zero. `held_sparse` is the one place that decides whether H is a
`csr_array` then; starts that are read off labels are made in that form, and all that follows keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust import registry
from symclust._threads import single_threaded_blas, split
from symclust._types import Array
from symclust.exceptions import CombinationError, warn
from symclust.objectives import GivesGuide, GivesJudgement, is_sparse_factor
from symclust.operators import Operator, low_rank
from symclust.solvers._base import Problem, Solver, sweeps_pay
from symclust.solvers._loop import Control, Result, run
from symclust.solvers.row_descent import RowDescent
from symclust.storage import recorded
from symclust.validation import check_number

OVERSIZE = 2  # columns of the first descent, in multiples of k
FIRST_SWEEPS = 20
# Entries outside a sample's own cluster, relative to the mean inside: lets every solver move them.
FLOOR = 1e-2
MANY_ENTRIES = 1 << 24  # 128 MB of double precision
MANY_COLUMNS = 64
FIXED_STARTS = ("greedy", "nndsvd", "nndsvda", "spectral", "zero")  # the same whatever the random state
WORKED_OUT = ("low_rank", "merge", "tree")  # by more than a formula
BY_COLUMNS = ("greedy", "zero")  # they can be cut short after any column
MERGE_PATH = np.dtype([("n_clusters", "i8"), ("gain", "f8"), ("first_size", "i8"), ("second_size", "i8")])


class Clustering(NamedTuple):
    """Labels from 0 on, every number taken; `interrupted` says that Ctrl-C ended the search for them."""

    labels: Array
    interrupted: bool = False


@dataclass(frozen=True)
class Starts:
    """How to begin: `init` by name or as an array, how often, and with which random numbers.

    `scout` is the solver of the first descent of "merge", where it is to be another than usual, and
    `scout_iterations` how far it goes. `tree` gives the leaves of a tree of communities of A for a number of
    leaves and a seed; who gives it takes factors that are held sparse. `again` gives the same problem for
    another operator.
    """

    init: str | Array | sparse.csr_array
    n_columns: int
    n_init: int
    rng: np.random.RandomState
    scout: Solver | None = None
    scout_iterations: int = FIRST_SWEEPS
    tree: Callable[[int, int], Clustering] | None = None
    again: Callable[[Operator], Problem] | None = None

    def leaves(self, n_leaves: int) -> Clustering:
        """Return the leaves of the next tree."""
        if self.tree is None:
            raise CombinationError("init='tree' needs a tree of communities, which is not grown here.")
        return self.tree(n_leaves, int(self.rng.randint(2**31)))


@dataclass
class Start:
    """One starting point.

    `reference` is what stationarity is measured against (None: the gradient at H itself), `merge_path` the
    sequence of merges behind it; `interrupted` says that Ctrl-C ended the descent that led to it.
    """

    H: Array | sparse.csr_array
    reference: float | None = None
    merge_path: np.recarray | None = None
    interrupted: bool = False


def count_starts(init: Any, n_init: Any) -> int:
    """Return how many starts to run, as `n_init` says: but one where all would be the same."""
    check_number("n_init", n_init, least=1, whole=True)
    if n_init > 1 and (not isinstance(init, str) or init in FIXED_STARTS):
        warn(f"This init is always the same: one start is run instead of n_init={n_init}.", RuntimeWarning)
        return 1
    return int(n_init)


def solve(
    problem: Problem, solver: Solver, starts: Starts, control: Control
) -> tuple[list[Result], list[Start]]:
    """Run `solver` from all starts side by side; return the results and the starts behind them."""
    solver.check(problem)
    isolated = problem.operator.isolated()

    def find() -> list[Start]:
        points = find_starts(problem, solver, starts, control)
        # A sample without similarities ends at zero; a solver that only approaches it would leave traces.
        for point in points:
            if is_sparse_factor(point.H):
                point.H.data[np.repeat(isolated, np.diff(point.H.indptr))] = 0
                point.H.eliminate_zeros()
            else:
                point.H[isolated] = 0
        return points

    points = recorded("starts", find, starts.rng, partial(are_starts, problem, starts))
    return descend(problem, solver, starts, points, control), points


def are_starts(problem: Problem, starts: Starts, answer: Any) -> bool:
    """Whether an answer from a checkpoint has starts; once a descent has taken them over, without rows."""
    return 0 < len(answer) <= starts.n_init and all(
        isinstance(point, Start)
        and (isinstance(point.H, np.ndarray) or is_sparse_factor(point.H))
        and (point.H.shape[1], point.H.dtype) == (starts.n_columns, problem.operator.dtype)
        and point.H.shape[0] in (0, problem.operator.n)
        and (point.reference is None or isinstance(point.reference, Real))
        and isinstance(point.interrupted, bool)
        for point in answer
    )


def descend(
    problem: Problem, solver: Solver, starts: Starts, points: list[Start], control: Control
) -> list[Result]:
    """Run `solver` from these points, which the loop takes over: their H is gone afterwards."""
    references = [point.reference for point in points if point.reference is not None]
    factors = [point.H for point in points]
    for point in points:
        point.H = point.H[:0].copy()  # a second name would keep n × k arrays alive
    return run(
        problem,
        solver,
        factors,
        control,
        references if len(references) == len(points) else None,
        # Work has gone into any other start: it can be kept as it is when the time is up.
        least=1 if not isinstance(starts.init, str) or starts.init == "random" else 0,
        settles=all(is_sparse_factor(H) for H in factors),
        interrupted=any(point.interrupted for point in points),
    )


def find_starts(problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Return the starting points.

    Ctrl-C is raised while there are no points with k columns; the first descent of "merge" leads to some.
    """
    if not isinstance(starts.init, str):
        return [Start(given_start(problem, solver, starts))]
    init = choose_init(problem, starts) if starts.init == "auto" else starts.init
    if init in WORKED_OUT:
        return work_out(init, problem, solver, starts, control)
    if init in BY_COLUMNS and problem.operator.is_remote:
        raise CombinationError(
            f"init={init!r} visits the rows of A one after the other for each cluster, and those of "
            f"{problem.operator!r} lie with workers: all of A would come here. Choose init='merge' or "
            "'random'."
        )
    initialize = registry.resolve("starts", starts.init)
    options = {"is_over": control.is_over} if starts.init in BY_COLUMNS else {}
    with single_threaded_blas():
        factors = [
            initialize(problem.objective, starts.n_columns, starts.rng, **options)
            for _ in range(starts.n_init)
        ]
    guide = guided(problem)
    if starts.init == "random" and guide is not problem:
        results = descend_briefly(guide, solver, factors, replace(control, max_iter=FIRST_SWEEPS))
        return [Start(result.H, interrupted=result.interrupted) for result in results]
    return [Start(H) for H in factors]


def work_out(init: str, problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Return starting points that trees or descents lead to."""
    if init == "tree":
        return tree_starts(problem, solver, starts)
    if init == "merge":
        return merged_starts(problem, solver, starts, control)
    return sketched_starts(problem, solver, starts, control)


def choose_init(problem: Problem, starts: Starts) -> str:
    """Return the start that suits A: "tree" for a sparse graph, "merge" for anything else.

    On graphs of neighbours both lead to clusters of the same quality; on networks, where merging may leave a
    cluster with nearly everything, and with many clusters, where it takes long, the tree is better.
    """
    return "tree" if problem.operator.is_sparse and starts.tree is not None else "merge"


def held_sparse(problem: Problem, solver: Solver, starts: Starts) -> bool:
    """Whether a start with few nonzeros, read off labels or given as a sparse array, stays a `csr_array`.

    So it is for n × k of at least `MANY_ENTRIES` and k of at least `MANY_COLUMNS`: there a dense array is
    large, and sweeps over it are no faster; for a sparse A, row descent over H ≥ 0, and no ignored pairs.
    Starts without zeros, such as random ones, are dense arrays whatever their size.
    """
    problem_fits = (
        problem.operator.is_sparse
        and isinstance(problem.objective, GivesJudgement)
        and not problem.objective.row_problem.ignored.any
        and "nonnegative" in problem.constraint.offers
    )
    is_large = has_many_zeros((problem.operator.n, starts.n_columns))
    return problem_fits and is_large and isinstance(solver, RowDescent) and starts.tree is not None


def has_many_zeros(shape: tuple[int, int]) -> bool:
    """Whether a factor of this shape that is read off labels is better held by its nonzeros."""
    return shape[1] >= MANY_COLUMNS and shape[0] * shape[1] >= MANY_ENTRIES


def given_start(problem: Problem, solver: Solver, starts: Starts) -> Array | sparse.csr_array:
    """Return the array that was given, as a copy that the solver may change."""
    given: Any = starts.init
    dtype = problem.operator.dtype
    if not is_sparse_factor(given):
        return np.array(given, dtype=dtype, order="C")
    if not held_sparse(problem, solver, starts):
        return np.ascontiguousarray(given.toarray(), dtype=dtype)
    H = sparse.csr_array(given, dtype=dtype, copy=True)
    H.sum_duplicates()
    H.eliminate_zeros()
    return H


def tree_starts(problem: Problem, solver: Solver, starts: Starts) -> list[Start]:
    """Take the leaves of trees of communities as clusters."""
    k, points = starts.n_columns, []
    as_sparse = held_sparse(problem, solver, starts)
    reference = None if as_sparse or guided(problem) is not problem else _random_reference(problem, starts)
    for _ in range(starts.n_init):
        labels, interrupted = starts.leaves(k)
        B, sizes = contract(problem.operator, labels, k)
        H = indicator(B, sizes, [[l] for l in range(k)], labels, k, as_sparse).astype(problem.operator.dtype)
        points.append(Start(H, reference, interrupted=interrupted))
        if interrupted:
            break
    return points


def _random_reference(problem: Problem, starts: Starts) -> float:
    """Return how far a random start is from stationary, which is what "merge" measures against too."""
    with single_threaded_blas():
        H = registry.resolve("starts", "random")(problem.objective, starts.n_columns, starts.rng)
        H = problem.operator.to_device(H)
        return problem.measure(H, problem.operator @ H)[1]


def guided(problem: Problem) -> Problem:
    """Return the problem with the objective that leads random starts: usually the same."""
    if not isinstance(problem.objective, GivesGuide):
        return problem
    return replace(problem, objective=problem.objective.guide())


def descend_briefly(
    problem: Problem, solver: Solver, factors: list[Array], control: Control, scout: Solver | None = None
) -> list[Result]:
    """Take the first sweeps: by rows wherever A gives them at a fair price, otherwise by `solver`."""
    brief = replace(control, tol=0.0, callback=None)
    by_rows = sweeps_pay(problem.operator) or bool(solver.lacks(problem.objective))
    return run(problem, scout or (RowDescent() if by_rows else solver), factors, brief, certify=False)


def merged_starts(problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Over-cluster from random starts, side by side, and merge; by trees where H is held sparse."""
    if held_sparse(problem, solver, starts):
        return [merged_leaves(problem, starts) for _ in range(starts.n_init)]
    operator, k = problem.operator, starts.n_columns
    columns = min(OVERSIZE * k, operator.n)
    initialize = registry.resolve("starts", "random")
    with single_threaded_blas():
        factors = [initialize(problem.objective, columns, starts.rng) for _ in range(starts.n_init)]
    guide = guided(problem)
    brief = replace(control, max_iter=starts.scout_iterations)
    over = descend_briefly(guide, solver, factors, brief, starts.scout)
    del factors
    points = []
    while over:
        result = over.pop(0)
        labels = result.H.argmax(axis=1)
        reference = result.reference if guide is problem else None  # another objective has another scale
        interrupted = result.interrupted
        del result  # n × 2k numbers that nobody needs any more
        H, path = merge_clusters(operator, labels, columns, k)
        points.append(Start(H, reference, path, interrupted))
    return points


def sketched_starts(problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Solve the problem on an approximation of A of low rank, whose products cost next to nothing.

    The rank leaves room for the 2k clusters of "merge". What stationarity is measured against is a random
    start's gradient there: it is hardly another with A, which would have to be read for it.
    """
    columns = min(OVERSIZE * starts.n_columns, problem.operator.n)
    return _solved(low_rank(problem.operator, columns, random_state=starts.rng), solver, starts, control)


def _solved(operator: Operator, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Descend on the problem of another A from the starts of "merge", and return where that ends.

    That is done by rows; where these are not at hand, on a device or with workers, by the solver of the
    problem itself.
    """
    if starts.again is None:
        raise CombinationError(
            f"init={starts.init!r} needs the problem of another A, and nobody makes one here."
        )
    away = operator.on_device or operator.is_remote
    other, chosen = starts.again(operator), solver if away else RowDescent()
    points = merged_starts(other, chosen, starts, control)
    paths = [point.merge_path for point in points]
    results = descend(other, chosen, starts, points, replace(control, callback=None))
    return [
        Start(result.H, result.reference, path, result.interrupted)
        for result, path in zip(results, paths, strict=True)
    ]


def merged_leaves(problem: Problem, starts: Starts) -> Start:
    """Merge twice as many leaves of a tree: a random start with so many columns would be a dense array."""
    columns = min(OVERSIZE * starts.n_columns, problem.operator.n)
    labels, interrupted = starts.leaves(columns)
    H, path = merge_clusters(problem.operator, labels, columns, starts.n_columns, as_sparse=True)
    return Start(H, None, path, interrupted)


def merge_clusters(
    operator: Operator, labels: Array, columns: int, k: int, as_sparse: bool = False
) -> tuple[Any, np.recarray]:
    """Return the start that the labels describe once they are merged to k clusters, and the merges."""
    with single_threaded_blas():
        B, sizes = contract(operator, labels, columns)
    merged, path = merge_greedily(B, sizes, k)
    return indicator(B, sizes, merged, labels, k, as_sparse).astype(operator.dtype), path


def contract(operator: Any, labels: Array, columns: int) -> tuple[Array, Array]:
    """Return B = ZᵀAZ for the indicator Z of the labels, and the sizes.

    A sparse A costs its nonzeros, on disk one pass over them; any other one products with a few columns of Z
    at a time.
    """
    sizes = np.bincount(labels, minlength=columns)
    B = np.zeros((columns, columns))
    if operator.is_sparse or operator.is_streamed:
        for entries in _stored_entries(operator):
            _add_entries(*entries, labels.astype(np.int64, copy=False), B.reshape(-1))
        return (B + B.T) / 2, sizes
    width = max(columns // OVERSIZE, 1)
    for first in range(0, columns, width):
        block = np.arange(first, min(first + width, columns))
        Z = (labels[:, None] == block).astype(operator.dtype)
        product = operator @ Z
        for l in range(columns):
            B[l, block] = product[labels == l].sum(axis=0, dtype=np.float64)
    return (B + B.T) / 2, sizes


def _stored_entries(A: Any) -> Iterable[tuple[slice, Array, Array, Array]]:
    """Return blocks of rows with the three arrays of their entries; in memory all rows are one."""
    return A.blocks() if A.is_streamed else [(slice(0, A.n), A.indptr, A.indices, A.values)]


def _add_entries(
    rows: slice, indptr: Array, indices: Array, values: Array, labels: Array, sums: Array
) -> None:
    """Add the entries of some rows to the sums of their pairs of labels.

    One entry after the other, so that the sums have the same bits however the rows are cut; for as many
    entries at a time as there are sums.
    """
    columns, n = int(np.sqrt(sums.size)), rows.stop - rows.start
    at_once = n * max(sums.size, 1 << 20) // max(values.size, 1)
    own = labels[rows] * columns
    for part in split(n, max(at_once, 1)):
        entries = slice(indptr[part.start], indptr[part.stop])
        pairs = np.repeat(own[part], np.diff(indptr[part.start : part.stop + 1]))
        pairs += labels[indices[entries]]
        np.add.at(sums, pairs, values[entries])


def merge_gains(B: Array, sizes: Array) -> Array:
    """Return the gain in explained energy of merging every pair.

    (B_ii + B_jj + 2B_ij)²/(m_i + m_j)² − B_ii²/m_i² − B_jj²/m_j², where a cluster of negative sum explains
    nothing.
    """
    own = np.diag(B)
    energy = np.maximum(own / np.maximum(sizes, 1), 0) ** 2
    together = (own[:, None] + own + 2 * B) / np.maximum(sizes[:, None] + sizes, 1)
    gains = np.maximum(together, 0) ** 2 - energy[:, None] - energy
    np.fill_diagonal(gains, -np.inf)
    return gains


def merge_greedily(B: Array, sizes: Array, k: int) -> tuple[list[list[int]], np.recarray]:
    """Merge the pair with the largest gain until k are left; return the groups and the path to them.

    A merge changes one row and one column of the gains, and removes another of each; the best of each row is
    remembered. A row whose best pair is gone keeps its gain as a bound, and is searched through only when no
    other row has more: where all were to be merged with the same small cluster, most never are.
    """
    gains = _Gains(B.copy(), sizes.astype(np.int64))
    groups = {l: [l] for l in range(len(sizes))}
    path = []
    while len(groups) > k:
        i, j = gains.best_pair()
        path.append((len(groups) - 1, gains.table[i, j], gains.sizes[i], gains.sizes[j]))
        gains.merge(i, j)
        groups[i] += groups.pop(j)
    return list(groups.values()), np.array(path, dtype=MERGE_PATH).view(np.recarray)


class _Gains:
    """The gains of all pairs of clusters that are left; those of the others are −∞."""

    def __init__(self, B: Array, sizes: Array) -> None:
        self.B, self.sizes = B, sizes
        self.left = np.ones(len(B), dtype=bool)
        self.table = merge_gains(B, sizes)
        self.places = self.table.argmax(axis=1)
        self.largest = self.table[np.arange(len(B)), self.places]
        self.is_bound = np.zeros(len(B), dtype=bool)  # whether `largest` of a row may be too large

    def best_pair(self) -> tuple[int, int]:
        """Return the first pair with the largest gain, in the order of rows and in them of columns."""
        while self.is_bound[row := int(self.largest.argmax())]:
            self._search(row)
        i, j = sorted((row, int(self.places[row])))
        return i, j

    def merge(self, i: int, j: int) -> None:
        """Join cluster j to cluster i."""
        self.B[i] += self.B[j]
        self.B[:, i] += self.B[:, j]
        self.sizes[i] += self.sizes[j]
        self.left[j] = False
        self.table[j] = self.table[:, j] = self.largest[j] = -np.inf
        self._renew(i)
        # The first largest of a row is as it was, or now at i, or has to be looked for.
        column = self.table[:, i]
        first_of_equals = (column == self.largest) & (self.places > i) & ~self.is_bound
        at_i = (column > self.largest) | first_of_equals
        self.places[at_i], self.largest[at_i], self.is_bound[at_i] = i, column[at_i], False
        self.is_bound |= ~at_i & ((self.places == i) | (self.places == j))
        self._search(i)

    def _search(self, row: int) -> None:
        """Look for the first largest gain of a row."""
        self.places[row] = self.table[row].argmax()
        self.largest[row], self.is_bound[row] = self.table[row, self.places[row]], False

    def _renew(self, i: int) -> None:
        """Compute row and column i again, each as `merge_gains` rounds it."""
        own, others = np.diag(self.B), self.left.copy()
        others[i] = False
        energy = np.maximum(own / np.maximum(self.sizes, 1), 0) ** 2
        together = (own[i] + own + 2 * self.B[i]) / np.maximum(self.sizes[i] + self.sizes, 1)
        explained = np.maximum(together, 0) ** 2
        self.table[i, others] = (explained - energy[i] - energy)[others]
        self.table[others, i] = (explained - energy - energy[i])[others]


def indicator(
    B: Array,
    sizes: Array,
    groups: Sequence[Sequence[int]],
    labels: Array,
    k: int,
    as_sparse: bool = False,
) -> Any:
    """Return H with column j at √(B_jj)/m_j on its cluster, plus a small floor everywhere unless sparse."""
    target = np.empty(len(sizes), dtype=np.int64)
    heights = np.zeros(k)
    for j, group in enumerate(groups):
        target[group] = j
        energy, size = B[np.ix_(group, group)].sum(), sizes[group].sum()
        heights[j] = np.sqrt(max(energy, 0.0)) / max(size, 1)
    labels = target[labels]
    n = len(labels)
    if as_sparse:
        return sparse.csr_array((heights[labels], labels, np.arange(n + 1)), shape=(n, k))
    H = np.full((n, k), FLOOR * heights.mean())
    H[np.arange(n), labels] += heights[labels]
    return H
