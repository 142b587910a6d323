"""How well communities that may overlap agree with known ones."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array, Matrix
from symclust.exceptions import InputError, InputTypeError
from symclust.validation import check_number, is_a

EXPECTED = (
    "Expected a collection of communities, each a collection of its members, or an array (dense or sparse) "
    "with one row per node and one column per community, nonzero where the node is a member."
)


def overlapping_nmi(
    memberships_true: Matrix, memberships_pred: Matrix, *, n_nodes: int | None = None
) -> float:
    r"""Normalised mutual information of two sets of communities that may overlap.

    Each community is a 0/1 variable on the nodes. Its uncertainty, given the other set, is
    measured by the community of that set that says most about it, :math:`H(X_i|Y) = \min_j H(X_i|Y_j)`; with
    :math:`H(X) = \sum_i H(X_i)` and :math:`H(X|Y) = \sum_i H(X_i|Y)`

    .. math:: \mathrm{NMI}_{\max} = \frac{H(X) - H(X|Y) + H(Y) - H(Y|X)}{2 \max(H(X), H(Y))}

    (McDaid, Greene and Hurley 2011).

    Parameters
    ----------
    memberships_true, memberships_pred : collection of communities, or array of shape (n_nodes, n_communities)
        Known and found communities: the members of each, such as ``communities(threshold=...)`` gives them,
        or a NumPy or sparse array (or DataFrame) with nonzeros where a node is a member. Communities without
        members are left out. The order of the communities does not matter.
    n_nodes : int, default=None
        Number of nodes of the graph, for collections of members; None counts those that are in a community
        of either set.

    Returns
    -------
    float
        Between 0 and 1; 1 for equal communities.

    See Also
    --------
    overlapping_f1 : the average F1 score of matched communities.
    sklearn.metrics.normalized_mutual_info_score : for labels; its values for partitions differ from these.

    Notes
    -----
    Pairs of communities are compared where they have members in common, found by one sparse product; and
    where one of them holds more than half of the nodes, since only then a disjoint one can be informative.

    Examples
    --------
    >>> from symclust.metrics import overlapping_nmi
    >>> known = [[0, 1, 2, 3], [3, 4, 5, 6]]
    >>> overlapping_nmi(known, [[3, 4, 5, 6], [0, 1, 2, 3]])
    1.0
    >>> round(overlapping_nmi(known, [[0, 1, 2], [3, 4, 5, 6]]), 3)
    0.765
    """
    X, Y = _read_covers(memberships_true, memberships_pred, n_nodes)
    n = X.shape[0]
    i, j, both = _pairs(X, Y)
    x, y = _sizes(X), _sizes(Y)
    H_x, H_y = _entropy(x, n), _entropy(y, n)
    H_x_given = _unknown(i, x[i], y[j], both, H_x, n)
    H_y_given = _unknown(j, y[j], x[i], both, H_y, n)
    largest = max(H_x.sum(), H_y.sum())
    if largest == 0:  # every community there is holds all nodes
        return float(len(y) > 0)
    known = H_x.sum() - H_x_given.sum() + H_y.sum() - H_y_given.sum()
    return float(np.clip(known / (2 * largest), 0, 1))


def overlapping_f1(
    memberships_true: Matrix, memberships_pred: Matrix, *, n_nodes: int | None = None
) -> float:
    r"""Average F1 score of communities that may overlap, each matched with the most similar one.

    .. math:: \frac12 \Big( \frac{1}{|X|} \sum_i \max_j F(X_i, Y_j) + \frac{1}{|Y|} \sum_j \max_i F(X_i, Y_j)
        \Big), \qquad F(X_i, Y_j) = \frac{2\,|X_i \cap Y_j|}{|X_i| + |Y_j|}

    (Yang and Leskovec 2013). Both directions count: a set of communities that has every known one and many
    others besides loses in the second.

    Parameters
    ----------
    memberships_true, memberships_pred, n_nodes
        As in `overlapping_nmi`; the number of nodes makes no difference here, but members are checked.

    Returns
    -------
    float
        Between 0 and 1; 1 for equal communities.

    Examples
    --------
    >>> from symclust.metrics import overlapping_f1
    >>> round(overlapping_f1([[0, 1, 2, 3], [3, 4, 5, 6]], [[0, 1, 2], [3, 4, 5, 6]]), 3)
    0.929
    """
    X, Y = _read_covers(memberships_true, memberships_pred, n_nodes)
    if Y.shape[1] == 0:
        return 0.0
    common = (X.T @ Y).tocoo()
    i, j = common.coords
    F = 2 * common.data / (_sizes(X)[i] + _sizes(Y)[j])
    best = np.zeros(X.shape[1]), np.zeros(Y.shape[1])
    for scores, number in zip(best, (i, j), strict=True):
        np.maximum.at(scores, number, F)
    return float((best[0].mean() + best[1].mean()) / 2)


def _sizes(X: sparse.csc_array) -> Array:
    return np.diff(X.indptr).astype(np.float64)


def _pairs(X: sparse.csc_array, Y: sparse.csc_array) -> tuple[Array, Array, Array]:
    """The pairs of communities that may be informative of each other, and their common members.

    -p log p of the nodes in neither is above that of the two only where one has more than half of the nodes:
    all pairs of those are added. Pairs may come twice; only minima are taken over them.
    """
    common = (X.T @ Y).tocsr()
    found = [(*common.nonzero(), common.data)]
    large = [np.flatnonzero(2 * _sizes(cover) > X.shape[0]) for cover in (X, Y)]
    for rows, columns in ((large[0], np.arange(Y.shape[1])), (np.arange(X.shape[1]), large[1])):
        i, j = (index.ravel() for index in np.meshgrid(rows, columns, indexing="ij"))
        found.append((i, j, common[np.ix_(rows, columns)].toarray().ravel()))
    i, j, both = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j, both


def _h(count: Array, n: int) -> Array:
    """-p log2 p of p = count / n, and 0 if that is 0."""
    p = count / n
    return -p * np.log2(p, out=np.zeros_like(p), where=p > 0)


def _entropy(size: Array, n: int) -> Array:
    return _h(size, n) + _h(n - size, n)


def _unknown(number: Array, x: Array, y: Array, both: Array, H_x: Array, n: int) -> Array:
    """H(X_i|Y) of all i, from pairs of communities of sizes x and y; `number` is i of each pair."""
    neither, only_x, only_y = n - x - y + both, x - both, y - both
    alike = _h(both, n) + _h(neither, n)
    unlike = _h(only_x, n) + _h(only_y, n)
    # A community that is nearly the complement would be informative too, but is no match: 2 of the paper
    values = np.where(alike >= unlike, alike + unlike - _entropy(y, n), np.inf)
    least = H_x.copy()  # where no community matches
    np.minimum.at(least, number, np.maximum(values, 0))
    return least


def _read_covers(true: Any, pred: Any, n_nodes: int | None) -> tuple[sparse.csc_array, sparse.csc_array]:
    """Both as 0/1 arrays of nodes × communities, without communities that have no members."""
    if n_nodes is not None:
        check_number("n_nodes", n_nodes, least=1, whole=True)
    given = {"memberships_true": true, "memberships_pred": pred}
    read = {name: _table(name, value) for name, value in given.items()}
    tables = {name: value for name, value in read.items() if sparse.issparse(value)}
    numbers: dict[Any, int] = {}
    if tables:
        _number_rows(numbers, tables, n_nodes)
    covers = [
        value if sparse.issparse(value) else _from_members(name, value, numbers, bool(tables))
        for name, value in read.items()
    ]
    n = _count_nodes(len(numbers), n_nodes)
    X, Y = (_nonempty(cover, n) for cover in covers)
    if X.shape[1] == 0:
        raise InputError("memberships_true has no community with members: there is nothing to compare with.")
    return X, Y


def _number_rows(numbers: dict[Any, int], tables: dict[str, Any], n_nodes: int | None) -> None:
    """Make the rows of arrays the names of the nodes."""
    rows = {value.shape[0] for value in tables.values()} | ({n_nodes} if n_nodes is not None else set())
    if len(rows) > 1:
        shapes = ", ".join(f"{name} has shape {value.shape}" for name, value in tables.items())
        given = f" and n_nodes={n_nodes}" if n_nodes is not None else ""
        raise InputError(f"{shapes}{given}; expected one row per node in each, of the same nodes.")
    numbers.update((row, row) for row in range(rows.pop()))


def _count_nodes(seen: int, n_nodes: int | None) -> int:
    if n_nodes is not None and seen > n_nodes:
        raise InputError(f"n_nodes={n_nodes}, but the communities have {seen} different members.")
    return seen if n_nodes is None else n_nodes


def _table(name: str, value: Any) -> Any:
    """An array as a sparse one, and the members of communities as a list of sets."""
    if sparse.issparse(value) or isinstance(value, np.ndarray) or is_a(value, "pandas", "DataFrame"):
        array = value if sparse.issparse(value) else np.asarray(value)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InputError(
                f"{name} is an array of shape {array.shape} and dtype {array.dtype}. {EXPECTED} For labels, "
                "one per node, use sklearn.metrics.normalized_mutual_info_score."
            )
        return sparse.csc_array(array)
    if isinstance(value, str | bytes | dict) or not isinstance(value, Iterable):
        raise InputTypeError(f"{name} is a {type(value).__name__}. {EXPECTED}")
    return [_members(name, number, members) for number, members in enumerate(value)]


def _members(name: str, number: int, members: Any) -> set[Any]:
    if isinstance(members, str | bytes) or not isinstance(members, Iterable):
        raise InputTypeError(f"Community {number} of {name} is {members!r}. {EXPECTED}")
    return {member.item() if isinstance(member, np.generic) else member for member in members}


def _from_members(
    name: str, communities: list[set[Any]], numbers: dict[Any, int], fixed: bool
) -> tuple[list[int], list[int], int]:
    """Rows, columns and the number of columns; nodes get numbers as they turn up unless `fixed`."""
    rows, columns = [], []
    for column, members in enumerate(communities):
        for member in members:
            if fixed and (member not in numbers or not isinstance(member, Integral)):
                raise InputError(
                    f"Community {column} of {name} has the member {member!r}, but the other argument is an "
                    f"array with rows 0 to {len(numbers) - 1}: members must be the numbers of rows."
                )
            rows.append(numbers.setdefault(member, len(numbers)))
            columns.append(column)
    return rows, columns, len(communities)


def _nonempty(cover: Any, n: int) -> sparse.csc_array:
    if sparse.issparse(cover):
        X = cover.astype(bool).astype(np.float64)
        X.eliminate_zeros()
    else:
        rows, columns, k = cover
        X = sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(n, k))
    return X[:, np.flatnonzero(np.diff(X.indptr))]
