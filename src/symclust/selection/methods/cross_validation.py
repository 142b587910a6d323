"""Held-out pairs: how well k clusters predict similarities that were hidden from the fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from symclust._types import Array
from symclust.constraints import Nonnegative
from symclust.exceptions import InputError, warn
from symclust.objectives import IgnoredPairs, OffDiagonal
from symclust.operators import as_operator
from symclust.selection._answer import Curve, Selection
from symclust.selection._data import Features
from symclust.selection._method import Method
from symclust.selection._pairs import pairs_of
from symclust.selection._study import Study
from symclust.solvers import Control, Problem, choose_solver, make_solver
from symclust.starts import Setting, solve
from symclust.validation import check_number

__all__ = ["CrossValidation"]

SCORE = "explained of hidden pairs"
MOST = 0.5  # of all pairs similar: no pairs are drawn from those that are not
MOST_PAIRS = 50_000  # hidden at once: each costs k² in every sweep
LEAST_HIDDEN = 5  # hidden pairs below which an error means nothing


class CrossValidation(Method):
    r"""Hide random pairs, fit the others, and measure how well the hidden ones are predicted.

    In each of `n_folds` rounds a random `share` of the pairs is hidden. A factor :math:`H \ge 0` with k
    columns is fitted to all other pairs as in `OffDiagonalSymNMF` (``ignore=``), and compared with the hidden
    ones, :math:`h_i^T h_j` cut at the largest similarity:

    .. math:: s(k) = 1 - \frac{\sum_{hidden} c_{ij} (a_{ij} - h_i^T h_j)^2}
                              {\sum_{hidden} c_{ij} (a_{ij} - g_i g_j)^2}

    with g the factor with one column, the prediction by the degrees without clusters. So s(1) = 0. In a
    network, in which most pairs have no edge, edges are hidden and as many pairs without one, and each pair
    stands for :math:`c_{ij}` pairs. Time and memory follow the edges.

    The answer is the smallest k, 1 among them, whose s(k) is within one standard error of the best: that of
    the differences in the same rounds (Breiman's rule; for networks Li, Levina and Zhu 2020).

    Parameters
    ----------
    n_folds : int, default=5
        Number of rounds.
    share : float, default=0.1
        The share of the pairs, in a network of the edges, that is hidden; at most 50,000 pairs.

    Notes
    -----
    This judges the factorization of the similarities, not the estimator of the study. A squared error prefers
    the number of clusters that describes the similarities best: if these are far from blocks, as in graphs of
    neighbours, more than there are.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> from symclust.datasets import planted_partition
    >>> from symclust.selection import Pairs, Study
    >>> from symclust.selection.methods.cross_validation import CrossValidation
    >>> A, _ = planted_partition(150, 3, degree=20, mixing=0.1, random_state=0)
    >>> study = Study(Pairs(A), SymNMF(affinity="precomputed"), (2, 3, 4, 5), np.random.RandomState(0))
    >>> CrossValidation().choose(study).n_clusters
    3
    """

    def __init__(self, n_folds: int = 5, share: float = 0.1) -> None:
        self.n_folds = n_folds
        self.share = share

    def choose(self, study: Study) -> Selection:
        """Return the smallest number of clusters that predicts hidden pairs as well as any."""
        check_number("n_folds", self.n_folds, least=2, whole=True)
        check_number("share", self.share, least=0, most=1, exclusive=True)
        A = pairs_of(study.data, "cross_validation")
        if isinstance(getattr(study.data, "source", None), Features):
            warn(
                "method='cross_validation' predicts links of the neighbour graph of samples, which is far "
                "from blocks: it finds 10 clusters in three blobs far apart. Take method='auto'."
            )
        hidden = [hide(A, self.share, np.random.RandomState(seed)) for seed in study.seeds(self.n_folds)]
        seeds = study.seeds(self.n_folds)
        tasks = [
            (pairs, k, seed)
            for pairs, seed in zip(hidden, seeds, strict=True)
            for k in (1, *study.candidates)
        ]
        errors = np.array(study.map(hidden_error, tasks, "hidden pairs", (A,))).reshape(self.n_folds, -1)
        scores = 1 - errors / np.maximum(errors[:, :1], np.finfo(float).tiny)
        numbers = (1, *study.candidates)
        chosen, best = numbers[smallest_good(scores)], numbers[int(scores.mean(axis=0).argmax())]
        return Selection(
            chosen,
            "cross_validation",
            np.array(study.candidates),
            SCORE,
            {SCORE: Curve(scores.mean(axis=0)[1:], standard_error(scores)[1:], "standard error")},
            _sentence(chosen, best, scores.mean(axis=0).max()),
        )


class Hidden(NamedTuple):
    """Pairs i < j that are hidden, and how many pairs each of them stands for."""

    i: Array
    j: Array
    weights: Array


def hide(A: Any, share: float, rng: np.random.RandomState) -> Hidden:
    """Draw the pairs to hide: of all where most are similar, else edges and as many pairs without one."""
    n = A.shape[0]
    all_pairs = n * (n - 1) // 2
    i, j = (ends.astype(np.int64) for ends in sparse.coo_array(sparse.triu(sparse.csr_array(A), 1)).coords)
    if len(i) > MOST * all_pairs:
        i, j = np.triu_indices(n, 1)
        chosen = _draw(len(i), share, MOST_PAIRS, rng)
        return Hidden(i[chosen], j[chosen], np.ones(len(chosen)))
    chosen = _draw(len(i), share, MOST_PAIRS // 2, rng)
    p, q = _pairs_without_edge(i, j, n, len(chosen), rng)
    stands_for = (all_pairs - len(i)) / max(len(p), 1), len(i) / len(chosen)
    weights = np.repeat(stands_for[::-1], (len(chosen), len(p)))
    return Hidden(np.append(i[chosen], p), np.append(j[chosen], q), weights)


def _draw(count: int, share: float, most: int, rng: np.random.RandomState) -> Array:
    """Return the numbers of those that are hidden."""
    size = min(round(share * count), most)
    if size < LEAST_HIDDEN:
        raise InputError(
            f"share={share:g} of {count} pairs with a similarity hides {size}, which says nothing about a "
            f"fit: at least {LEAST_HIDDEN} are needed. Give a larger share, or another method."
        )
    return rng.choice(count, size, replace=False)


def _pairs_without_edge(
    i: Array, j: Array, n: int, count: int, rng: np.random.RandomState
) -> tuple[Array, Array]:
    """Return up to `count` different pairs p < q that have no edge."""
    edges, found = i * n + j, np.empty(0, dtype=np.int64)
    for _ in range(10):  # at least half of all pairs have none: a round finds a third of what it draws
        p, q = np.sort(rng.randint(n, size=(2, 4 * count)), axis=0)
        keys = np.setdiff1d((p * n + q)[p < q], edges)
        found = np.union1d(found, keys)
        if len(found) >= count:
            break
    found = rng.permutation(found)[:count]
    return found // n, found % n


def hidden_error(A: Any, hidden: Hidden, k: int, seed: int) -> float:
    """Fit k columns to the pairs that are not hidden; return the weighted squared error of those that are."""
    n = A.shape[0]
    rows, columns = np.append(hidden.i, hidden.j), np.append(hidden.j, hidden.i)
    mask = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    shown = as_operator(A).without(mask)
    problem = Problem(shown, OffDiagonal(shown, IgnoredPairs.of(mask)), Nonnegative())
    solver = make_solver(choose_solver(problem.objective))
    H = solve("merge", Setting(problem, solver, Control(), k, 1, np.random.RandomState(seed)))[0][0].H
    # Rows that are not compared with each other may be long, and their product anything.
    foretold = np.einsum("pl,pl->p", H[hidden.i], H[hidden.j]).clip(max=A.max())
    wrong = np.asarray(A[hidden.i, hidden.j]).ravel() - foretold
    return float(hidden.weights @ wrong**2)


def _sentence(chosen: int, best: int, largest: float) -> str:
    if chosen == 1:
        return "One cluster: no number of clusters predicts hidden pairs better than their degrees do."
    reason = "best" if chosen == best else f"as well as {best}, up to a standard error"
    return (
        f"{chosen} clusters predict hidden pairs {reason}: they explain {largest:.0%} of what their degrees "
        "leave open."
    )


def smallest_good(scores: Array) -> int:
    """Return the first column that is as good as the best one, up to a standard error of their difference.

    Rows are measured on the same samples, so that their differences are compared: their spread is far smaller
    than that of the scores.
    """
    behind = scores[:, [scores.mean(axis=0).argmax()]] - scores
    return int(np.flatnonzero(behind.mean(axis=0) <= standard_error(behind))[0])


def standard_error(values: Array) -> Array:
    """Return the standard error of the mean over rows, for each column."""
    return values.std(axis=0, ddof=1) / np.sqrt(len(values))
