"""The edges of a graph as a matrix, and lists of edges as such a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.operators.sparse import Sparse
from symclust.validation import check_known

DUPLICATES = ("error", "sum", "max", "first")
COMBINE = {"sum": np.add, "max": np.maximum}


class Network(Sparse):
    """The adjacency matrix of an undirected graph, with the names of its nodes.

    It is a `Sparse` operator that estimators treat as a graph of networkx or igraph: ``affinity="auto"``
    chooses a similarity for it, and takes other operators as they are.

    Parameters
    ----------
    A : SciPy sparse array or matrix of shape (n, n), any format
        Symmetric weights of the edges.
    names : sequence, optional
        One name for each node, in the order of the rows.

    Examples
    --------
    >>> import scipy.sparse
    >>> from symclust import HierarchicalSymNMF
    >>> from symclust.operators import Network
    >>> cliques = scipy.sparse.block_diag([[[0, 1, 1], [1, 0, 1], [1, 1, 0]]] * 2)
    >>> network = Network(cliques, names=["ann", "bob", "cem", "dov", "eve", "fay"])
    >>> sorted(HierarchicalSymNMF(2, random_state=0).fit(network).communities())
    [['ann', 'bob', 'cem'], ['dov', 'eve', 'fay']]
    """

    def __init__(self, A: Any, names: Sequence[Any] | None = None) -> None:
        super().__init__(A)
        if names is not None and len(names) != self.n:
            raise InputError(f"names has {len(names)} entries, but the network has {self.n} nodes.")
        self.names = None if names is None else list(names)


def number_nodes(source: Any, target: Any) -> tuple[Array, Array, list[Any]]:
    """The two ends of edges as numbers, and the name of each number.

    Whole numbers are sorted, other names stand in the order of their first appearance.
    """
    source, target = np.asarray(source), np.asarray(target)
    if source.dtype.kind in "iu" and target.dtype.kind in "iu":
        source, target = _of_one_type(source, target)
    if source.dtype.kind in "iu" and target.dtype.kind in "iu":
        names, numbers = np.unique(np.concatenate([source, target]), return_inverse=True)
        return numbers[: len(source)], numbers[len(source) :], names.tolist()
    ends = np.empty(2 * len(source), dtype=object)
    ends[0::2], ends[1::2] = source, target
    known: dict[Any, int] = {}
    numbers = np.fromiter((known.setdefault(name, len(known)) for name in ends), np.intp, len(ends))
    return numbers[0::2], numbers[1::2], list(known)


def _of_one_type(source: Array, target: Array) -> tuple[Array, Array]:
    """Whole numbers in a type that holds both ends: NumPy takes floats for int64 beside uint64."""
    if np.result_type(source, target).kind != "f":
        return source, target
    for kind in (np.int64, np.uint64):
        bounds = np.iinfo(kind)
        if all(
            not end.size or bounds.min <= int(end.min()) <= int(end.max()) <= bounds.max
            for end in (source, target)
        ):
            return source.astype(kind), target.astype(kind)
    return source.astype(object), target.astype(object)


def network_of_edges(
    i: Array,
    j: Array,
    weights: Any,
    names: Sequence[Any],
    *,
    duplicates: str = "error",
    place: Callable[[int], str] = lambda row: f"row {row + 1}",
) -> tuple[Network, list[str]]:
    """The undirected network of a list of edges, and sentences about what was done to them.

    An edge is listed once, or once from each end with the same weight. Loops and edges of weight 0 are
    dropped, with a note.

    The ends `i` and `j` are places in `names`, which include nodes without edges; weights None are 1.
    `duplicates` is the rule for an edge that is listed more often: "error" refuses it, "sum", "max" and
    "first" make its weights one, those of each direction first, then those of both if they still differ.
    `place` words the number of an edge for messages.
    """
    check_known("duplicates", duplicates, DUPLICATES)
    w = np.ones(len(i)) if weights is None else np.asarray(weights, dtype=np.float64)
    check_weights(i, j, w, names, place)
    loops = np.flatnonzero(i == j)
    first = f"{names[i[loops[0]]]!r}, {place(int(loops[0]))}" if loops.size else ""
    tally: Counter[str] = Counter(loops=loops.size)
    rows, w = once_each(i, j, w, np.flatnonzero(i != j), names, duplicates, place, tally)
    count_signs(w, tally)
    kept = w != 0
    notes = edge_notes(tally, duplicates, first)
    a, b, w, n = i[rows][kept], j[rows][kept], w[kept], len(names)
    A = sp.coo_array((np.r_[w, w], (np.r_[a, b], np.r_[b, a])), shape=(n, n)).tocsr()
    return Network(A, names), notes


def check_weights(i: Array, j: Array, w: Array, names: Sequence[Any], place: Callable[[int], str]) -> None:
    if not np.isfinite(w).all():
        first = int(np.isfinite(w).argmin())
        raise InputError(
            f"The weight of the edge between {names[i[first]]!r} and {names[j[first]]!r} is {w[first]} "
            f"({place(first)}). Every edge needs a finite number: fix it, or leave the edge out."
        )


def once_each(
    i: Array,
    j: Array,
    w: Array,
    rows: Array,
    names: Sequence[Any],
    duplicates: str,
    place: Callable[[int], str],
    tally: Counter[str],
) -> tuple[Array, Array]:
    """One of `rows` for each undirected edge, and its weight; `tally` counts the others."""
    if not rows.size:
        return rows, w[rows]
    low, high = np.minimum(i, j)[rows].astype(np.int64), np.maximum(i, j)[rows].astype(np.int64)
    pair, backward = low * len(names) + high, (i > j)[rows]
    order = np.lexsort((backward, pair))  # stable: rows of one direction stay in the order of the file
    rows, pair, backward = rows[order], pair[order], backward[order]
    one_way = np.flatnonzero(np.r_[True, (pair[1:] != pair[:-1]) | (backward[1:] != backward[:-1])])
    if duplicates == "error":
        _refuse_repeated(i, j, w, rows, pair, one_way, names, place)
    weights = COMBINE[duplicates].reduceat(w[rows], one_way) if duplicates in COMBINE else w[rows[one_way]]
    tally["repeated"] += len(rows) - len(one_way)
    return _both_ways(rows[one_way], pair[one_way], weights, duplicates, tally)


def _both_ways(
    rows: Array, pair: Array, w: Array, duplicates: str, tally: Counter[str]
) -> tuple[Array, Array]:
    """One row for each pair of nodes, of those that have at most one in each direction."""
    starts = np.flatnonzero(np.r_[True, pair[1:] != pair[:-1]])
    twice = np.diff(np.r_[starts, len(pair)]) == 2
    first, second = starts[twice], starts[twice] + 1
    same = w[first] == w[second]
    made = w[starts].copy()
    if duplicates in COMBINE:
        made[np.flatnonzero(twice)[~same]] = COMBINE[duplicates](w[first[~same]], w[second[~same]])
    else:  # whichever comes first in the file
        made[twice] = np.where(rows[first] < rows[second], w[first], w[second])
    tally["listed twice"] += int(np.count_nonzero(same))
    tally["two weights"] += int(np.count_nonzero(~same))
    return rows[starts], made


def count_signs(w: Array, tally: Counter[str]) -> None:
    """Count the weights that are zero or negative."""
    tally["zero"] += int(np.count_nonzero(w == 0))
    tally["negative"] += int(np.count_nonzero(w < 0))


def edge_notes(tally: Counter[str], duplicates: str, first_loop: str) -> list[str]:
    """The counts of `tally` in sentences."""
    by_rule = f"by duplicates={duplicates!r}"
    words = {
        "loops": f"Dropped {_count(tally['loops'], 'self-loop')} (the first: {first_loop}).",
        "repeated": f"Combined {_count(tally['repeated'], 'repeated row')} {by_rule}.",
        "listed twice": f"Counted {_count(tally['listed twice'], 'edge')} once, listed from both ends.",
        "two weights": f"Combined the two weights of {_count(tally['two weights'], 'edge')} {by_rule}.",
        "zero": f"Dropped {_count(tally['zero'], 'edge')} of weight 0.",
        "negative": f"Kept {_count(tally['negative'], 'edge')} of negative weight: SymmetricFactorization "
        "takes them with affinity='precomputed', other estimators refuse them.",
    }
    return [sentence for what, sentence in words.items() if tally[what]]


def _refuse_repeated(
    i: Array,
    j: Array,
    w: Array,
    rows: Array,
    pair: Array,
    one_way: Array,
    names: Sequence[Any],
    place: Callable[[int], str],
) -> None:
    """Refuse an edge that is listed twice in one direction, or with two weights."""
    fine = np.zeros(len(rows), dtype=bool)
    fine[one_way] = True
    # The row before has the other direction.
    mirrored = np.flatnonzero(fine[1:] & (pair[1:] == pair[:-1])) + 1
    fine[mirrored] = w[rows[mirrored]] == w[rows[mirrored - 1]]
    if fine.all():
        return
    bad = int((~fine).argmax())
    others = rows[pair == pair[bad]]
    listed = " and ".join(place(int(row)) for row in np.sort(others)[:2])
    u, v = names[i[rows[bad]]], names[j[rows[bad]]]
    count = np.unique(pair[~fine]).size
    more = "" if count == 1 else f", and {count - 1:,} other edges likewise"
    weights = ", ".join(f"{value:g}" for value in w[np.sort(others)[:3]])
    raise InputError(
        f"The edge between {u!r} and {v!r} is listed {len(others)} times ({listed}; weights {weights})"
        f"{more}. An edge is listed once, or once from each end with the same weight. Say what to do about "
        "others: duplicates='sum', 'max' or 'first'."
    )


def _count(number: Any, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
