"""Many starts at once, and the default start: over-cluster, merge, descend.

A random start often ends where two clusters share a column and a third is split over two. `init="merge"`
therefore descends a little with twice the columns, merges the found clusters greedily down to k by the gain
in explained energy, and descends from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from symclust import registry
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.operators import Operator
from symclust.solvers._base import Problem, Solver
from symclust.solvers._loop import Control, Result, run
from symclust.solvers.row_descent import RowDescent

OVERSIZE = 2  # columns of the first descent, in multiples of k
FIRST_SWEEPS = 20
FLOOR = (
    1e-2  # entries outside a sample's own cluster, relative to the mean inside: lets every solver move them
)


@dataclass(frozen=True)
class Starts:
    """How to begin: `init` by name or as an array, how often, and with which random numbers.

    `scout` is the solver of the first descent of "merge", where it is to be another than usual, and
    `scout_iterations` how far it goes.
    """

    init: str | Array
    n_columns: int
    n_init: int
    rng: np.random.RandomState
    scout: Solver | None = None
    scout_iterations: int = FIRST_SWEEPS


@dataclass
class Start:
    """One starting point.

    `reference` is what stationarity is measured against (None: the gradient at H itself), `merge_path` the
    sequence of merges behind it.
    """

    H: Array
    reference: float | None = None
    merge_path: np.recarray | None = field(default=None)


MERGE_PATH = np.dtype([("n_clusters", "i8"), ("gain", "f8"), ("first_size", "i8"), ("second_size", "i8")])


def solve(
    problem: Problem, solver: Solver, starts: Starts, control: Control
) -> tuple[list[Result], list[Start]]:
    """Run `solver` from all starts side by side; return the results and the starts behind them."""
    solver.check(problem)
    points = make_starts(problem, solver, starts, control)
    references = [point.reference for point in points]
    factors = [point.H for point in points]
    # A sample without similarities ends at zero; a solver that only approaches it would leave traces.
    isolated = problem.operator.isolated()
    for H in factors:
        H[isolated] = 0
    for point in points:
        point.H = np.empty(
            (0, 0)
        )  # the loop owns them now; keeping a second name would keep n × k arrays alive
    known = [reference for reference in references if reference is not None]
    results = run(problem, solver, factors, control, known if len(known) == len(points) else None)
    return results, points


def make_starts(problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Return the starting points."""
    if not isinstance(starts.init, str):
        return [Start(np.array(starts.init, dtype=problem.operator.dtype, order="C"))]
    if starts.init == "merge":
        return merged_starts(problem, solver, starts, control)
    initialize = registry.resolve("initialization", starts.init)
    with single_threaded_blas():
        factors = [initialize(problem.objective, starts.n_columns, starts.rng) for _ in range(starts.n_init)]
    guide = guided(problem)
    if starts.init == "random" and guide is not problem:
        brief = replace(control, max_iter=FIRST_SWEEPS)
        factors = [result.H for result in descend_briefly(guide, solver, factors, brief)]
    return [Start(H) for H in factors]


def guided(problem: Problem) -> Problem:
    """Return the problem with the objective that leads random starts: usually the same."""
    guide = problem.objective.guide()
    return problem if guide is None else replace(problem, objective=guide)


def descend_briefly(
    problem: Problem, solver: Solver, factors: list[Array], control: Control, scout: Solver | None = None
) -> list[Result]:
    """Take the first sweeps: by rows, the fastest wherever rows of A are at hand, otherwise by `solver`."""
    brief = replace(control, tol=0.0, callback=None)
    by_rows = problem.operator.rows_are_cheap or bool(solver.lacks(problem.objective))
    return run(problem, scout or (RowDescent() if by_rows else solver), factors, brief, certify=False)


def merged_starts(problem: Problem, solver: Solver, starts: Starts, control: Control) -> list[Start]:
    """Over-cluster from random starts, side by side, and merge."""
    operator, k = problem.operator, starts.n_columns
    columns = min(OVERSIZE * k, operator.n)
    initialize = registry.resolve("initialization", "random")
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
        del result  # n × 2k numbers that nobody needs any more
        points.append(replace_start(operator, labels, columns, k, reference))
    return points


def replace_start(operator: Operator, labels: Array, columns: int, k: int, reference: float | None) -> Start:
    """Return the start that the merged labels describe."""
    with single_threaded_blas():
        B, sizes = contract(operator, labels, columns)
    merged, path = merge_greedily(B, sizes, k)
    H = indicator(B, sizes, merged, labels, k).astype(operator.dtype)
    return Start(H, reference, path)


def contract(operator: Operator, labels: Array, columns: int) -> tuple[Array, Array]:
    """Return B = ZᵀAZ for the indicator Z of the labels, made a few columns at a time, and the sizes."""
    sizes = np.bincount(labels, minlength=columns)
    B = np.empty((columns, columns))
    width = max(columns // OVERSIZE, 1)
    for first in range(0, columns, width):
        block = np.arange(first, min(first + width, columns))
        Z = (labels[:, None] == block).astype(operator.dtype)
        product = operator @ Z
        for l in range(columns):
            B[l, block] = product[labels == l].sum(axis=0, dtype=np.float64)
    return (B + B.T) / 2, sizes


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
    """Merge the pair with the largest gain until k are left; return the groups and the path to them."""
    B, sizes = B.copy(), sizes.astype(np.int64)
    groups = [[l] for l in range(len(sizes))]
    path = []
    while len(groups) > k:
        gains = merge_gains(B, sizes)
        i, j = sorted(np.unravel_index(int(gains.argmax()), gains.shape))
        path.append((len(groups) - 1, gains[i, j], sizes[i], sizes[j]))
        B[i] += B[j]
        B[:, i] += B[:, j]
        sizes[i] += sizes[j]
        groups[i] += groups.pop(j)
        B = np.delete(np.delete(B, j, axis=0), j, axis=1)
        sizes = np.delete(sizes, j)
    return groups, np.array(path, dtype=MERGE_PATH).view(np.recarray)


def indicator(B: Array, sizes: Array, groups: Sequence[Sequence[int]], labels: Array, k: int) -> Array:
    """Return H with column j at √(B_jj)/m_j on its cluster, plus a small floor everywhere."""
    target = np.empty(len(sizes), dtype=np.int64)
    heights = np.zeros(k)
    for j, group in enumerate(groups):
        target[group] = j
        energy, size = B[np.ix_(group, group)].sum(), sizes[group].sum()
        heights[j] = np.sqrt(max(energy, 0.0)) / max(size, 1)
    labels = target[labels]
    H = np.full((len(labels), k), FLOOR * heights.mean())
    H[np.arange(len(labels)), labels] += heights[labels]
    return H
