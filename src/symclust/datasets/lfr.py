"""LFR benchmark graphs: degrees and sizes of communities follow power laws, as in networks people study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from symclust._types import Array
from symclust.datasets.random_graphs import symmetric
from symclust.exceptions import InputError
from symclust.validation import check_number

ATTEMPTS = 100  # draws of sizes and places before the combination is called impossible
SHUFFLES = 10  # swaps proposed for every edge inside: the first graph of given degrees is an orderly one
REPAIRS = 60  # rounds to get rid of edges that must not be
LOST = 0.02  # largest share of edges that may be given up


def lfr(
    n_nodes: int = 1000,
    mixing: float = 0.2,
    average_degree: float = 20.0,
    max_degree: int = 50,
    degree_exponent: float = 2.0,
    community_exponent: float = 1.0,
    min_community: int = 20,
    max_community: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, Array]:
    r"""Graph with communities of unequal size and nodes of unequal degree.

    The benchmark of Lancichinetti, Fortunato and Radicchi (2008). Degrees are drawn from
    :math:`p(d) \propto d^{-\tau_1}` up to `max_degree`, sizes of communities from :math:`p(s) \propto
    s^{-\tau_2}` between their limits; each node has the share `mixing` of its neighbours outside its
    community. Edges are otherwise random. Time and memory follow the number of edges.

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    mixing : float between 0 and 1
        μ, the share of a node's neighbours outside its community. Fractions of an edge are rounded at random.
    average_degree : float
        Average number of neighbours of a node; the smallest degree follows from it.
    max_degree : int
        Largest number of neighbours of a node.
    degree_exponent, community_exponent : float of at least 0
        τ1 and τ2; the authors take 2 to 3 and 1 to 2.
    min_community, max_community : int
        Least and greatest number of nodes in a community.
    random_state : int, Generator or None
        Makes the graph repeatable.

    Returns
    -------
    A : csr_array of shape (n_nodes, n_nodes)
        Symmetric, entries 1.0, zero diagonal.
    y : ndarray of shape (n_nodes,)
        The community of each node, from 0 on; nodes are in random order.

    See Also
    --------
    overlapping_lfr : nodes with several communities.
    planted_partition : clusters of equal size, nodes of equal expected degree.

    Notes
    -----
    A community in which the number of ends of edges is odd loses one. Where a power law asks for more than a
    simple graph can have, up to 2 % of the edges are left out; beyond that the combination is refused.

    Examples
    --------
    >>> from symclust.datasets import lfr
    >>> A, y = lfr(n_nodes=500, mixing=0.1, average_degree=10, max_degree=30, random_state=0)
    >>> A.shape, (A != A.T).nnz, 9.5 < A.nnz / 500 < 10.5
    ((500, 500), 0, True)
    >>> i, j = A.nonzero()
    >>> round(float((y[i] != y[j]).mean()), 1)
    0.1
    """
    plan = _Plan(
        n_nodes, mixing, average_degree, max_degree, degree_exponent, community_exponent, min_community,
        max_community,
    )  # fmt: skip
    A, node, community = _generate(plan, np.random.default_rng(random_state))
    return A, community[np.argsort(node)]


def overlapping_lfr(
    n_nodes: int = 1000,
    mixing: float = 0.2,
    overlapping_nodes: int = 100,
    memberships_per_overlapping_node: int = 2,
    average_degree: float = 20.0,
    max_degree: int = 50,
    degree_exponent: float = 2.0,
    community_exponent: float = 1.0,
    min_community: int = 20,
    max_community: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, csr_array]:
    """Graph in which some nodes belong to several communities.

    The benchmark of Lancichinetti and Fortunato (2009): as `lfr`, but the neighbours that an overlapping node
    has inside are divided evenly among its communities, and those outside share none of its communities.

    Parameters
    ----------
    n_nodes, mixing
        As in `lfr`.
    overlapping_nodes : int
        How many nodes belong to several communities, chosen at random.
    memberships_per_overlapping_node : int
        To how many communities each of those belongs; all others belong to one.
    average_degree, max_degree, degree_exponent, community_exponent
        As in `lfr`.
    min_community, max_community : int
        Least and greatest number of nodes in a community; a node counts in each of its own.
    random_state : int, Generator or None
        Makes the graph repeatable.

    Returns
    -------
    A : csr_array of shape (n_nodes, n_nodes)
        Symmetric, entries 1.0, zero diagonal.
    memberships : csr_array of shape (n_nodes, n_communities)
        1.0 if the node belongs to the community, else 0.0.

    See Also
    --------
    lfr : one community per node.
    symclust.metrics.overlapping_nmi : compares memberships with those found.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.datasets import overlapping_lfr
    >>> A, memberships = overlapping_lfr(n_nodes=500, overlapping_nodes=50, random_state=0)
    >>> np.bincount(np.asarray(memberships.sum(axis=1), dtype=int)).tolist()
    [0, 450, 50]
    """
    plan = _Plan(
        n_nodes, mixing, average_degree, max_degree, degree_exponent, community_exponent, min_community,
        max_community, overlapping_nodes, memberships_per_overlapping_node,
    )  # fmt: skip
    A, node, community = _generate(plan, np.random.default_rng(random_state))
    shape = (n_nodes, int(community.max()) + 1)
    return A, csr_array((np.ones(len(node)), (node, community)), shape=shape)


@dataclass(frozen=True)
class _Plan:
    """The parameters, checked; `n_places` memberships are to be given away."""

    n_nodes: int
    mixing: float
    average_degree: float
    max_degree: int
    degree_exponent: float
    community_exponent: float
    min_community: int
    max_community: int
    overlapping_nodes: int = 0
    memberships_per_overlapping_node: int = 1

    def __post_init__(self) -> None:
        check_number("n_nodes", self.n_nodes, least=2, whole=True)
        check_number("mixing", self.mixing, least=0, most=1)
        check_number("max_degree", self.max_degree, least=1, most=self.n_nodes - 1, whole=True)
        check_number("average_degree", self.average_degree, least=1, most=self.max_degree)
        check_number("degree_exponent", self.degree_exponent, least=0)
        check_number("community_exponent", self.community_exponent, least=0)
        check_number("max_community", self.max_community, least=1, most=self.n_nodes, whole=True)
        check_number("min_community", self.min_community, least=1, most=self.max_community, whole=True)
        check_number("overlapping_nodes", self.overlapping_nodes, least=0, most=self.n_nodes, whole=True)
        name = "memberships_per_overlapping_node"
        check_number(name, self.memberships_per_overlapping_node, least=1, whole=True)
        self._check_numbers_of_communities()

    @property
    def n_places(self) -> int:
        return self.n_nodes + self.overlapping_nodes * (self.memberships_per_overlapping_node - 1)

    @property
    def fewest(self) -> int:
        """The least number of communities that hold all."""
        return -(-self.n_places // self.max_community)

    @property
    def most(self) -> int:
        return self.n_places // self.min_community

    def _check_numbers_of_communities(self) -> None:
        if self.fewest > self.most:
            raise InputError(
                f"{self.n_places} memberships cannot be divided among communities of {self.min_community} to "
                f"{self.max_community} nodes: {self.most} of them hold too few, {self.most + 1} need more. "
                "Move the limits apart."
            )
        if self.overlapping_nodes and self.most < self.memberships_per_overlapping_node:
            raise InputError(
                f"memberships_per_overlapping_node={self.memberships_per_overlapping_node}, but there are at "
                f"most {self.most} communities of at least {self.min_community} nodes: lower one of the two."
            )


def _generate(plan: _Plan, rng: np.random.Generator) -> tuple[csr_array, Array, Array]:
    """The graph and, for every membership, its node and its community."""
    n = plan.n_nodes
    degrees = _degrees(plan, rng)
    inside = np.floor((1 - plan.mixing) * degrees + rng.random(n)).astype(np.int64)
    node, wanted = _memberships(plan, inside, rng)
    community = _communities(plan, node, wanted, rng)
    i, j, group = _edges_inside(node, community, wanted, rng)
    i, j = _rewire(i, j, group, np.equal, n, rng, SHUFFLES)
    p, q = _edges_outside(degrees - inside, _sharing(node, community), rng)
    _check_complete(plan, len(i) + len(p), int(wanted.sum() + (degrees - inside).sum()), community)
    return symmetric(np.concatenate([i, p]), np.concatenate([j, q]), n), node, community


def _degrees(plan: _Plan, rng: np.random.Generator) -> Array:
    """Draw degrees whose expected average is exact: the smallest one is taken with part of its probability.

    The numbers drawn are spread evenly over the quantiles, so that the average hardly varies.
    """
    values = np.arange(1, plan.max_degree + 1)
    p = values ** -float(plan.degree_exponent)
    average = plan.average_degree
    weight, total = (np.cumsum(terms[::-1])[::-1] for terms in (p, p * values))  # over the degrees from d on
    least = np.flatnonzero(total <= average * weight * (1 + 1e-12))
    if not len(least):
        raise InputError(
            f"average_degree={average} is too low: degrees from 1 to {plan.max_degree} with "
            f"degree_exponent={plan.degree_exponent} have the average {total[0] / weight[0]:.3g}. Raise "
            "it or degree_exponent, or lower max_degree."
        )
    m = int(least[-1])
    p[:m] = 0
    if m + 1 < len(p):  # share of p[m] at which the average is the one asked for
        p[m] = max(total[m + 1] - average * weight[m + 1], 0) / (average - values[m])
    share = (rng.permutation(plan.n_nodes) + rng.random(plan.n_nodes)) / plan.n_nodes
    return values[np.searchsorted(np.cumsum(p)[:-1] / p.sum(), share, side="right")]


def _memberships(plan: _Plan, inside: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """The node of every membership, and how many neighbours it has in that community."""
    count = np.ones(plan.n_nodes, dtype=np.int64)
    chosen = rng.choice(plan.n_nodes, plan.overlapping_nodes, replace=False)
    count[chosen] = plan.memberships_per_overlapping_node
    node = np.repeat(np.arange(plan.n_nodes), count)
    number = np.arange(len(node)) - (np.cumsum(count) - count)[node]  # 0, 1, ... within the node
    return node, inside[node] // count[node] + (number < inside[node] % count[node])


def _communities(plan: _Plan, node: Array, wanted: Array, rng: np.random.Generator) -> Array:
    """A community for every membership, with at least as many other members as neighbours wanted."""
    for _ in range(ATTEMPTS):
        sizes = _sizes(plan, rng)
        community = _place(wanted, sizes, rng)
        if community is not None and _separate(community, node, wanted, sizes, rng):
            return community
    raise InputError(
        f"Nodes need up to {wanted.max()} neighbours inside a community, and communities of "
        f"{plan.min_community} to {plan.max_community} nodes have too few members for all of them. Lower "
        "max_degree or average_degree, raise mixing or max_community, or let fewer nodes overlap."
    )


def _sizes(plan: _Plan, rng: np.random.Generator) -> Array:
    """Draw sizes until they hold all, and spread what is too much or too little over all of them."""
    values = np.arange(plan.min_community, plan.max_community + 1)
    p = values ** -float(plan.community_exponent)
    sizes = rng.choice(values, plan.most + 1, p=p / p.sum())
    ends = np.cumsum(sizes)
    nearest = int(np.argmin(np.abs(ends - plan.n_places))) + 1
    sizes = sizes[: min(max(nearest, plan.fewest), plan.most)]
    surplus = int(sizes.sum()) - plan.n_places
    room = sizes - plan.min_community if surplus > 0 else plan.max_community - sizes
    return sizes - np.sign(surplus) * rng.multivariate_hypergeometric(room, abs(surplus))


def _place(wanted: Array, sizes: Array, rng: np.random.Generator) -> Array | None:
    """Give every membership a random seat in a community large enough for it, or return None.

    Those that want most neighbours come first: their seats are among those of all others, so whatever they
    take, the others find one if there is a way at all.
    """
    order = np.argsort(-wanted + rng.random(len(wanted)))
    largest = np.argsort(-sizes)
    seats = np.repeat(largest, sizes[largest])
    fitting = np.searchsorted(-sizes[seats], -(wanted[order] + 1), side="right")
    free = fitting - np.arange(len(seats))
    if free.min() <= 0:
        return None
    chosen = (np.arange(len(seats)) + np.floor(rng.random(len(seats)) * free).astype(np.int64)).tolist()
    taken = seats.tolist()
    for place, seat in enumerate(chosen):  # a shuffle, each step among the seats that fit
        taken[place], taken[seat] = taken[seat], taken[place]
    community = np.empty(len(seats), dtype=np.intp)
    community[order] = taken
    return community


def _separate(community: Array, node: Array, wanted: Array, sizes: Array, rng: np.random.Generator) -> bool:
    """Exchange memberships until no node has a community twice; return whether that was possible."""
    first = np.unique(node * len(sizes) + community, return_index=True)[1]
    for place in np.setdiff1d(np.arange(len(node)), first):
        given, own = community[place], community[node == node[place]]
        if np.count_nonzero(own == given) == 1:  # repaired by an earlier exchange
            continue
        fits = (wanted < sizes[given]) & (wanted[place] < sizes[community])
        fits &= ~np.isin(community, own)
        fits &= ~np.isin(node, node[community == given])
        if not fits.any():
            return False
        other = rng.choice(np.flatnonzero(fits))
        community[place], community[other] = community[other], given
    return True


def _edges_inside(
    node: Array, community: Array, wanted: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """The ends of edges inside communities, and their communities."""
    order = np.argsort(community, kind="stable")
    found = []
    for members in np.split(order, np.cumsum(np.bincount(community))[:-1]):
        i, j = _simple_graph(wanted[members], rng)
        found.append((node[members][i], node[members][j], np.full(len(i), community[members[0]])))
    i, j, group = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j, group


def _simple_graph(degrees: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Edges of a simple graph with given degrees (Havel and Hakimi), less one if their sum is odd.

    Node after node is joined to those that want most neighbours, which works if anything does; drawing pairs
    at random does not in small communities, where nearly all are joined to all.
    """
    left = degrees.copy()
    if left.sum() % 2:
        left[rng.choice(np.flatnonzero(left))] -= 1
    rows, columns = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for i in rng.permutation(len(left)):
        count, left[i] = left[i], 0
        partners = np.argsort(-left, kind="stable")[:count]
        partners = partners[left[partners] > 0]
        left[partners] -= 1
        rows.append(np.full(len(partners), i))
        columns.append(partners)
    return np.concatenate(rows), np.concatenate(columns)


def _sharing(node: Array, community: Array) -> Callable[[Array, Array], Array]:
    """A function that says which pairs of nodes have a community in common."""
    order = np.argsort(node, kind="stable")
    count = np.bincount(node)
    start = np.cumsum(count) - count
    # One row per node; those with fewer communities than others repeat their last one
    place = start[:, np.newaxis] + np.minimum(np.arange(count.max()), count[:, np.newaxis] - 1)
    own = community[order][place]
    return lambda i, j: (own[i][:, :, np.newaxis] == own[j][:, np.newaxis, :]).any(axis=(1, 2))


def _edges_outside(
    wanted: Array, sharing: Callable[[Array, Array], Array], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Pair ends of edges at random, and repair the pairs that have a community in common."""
    ends = rng.permutation(np.repeat(np.arange(len(wanted)), wanted))
    i, j = ends[: len(ends) // 2], ends[len(ends) // 2 : len(ends) // 2 * 2]
    return _rewire(i, j, np.zeros(len(i)), sharing, len(wanted), rng)


def _rewire(
    i: Array,
    j: Array,
    group: Array,
    forbidden: Callable[[Array, Array], Array],
    n: int,
    rng: np.random.Generator,
    at_least: int = 0,
) -> tuple[Array, Array]:
    """Exchange ends of random pairs of edges of one group; degrees stay, faulty edges go.

    All edges are paired at once, and exchanged if that makes no fault: no forbidden edge (a loop is taken for
    one), no edge that is there or that another pair is about to make. Edges that are still faulty in the end
    are left out.
    """
    i, j = i.copy(), j.copy()
    for turn in range(REPAIRS):
        faulty = _faulty(i, j, forbidden, n)
        if turn >= at_least and not faulty.any():
            break
        order = np.argsort(group + rng.random(len(i)))[turn % 2 :]
        e, f = order[: len(order) // 2 * 2 : 2], order[1::2]
        together = group[e] == group[f]
        e, f = e[together], f[together]
        turned = rng.random(len(e)) < 0.5
        a, b, c, d = i[e], j[e], np.where(turned, j[f], i[f]), np.where(turned, i[f], j[f])
        fine = ~forbidden(a, c) & ~forbidden(b, d) & _new(_key(i, j, n), _key(a, c, n), _key(b, d, n))
        i[e[fine]], j[e[fine]], i[f[fine]], j[f[fine]] = a[fine], c[fine], b[fine], d[fine]
    good = ~_faulty(i, j, forbidden, n)
    return i[good], j[good]


def _key(i: Array, j: Array, n: int) -> Array:
    return np.minimum(i, j) * n + np.maximum(i, j)


def _new(present: Array, first: Array, second: Array) -> Array:
    """Mask of the pairs of edges that occur once."""
    _, number, count = np.unique(
        np.concatenate([present, first, second]), return_inverse=True, return_counts=True
    )
    alone = count[number.ravel()[len(present) :]] == 1
    return alone[: len(first)] & alone[len(first) :]


def _faulty(i: Array, j: Array, forbidden: Callable[[Array, Array], Array], n: int) -> Array:
    again = np.ones(len(i), dtype=bool)
    again[np.unique(_key(i, j, n), return_index=True)[1]] = False
    return again | forbidden(i, j)


def _check_complete(plan: _Plan, made: int, ends: int, community: Array) -> None:
    """Refuse a graph that lacks more edges than odd numbers of ends (one per community) and slight excess."""
    odd = int(community.max()) + 2
    if 2 * made < ends - odd - LOST * ends - 2:
        raise InputError(
            f"Only {made} of {ends // 2} edges fit into a simple graph with mixing={plan.mixing}, degrees up "
            f"to {plan.max_degree} and communities of {plan.min_community} to {plan.max_community} among "
            f"{plan.n_nodes} nodes. Lower the degrees, change the mixing, or make the communities fewer and "
            "larger (for low mixing) or more and smaller (for high mixing)."
        )
