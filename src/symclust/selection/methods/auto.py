"""The method behind ``n_clusters="auto"``: the number of communities of a network, or of parts of a graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax, xlogy

from symclust._types import Array
from symclust.hierarchy import CutGrowth, LeafGraph, PlantedPartition, found_on_all_scales
from symclust.inputs.reading import read_similarity
from symclust.operators import as_operator
from symclust.selection._answer import Curve, Selection
from symclust.selection._data import Data, Features, Pairs
from symclust.selection._method import Method
from symclust.selection._pairs import without_diagonal
from symclust.selection._study import Study

__all__ = ["Auto"]

TINY = 1e-300
SMALLEST_PIECE = 1 / 50  # pieces with less of the nodes of the largest piece are not asked for clusters
TREES = 3  # of a neighbour graph, each from a seed of its own: their answers say how far chance decides
SHOWN = 10  # numbers beyond the chosen one that are compared at least


class Auto(Method):
    r"""Choose without fitting the estimator, by the graph that it would cluster.

    **Networks.** Nodes move between communities where that raises the likelihood of the degree-corrected
    planted partition, on all scales of the network; communities are then merged one by one. Chosen is the
    number with the shortest description, minus the log-likelihood plus the entropy of the labels,

    .. math:: -w_{in} \ln \frac{w_{in}}{e_{in}} - w_{out} \ln \frac{w_{out}}{e_{out}}
              + \sum_c n_c \ln \frac{n}{n_c},

    w the weights inside and between communities and e those expected in a random graph with the same
    degrees. It may be shorter with a rate of links for each community, which costs half the logarithm of the
    number of edges: small communities are denser. If nodes are in doubt, their labels cost less: see
    `_saved_softly`. A random graph is described best as one cluster. No number is too large.

    **Everything else** is seen as its graph of nearest neighbours. A tree cuts it into many small parts. Two
    parts are told apart by the conductance of the boundary between them, compared with the conductance of a
    cut through a cloud without clusters, a uniform ball of as many points and neighbours and the same
    dimension, which shows in the share T of neighbours of a point that are neighbours of each other:

    .. math:: \ln \phi_0 = -1.33 - 0.09 T - 5.45 T^3 + 2.55 T^3 \ln (q / m)

    Parts merge, those first whose boundary is most like that of a cloud. With h(k) the ratio at which k parts
    become k − 1, the score of a number is

    .. math:: s(k) = \ln \frac{h(k + 1)}{h(k)} + 0.2 \ln k, \qquad h(k) < 0.8

    with h cut to 0.05 and 1: the boundaries between clusters are far weaker than those inside. If h(2) is not
    below 0.8, there is one cluster. The curves are geometric means over three trees.

    A long cloud has weak cuts across it, too, though it is no ball: up to three clusters have to be told from
    one by the narrowness r of the last boundary as well, its weight over that of the widest cut through
    either side. With r₀ a low value of it in clouds, there is one cluster if T > 0.3 and

    .. math:: \sqrt{h(2) \, r / r_0} \ge \max(0.05, \min(0.75, 5 (0.7 - T))), \qquad \ln r_0 = 2.55 - 4.8 T

    Along a curve, T near 0.7, samples lie in irregular distances, and a weak cut means less.

    The numbers of the formulas were fitted to clouds, and chosen on the labelled sets of
    docs/evidence/number.md.
    """

    def choose(self, study: Study) -> Selection:
        """Return the answer of the rule that suits the data."""
        if is_network(study.data):
            return _of_network(study)
        return _of_neighbours(study)


def is_network(data: Data) -> bool:
    """Whether the samples are nodes of a network: also if a sparse matrix of ones was given."""
    if not isinstance(data, Pairs) or data.is_network:
        return isinstance(data, Pairs)
    return data.source is None and sparse.issparse(data.A) and data.A.nnz > 0 and np.ptp(data.A.data) == 0


# Networks ---------------------------------------------------------------------------------------------------

MOVED = (2, 3, 4, 6, 8, 12, 16, 24, 32)  # numbers of communities whose nodes move once more
ROUNDS = 10  # of estimating the resolution of communities from those found at the last one
SETTLED = 0.02  # relative change of the resolution
COARSEST = (0.25, 0.5)  # resolutions besides: few large communities
LARGEST_SOFT, SOFT_STEPS, SOFT_LEAST = 1 << 24, 50, 1e-6  # nodes × communities with probabilities
MERGED, MOST_MERGED = 2, 1000  # communities that are merged: more take longer than the moves
SAVED = "saved (nats an edge)"


def _of_network(study: Study) -> Selection:
    data = study.data
    assert isinstance(data, Pairs)
    network = data.source if isinstance(data.source, Pairs) else data
    W = sparse.csr_array(main_pieces(without_diagonal(network.matrix)))
    saved = _saved_by_number(W, study.seeds(1)[0]) if W.nnz else {}
    asked = [k for k in sorted(saved) if not study.candidates or k in study.candidates]
    best = max(asked, key=lambda k: (saved[k], -k), default=1)
    best = best if saved.get(best, 0.0) > 0 else 1
    shown = [k for k in asked if study.candidates or k <= 2 * best + SHOWN] or [2]
    values = np.array([saved.get(k, np.nan) for k in shown])
    return _selection(best, shown, values, SAVED, {}, _network_sentence(best, values, max(saved, default=1)))


def _network_sentence(best: int, values: Array, most: int) -> str:
    if best == 1:
        return (
            "One cluster: no division into communities describes the network in fewer words than a random "
            "graph with the same degrees does."
        )
    said = (
        f"{best} clusters: with so many communities the description of the network is shortest, by "
        f"{np.nanmax(values):.2g} nats an edge compared with a random graph of the same degrees."
    )
    if most > MOST_MERGED:
        said += f" Not every number was compared: more than {MOST_MERGED:,} communities are not merged."
    return said


def _saved_by_number(W: sparse.csr_array, seed: int) -> dict[int, float]:
    """Return for numbers of communities what they save of the description of a network, in nats an edge."""
    W.data = W.data * (W.data.sum() / (W.data @ W.data))  # as if there were as many edges as tell as much
    graph = LeafGraph.whole(as_operator(W))
    found = [(_saved(graph, labels), labels) for labels in _communities_on_scales(graph, seed)]
    found = [one for one in found if one[1].any()]  # one community is what the others are compared with
    if not found:
        return {}
    merged: dict[int, tuple[float, Array]] = {}
    for _, labels in sorted(found, key=lambda one: -one[0])[:MERGED]:
        for k, value, fewer in _merged(graph, labels):
            merged[k] = max(merged.get(k, (-np.inf, fewer)), (value, fewer), key=lambda one: one[0])
    found += merged.values()
    best = max(merged, key=lambda k: merged[k][0], default=1)
    for k in {best - 1, best, best + 1, *MOVED} & set(merged):
        labels = _improved(graph, merged[k][1], k)
        found.append((max(_saved(graph, labels), _saved_softly(W, labels)), labels))
    saved: dict[int, float] = {}
    for value, labels in found:
        k = int(labels.max()) + 1
        saved[k] = max(value, saved.get(k, -np.inf))
    return saved


def _saved_softly(W: sparse.csr_array, labels: Array) -> float:
    """Return what is saved if each node has a probability for each community, in nats an edge.

    Labels in doubt need not be described exactly. With Q the probabilities, the expectation of the
    log-likelihood minus n times the entropy of their mean plus the entropies of the nodes is a lower bound of
    the likelihood of the network with its communities summed over (mean field), and rises in each step.
    """
    n, k = W.shape[0], int(labels.max()) + 1
    if n * k > LARGEST_SOFT:
        return -np.inf
    degrees = W.sum(axis=1)
    total, Q, best = degrees.sum(), np.eye(k)[labels], -np.inf
    for _ in range(SOFT_STEPS):
        near, volumes, prior = W @ Q, degrees @ Q, np.maximum(Q.mean(axis=0), TINY)
        inside, expected = float((Q * near).sum()) / 2, float(volumes @ volumes) / (2 * total)
        value = (
            _log_likelihood(inside, expected, total / 2) + n * xlogy(prior, prior).sum() - xlogy(Q, Q).sum()
        )
        if not value > best + SOFT_LEAST * total or not expected < inside < total / 2:
            break
        best = value
        within, between = inside / expected, (total / 2 - inside) / (total / 2 - expected)
        Q = softmax(
            np.log(prior)
            + np.log(within / between) * near
            - (within - between) / total * np.outer(degrees, volumes),
            axis=1,
        )
    is_whole = len(np.unique(Q.argmax(axis=1))) == k  # fewer communities are compared as such
    return float(best) / (total / 2) if is_whole else -np.inf


def _improved(graph: LeafGraph, labels: Array, k: int) -> Array:
    """Return labels once nodes have moved at the resolution that follows from them."""
    for _ in range(ROUNDS):
        before, resolution = labels, PlantedPartition.of(graph, labels).resolution
        labels = graph.moved(labels, k, 1, False, resolution) if resolution > 0 else labels
        if np.array_equal(labels, before):
            break
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def _saved(graph: LeafGraph, labels: Array) -> float:
    """Return what communities save in nats an edge, with one rate of links inside all, or one for each."""
    sizes, volumes = np.bincount(labels).astype(float), np.bincount(labels, weights=graph.volumes)
    rows = np.repeat(labels, np.diff(graph.indptr))
    is_inside = rows == labels[graph.indices]
    inside = np.bincount(rows[is_inside], graph.weights[is_inside], len(sizes)) / 2
    return _shorter(inside, volumes, sizes, graph.association())


def _shorter(inside: Array, volumes: Array, sizes: Array, total: float) -> float:
    """Return what the shorter of two descriptions saves; rates of their own cost ½ ln m each."""
    edges, expected = total / 2, volumes**2 / (2 * total)
    shared = _log_likelihood(inside.sum(), expected.sum(), edges)
    own = _of_each(inside, expected).sum() + _outside(inside.sum(), expected.sum(), edges)
    own -= len(sizes) * np.log(max(edges, 1.0)) / 2
    return float(max(shared, own) - _entropy(sizes)) / edges


def main_pieces(A: Any) -> Any:
    """Return A without the pieces that are too small to count as clusters."""
    piece = connected_components(sparse.csr_array(A), directed=False)[1]
    sizes = np.bincount(piece)
    keep = sizes[piece] >= SMALLEST_PIECE * sizes.max()
    return A if keep.all() else A[keep][:, keep]


def _communities_on_scales(graph: LeafGraph, seed: int) -> list[Array]:
    """Return labels at several resolutions: the usual one, those that follow from labels, and coarse ones."""
    found, resolution = [], 1.0
    for number in range(ROUNDS):
        found.append(found_on_all_scales(graph, seed + number, resolution))
        estimated = PlantedPartition.of(graph, found[-1]).resolution
        if estimated <= 0 or abs(np.log(estimated / resolution)) < SETTLED:
            break
        resolution = estimated
    return found + [found_on_all_scales(graph, seed, coarse) for coarse in COARSEST]


def _merged(graph: LeafGraph, labels: Array) -> list[tuple[int, float, Array]]:
    """Return numbers of communities with what they save, and labels, as communities are merged.

    The next pair is the one with which the description is shortest; of many communities several pairs at a
    time, none of them twice.
    """
    sizes, volumes = np.bincount(labels).astype(float), np.bincount(labels, weights=graph.volumes)
    rows, k, total = np.repeat(labels, np.diff(graph.indptr)), len(sizes), graph.association()
    if k > MOST_MERGED:
        return []
    links = np.bincount(rows.astype(np.int64) * k + labels[graph.indices], graph.weights, k * k).reshape(k, k)
    own, found = np.arange(k), []
    while len(sizes) > 2:
        i, j = np.triu_indices(len(sizes), 1)
        inside, expected = np.diag(links) / 2, volumes**2 / (2 * total)
        crossing, chance = links[i, j], volumes[i] * volumes[j] / total
        gains = _of_each(inside[i] + inside[j] + crossing, expected[i] + expected[j] + chance)
        gains -= _of_each(inside, expected)[i] + _of_each(inside, expected)[j]
        gains += _outside(inside.sum() + crossing, expected.sum() + chance, total / 2)
        gains += _entropies(sizes[i] + sizes[j]) - _entropies(sizes[i]) - _entropies(sizes[j])
        group = _paired(i, j, gains, len(sizes))
        links, sizes, volumes = (_summed(values, group) for values in (links, sizes, volumes))
        own = group[own]
        value = _shorter(np.diag(links) / 2, volumes, sizes, total)
        found.append((len(sizes), value, own[labels].astype(np.int32)))
    return found


def _paired(i: Array, j: Array, gains: Array, k: int) -> Array:
    """Return new numbers of k communities once the best pairs are merged, a fiftieth of them at a time."""
    group, wanted, taken = np.arange(k), max(1, k // 50), np.zeros(k, dtype=bool)
    most = min(len(gains), 4 * wanted)
    best = np.argpartition(-gains, most - 1)[:most]
    for pair in best[np.argsort(-gains[best], kind="stable")]:
        a, b = i[pair], j[pair]
        if wanted and not (taken[a] or taken[b]):
            group[b], wanted = a, wanted - 1
            taken[a] = taken[b] = True
    return np.unique(group, return_inverse=True)[1]


def _summed(values: Array, group: Array) -> Array:
    """Return the sums over groups, along each axis."""
    Z = np.zeros((group.max() + 1, len(group)))
    Z[group, np.arange(len(group))] = 1
    return Z @ values if values.ndim == 1 else Z @ values @ Z.T


def _log_likelihood(inside: Any, expected: Any, total: float) -> Any:
    """Return that of the planted partition, but for what all labels share."""
    return _of_each(inside, expected) + _outside(inside, expected, total)


def _of_each(inside: Any, expected: Any) -> Any:
    within = np.maximum(inside, 0)
    return xlogy(within, within / np.maximum(expected, TINY))


def _outside(inside: Any, expected: Any, total: float) -> Any:
    return _of_each(total - inside, total - expected)


def _entropies(sizes: Any) -> Any:
    return xlogy(sizes, sizes)


def _entropy(sizes: Array) -> float:
    """Return n times the entropy of the labels of n nodes."""
    return float(_entropies(sizes.sum()) - _entropies(sizes).sum())


# Everything else --------------------------------------------------------------------------------------------

LEAVES, GROWTH, LEAF_NODES = 200, 4, 6  # parts: 200 or 4 √n, with six samples each on average at the least
LEAST = 4  # samples of a part
LOWEST, ONE, MANY = 0.05, 0.8, 0.2  # of the score; see `Auto`
FEW, LONG, SURFACE, CURVE = 3, 0.75, 0.55, 0.7  # clusters that a long cloud may pass for; see `Auto`
LEAST_LIMIT, FLAT = 1 / 15, 0.3  # curves that are apart are clusters
LEAST_RATIO = 1e-3  # for means of logarithms
SCORE = "score"
SAMPLED = 20_000  # samples whose neighbours are looked at for the dimension


def _of_neighbours(study: Study) -> Selection:
    W = _neighbour_graph(study.data)
    n = W.shape[0]
    most = max(2, min(max(LEAVES, int(GROWTH * np.sqrt(n))), n // LEAF_NODES))
    tasks = [(W, most, seed) for seed in study.seeds(TREES)]
    judge = partial(_judged, study.candidates, most)
    return judge(study.map(boundaries, tasks, "trees", so_far=judge))


def _judged(candidates: tuple[int, ...], most: int, trees: list[Boundaries]) -> Selection:
    """Return the answer to the boundaries of 2, 3, ... parts in each tree."""
    length = min(len(ratios) for ratios, _, _ in trees)
    if not length:
        return _selection(1, [2], np.zeros(1), SCORE, {}, "One cluster: there are too few samples to tell.")
    own = [np.maximum.accumulate(np.maximum(ratios[:length], LEAST_RATIO)) for ratios, _, _ in trees]
    narrowness = [max(narrow, LEAST_RATIO) for _, narrow, _ in trees]
    h, narrow = np.exp(np.mean(np.log(own), axis=0)), float(np.exp(np.mean(np.log(narrowness))))
    share = trees[0][2]
    k = np.arange(2, len(h) + 2)
    is_asked = np.ones(len(k), dtype=bool) if not candidates else np.isin(k, candidates)
    scores = np.where(is_asked, _scores(h, k), np.nan)
    best = _chosen(scores, k)
    is_long = best <= FEW and _is_long(h[0], narrow, share)
    alone = [_chosen(np.where(is_asked, _scores(one, k), np.nan), k) for one in own]
    best = 1 if is_long else best
    shown = is_asked & (k <= max(2 * best, SHOWN + 1)) if not candidates else is_asked
    if not shown.any():
        shown = k == 2
    return _selection(
        best,
        k[shown].tolist(),
        scores[shown],
        SCORE,
        {"weakest boundary": Curve(h[shown])},
        LONG_SENTENCE if is_long and h[0] < ONE else _neighbour_sentence(best, h, alone, most),
    )


LONG_SENTENCE = (
    "One cluster: the weakest cut of the neighbour graph is not narrower than cuts through either side of "
    "it, as in a long cloud."
)


def _chosen(scores: Array, k: Array) -> int:
    return 1 if np.isnan(scores).all() else int(k[np.nanargmax(scores)])


def _is_long(ratio: float, narrowness: float, share: float) -> bool:
    """Whether two parts can be the halves of a long cloud; in many dimensions length makes no difference."""
    if share < FLAT:
        return False
    limit = LONG * np.clip((CURVE - share) / (CURVE - SURFACE), LEAST_LIMIT, 1)
    return bool(np.sqrt(ratio * narrowness / np.exp(2.55 - 4.8 * share)) >= limit)


def _scores(h: Array, k: Array) -> Array:
    """Return the score of each number, NaN for those that divide what hangs together."""
    cut = np.clip(np.append(h, 1.0), LOWEST, 1.0)
    return np.where(h < ONE, np.log(cut[1:] / cut[:-1]) + MANY * np.log(k), np.nan)


def _neighbour_sentence(best: int, h: Array, alone: list[int], most: int) -> str:
    if best == 1:
        return (
            f"One cluster: the weakest cut of the neighbour graph goes through {h[0]:.0%} of the links that "
            "a cloud without clusters would have there."
        )
    said = (
        f"{best} clusters: the boundaries between them have at most {h[best - 2]:.0%} of the links that a "
        "cloud without clusters would have there"
    )
    if best - 1 < len(h):
        said += f", and those inside them {h[best - 1]:.0%}"
    others = sorted({one for one in alone if one != best})
    if others:
        said += f". Trees with other random numbers say {' or '.join(map(str, others))}"
    if best > most // 4:
        said += f". There may be more, since only {most} parts of the samples were compared"
    return said + "."


def _neighbour_graph(data: Data) -> sparse.csr_array:
    """Return the neighbour graph behind similarities; the largest entries of each row if all are given."""
    if isinstance(data, Features):
        given = read_similarity(data.X, "auto", None, True).operator.matrix
    else:
        assert isinstance(data, Pairs)
        given = data.A if data.graph is None else data.graph()
    return sparse.csr_array(without_diagonal(given)) if sparse.issparse(given) else _nearest(given)


def _nearest(given: Any) -> sparse.csr_array:
    """Return the largest entries of each row of an array or operator, which is read in blocks of rows."""
    A = as_operator(given)
    q = min(A.n - 1, A.n.bit_length())
    kept = []
    for rows, given_block in A.row_blocks():
        block = without_diagonal(given_block, rows.start)
        nearest = np.argpartition(-block, q - 1, axis=1)[:, :q]
        starts = np.arange(0, nearest.size + 1, q)
        values = np.take_along_axis(block, nearest, axis=1).ravel()
        kept.append(sparse.csr_array((values, nearest.ravel(), starts), (len(block), A.n)))
    E = sparse.vstack(kept, format="csr")
    E.eliminate_zeros()
    return sparse.csr_array(E.maximum(E.T))


Boundaries = tuple[Array, float, float]


def boundaries(W: sparse.csr_array, n_parts: int, seed: int) -> Boundaries:
    """Return the ratios at which 2, 3, ... parts merge, the narrowness of the last, and T; see `Auto`."""
    least = min(LEAST, max(1, W.shape[0] // 20))
    tree = CutGrowth(as_operator(W), 0.25, least, False, 1, seed).grow(n_parts)
    parts = Parts.of(W, tree.cut(tree.n_splits + 1), seed)
    share = float(parts.closed.sum() / parts.pairs.sum())
    ratios, narrowness = parts.merge()
    return np.array(ratios[::-1]), narrowness, share


class Parts:
    """Parts of a graph, which merge: weights and edges between them, sizes, closed and all pairs of edges."""

    def __init__(self, weights: Array, edges: Array, sizes: Array, closed: Array, pairs: Array) -> None:
        self.weights, self.edges, self.sizes, self.closed, self.pairs = weights, edges, sizes, closed, pairs

    @classmethod
    def of(cls, W: sparse.csr_array, labels: Array, seed: int) -> Parts:
        """Return the parts of a graph with zeros on its diagonal."""
        n, k = W.shape[0], int(labels.max()) + 1
        rows = np.repeat(labels, np.diff(W.indptr))
        place = rows.astype(np.int64) * k + labels[W.indices]
        weights, edges = np.bincount(place, W.data, k * k), np.bincount(place, minlength=k * k)
        drawn = np.arange(n) if n <= SAMPLED else np.random.RandomState(seed).permutation(n)[:SAMPLED]
        links = sparse.csr_array((np.ones(W.nnz), W.indices, W.indptr), W.shape)
        own = links[drawn]
        triangles, degrees = (own @ links).multiply(own).sum(axis=1), np.diff(own.indptr)
        closed = np.bincount(labels[drawn], triangles, k)
        pairs = np.bincount(labels[drawn], degrees * (degrees - 1.0), k)
        closed += closed.sum() / max(pairs.sum(), 1.0)  # a part of which nobody was drawn is like all
        sizes = np.bincount(labels, minlength=k).astype(float)
        return cls(weights.reshape(k, k), edges.reshape(k, k).astype(float), sizes, closed, pairs + 1.0)

    def ratios(self, a: int, alive: Array) -> Array:
        """Return for part a the conductance of its boundary to each other part over that in a cloud."""
        crossing, inner = self.weights[a], np.diag(self.weights)
        volume = np.minimum(inner[a], inner) + crossing
        phi = np.divide(crossing, volume, out=np.zeros(len(inner)), where=volume > 0)
        degrees = (self.edges[a, a] + np.diag(self.edges) + 2 * self.edges[a]) / (self.sizes[a] + self.sizes)
        share = (self.closed[a] + self.closed) / (self.pairs[a] + self.pairs)
        # Of parts of different sizes, the boundary is that of the smaller one.
        points = 2 * np.minimum(self.sizes[a], self.sizes)
        found = np.exp(np.log(np.maximum(phi, 1e-300)) - in_a_cloud(share, degrees / points))
        return np.where(alive & (np.arange(len(inner)) != a), found, -1.0)

    def merge(self) -> tuple[list[float], float]:
        """Merge all parts, those with the largest ratio first; return the ratios, and the last narrowness.

        The narrowness of a boundary is its weight over that of the widest cut through either side, as the
        parts of that side merged. In a long cloud all cuts across are weak: the ratio is small, and the
        narrowness is not.
        """
        k = len(self.sizes)
        alive = np.ones(k, dtype=bool)
        table = np.stack([self.ratios(a, alive) for a in range(k)])
        phi = np.exp(in_a_cloud(self.closed / self.pairs, self.edges.sum(axis=1) / self.sizes**2))
        widest = phi / (1 - phi) * np.diag(self.weights) / 2
        found, narrowness = [], 0.0
        for _ in range(k - 1):
            a, b = np.unravel_index(table.argmax(), table.shape)
            found.append(float(table[a, b]))
            crossing = self.weights[a, b]
            narrowness = crossing / max(min(widest[a], widest[b]), TINY)
            widest[a] = max(widest[a], widest[b], crossing)
            for square in (self.weights, self.edges):
                square[a] += square[b]
                square[:, a] += square[:, b]
                square[b], square[:, b] = 0, 0
            for one in (self.sizes, self.closed, self.pairs):
                one[a] += one[b]
            alive[b] = False
            table[b], table[:, b] = -1.0, -1.0
            table[a] = table[:, a] = self.ratios(int(a), alive)
        return found, narrowness


def in_a_cloud(share: Array, density: Array) -> Array:
    """Return the logarithm of the conductance of the best cut through a uniform ball.

    `share` is that of the pairs of neighbours which are neighbours of each other, `density` the number of
    neighbours over that of points. Fitted to balls in 1 to 20 dimensions with 30 to 2,000 points.
    """
    cube = share**3
    return -1.326 - 0.087 * share - 5.446 * cube + 2.547 * cube * np.log(np.maximum(density, 1e-12))


def _selection(
    best: int, candidates: list[int], values: Array, score: str, further: dict[str, Curve], sentence: str
) -> Selection:
    curves = {score: Curve(values), **further}
    return Selection(best, "auto", np.array(candidates), score, curves, sentence)
