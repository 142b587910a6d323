"""Random graphs with known clusters, in memory and time of their edges, not of all pairs of nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array

from symclust._types import Array
from symclust.exceptions import InputError
from symclust.validation import check_n_clusters, check_number


def planted_partition(
    n_samples: int = 1000,
    n_clusters: int = 10,
    degree: float = 20.0,
    mixing: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, Array]:
    """Graph whose nodes have more neighbours inside their cluster than outside.

    Clusters have equal size m (one more node in some when the numbers do not divide). Each pair inside a
    cluster is joined with probability degree (1 - mixing) / (m - 1), each other pair with degree mixing /
    (n - m), so that a node has `degree` neighbours on average and the share `mixing` of them lies outside.
    Memory and time are proportional to the number of edges: gaps between edges are drawn, not the pairs one
    by one.

    Parameters
    ----------
    n_samples, n_clusters : int
        Number of nodes and of clusters.
    degree : float
        Expected number of neighbours of a node.
    mixing : float between 0 and 1
        Expected share of a node's neighbours outside its cluster; ``1 - 1/n_clusters`` hides the clusters
        entirely.
    random_state : int, Generator or None
        Makes the graph repeatable.

    Returns
    -------
    A : csr_array of shape (n_samples, n_samples)
        Symmetric, entries 1.0, zero diagonal.
    y : ndarray of shape (n_samples,)
        The cluster of each node; nodes are in random order.

    Examples
    --------
    >>> from symclust.datasets import planted_partition
    >>> A, y = planted_partition(n_samples=300, n_clusters=3, degree=10, mixing=0.1, random_state=0)
    >>> A.shape, (A != A.T).nnz, 9 < A.nnz / 300 < 11
    ((300, 300), 0, True)
    """
    rng = np.random.default_rng(random_state)
    inside, outside = _probabilities(n_samples, n_clusters, degree, mixing)
    sizes = np.diff(np.arange(n_clusters + 1) * n_samples // n_clusters)
    i, j = _partition_pairs(sizes, inside, outside, rng)
    shuffle = rng.permutation(n_samples)
    y = np.empty(n_samples, dtype=np.intp)
    y[shuffle] = np.repeat(np.arange(n_clusters), sizes)
    return symmetric(shuffle[i], shuffle[j], n_samples), y


def _probabilities(n: int, k: int, degree: float, mixing: float) -> tuple[float, float]:
    """The chance of an edge inside a cluster and between two."""
    check_number("n_samples", n, least=1, whole=True)
    check_n_clusters(k, n)
    check_number("degree", degree, least=0)
    check_number("mixing", mixing, least=0, most=1)
    m = n / k
    wanted = np.array([degree * (1 - mixing), degree * mixing])
    available = np.array([m - 1, n - m])
    if (wanted > available).any():
        raise InputError(
            f"degree={degree} with mixing={mixing} means {wanted[0]:g} neighbours inside the cluster, "
            f"where there are {available[0]:g} others, and {wanted[1]:g} outside, where there are "
            f"{available[1]:g}: lower the degree, change the mixing or use fewer, larger clusters."
        )
    inside, outside = wanted / np.maximum(available, 1)
    return float(inside), float(outside)


def noisy_cliques(
    sizes: Sequence[int] = (10,) * 10,
    noise: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, Array]:
    r"""Binary similarity of disjoint cliques in which each pair is flipped with a given probability.

    Without noise the matrix is block diagonal and made of ones, :math:`A = H^* H^{*T}` with a 0/1 matrix
    :math:`H^*` of one column per clique. Noise turns a one into a zero or a zero into a one, for each pair of
    different nodes on its own; A stays symmetric and its diagonal stays 1 (Moutier, Vandaele and Gillis 2021,
    section 5.1.1). Memory and time follow the nonzeros of A (for noise up to 1/2) and the size of `H_true`,
    not the number of pairs.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each clique; the nodes come in this order.
    noise : float between 0 and 1
        Probability that a pair is flipped.
    random_state : int, Generator or None
        Makes the matrix repeatable.

    Returns
    -------
    A : csr_array of shape (n, n)
        Symmetric, entries 1.0, diagonal 1.
    H_true : ndarray of shape (n, len(sizes))
        Which node belongs to which clique, as 0.0 and 1.0.

    See Also
    --------
    adversarial_cliques : links that are placed, not scattered.
    symclust.metrics.factor_accuracy : how close a found factor comes to `H_true`.

    Examples
    --------
    >>> from symclust.datasets import noisy_cliques
    >>> A, H_true = noisy_cliques([3, 2], noise=0.0)
    >>> A.toarray().astype(int).tolist()
    [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1]]
    >>> H_true.astype(int).T.tolist()
    [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    """
    if len(sizes) == 0:
        raise InputError("sizes is empty; expected the number of nodes of each clique, for example [10, 10].")
    for c, size in enumerate(sizes):
        check_number(f"sizes[{c}]", size, least=1, whole=True)
    check_number("noise", noise, least=0, most=1)
    nodes = np.asarray(sizes, dtype=np.int64)
    rng = np.random.default_rng(random_state)
    i, j = _partition_pairs(nodes, 1 - noise, noise, rng)
    H_true = np.repeat(np.eye(len(nodes)), nodes, axis=0)
    return symmetric(i, j, len(H_true), diagonal=1.0), H_true


def adversarial_cliques(
    size: int = 10,
    n_cliques: int = 2,
    n_isolated: int = 10,
    n_links: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, Array]:
    """Binary similarity of disjoint cliques and of nodes that belong to none but are linked to all.

    Each node outside is joined to `n_links` members, drawn at random, of every clique (Moutier, Vandaele and
    Gillis 2021, section 5.1.2; the paper does not say which members it joins). While this is less than half
    the size of a clique, leaving such a node out costs fewer mismatches than taking it in, so the absolute
    loss can still tell who belongs.

    Parameters
    ----------
    size, n_cliques : int
        Number of nodes of a clique and number of cliques; their nodes come first, one clique after the other.
    n_isolated : int
        Number of nodes outside.
    n_links : int, at most `size`
        Number of links from each node outside to each clique.
    random_state : int, Generator or None
        Makes the matrix repeatable.

    Returns
    -------
    A : csr_array of shape (n, n)
        Symmetric, entries 1.0, diagonal 1; ``n = size * n_cliques + n_isolated``.
    H_true : ndarray of shape (n, n_cliques)
        Which node belongs to which clique, as 0.0 and 1.0. Rows of nodes outside are zero.

    See Also
    --------
    noisy_cliques : pairs flipped at random.

    Examples
    --------
    >>> from symclust.datasets import adversarial_cliques
    >>> A, H_true = adversarial_cliques(size=2, n_cliques=2, n_isolated=1, n_links=1, random_state=0)
    >>> A.toarray().astype(int)[:4, :4].tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> int(A.toarray()[4, :2].sum()), int(A.toarray()[4, 2:4].sum()), H_true[4].tolist()
    (1, 1, [0.0, 0.0])
    """
    _check_links(size, n_cliques, n_isolated, n_links)
    rng = np.random.default_rng(random_state)
    members, n = size * n_cliques, size * n_cliques + n_isolated
    i, j = _partition_pairs(np.full(n_cliques, size), 1.0, 0.0, rng)
    starts = np.tile(np.arange(n_cliques) * size, n_isolated)
    # Drawn without replacement by each node outside from each clique
    linked = [rng.choice(size, n_links, replace=False) + start for start in starts]
    outside = np.repeat(np.arange(members, n), n_cliques * n_links)
    i = np.concatenate([i, *linked])
    j = np.concatenate([j, outside])
    H_true = np.zeros((n, n_cliques))
    H_true[:members] = np.repeat(np.eye(n_cliques), size, axis=0)
    return symmetric(i, j, n, diagonal=1.0), H_true


def _check_links(size: int, n_cliques: int, n_isolated: int, n_links: int) -> None:
    check_number("size", size, least=1, whole=True)
    check_number("n_cliques", n_cliques, least=1, whole=True)
    check_number("n_isolated", n_isolated, least=0, whole=True)
    check_number("n_links", n_links, least=0, whole=True)
    if n_links > size:
        raise InputError(
            f"n_links={n_links} with size={size}: a node outside can be joined to each member once at most; "
            "expected n_links <= size."
        )


def _partition_pairs(
    sizes: Array, inside: float, outside: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Pairs of nodes in clusters of the given sizes, laid one after the other.

    Each pair of one cluster is taken with probability `inside`, each other pair with `outside`. Pairs are
    drawn from all nodes for the second kind and those of one cluster dropped again, which costs at most as
    much as the first kind while ``outside <= inside``.
    """
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    i, j = _random_pairs(len(cluster), outside, rng)
    between = cluster[i] != cluster[j]
    rows, columns = [i[between]], [j[between]]
    for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        i, j = _random_pairs(int(size), inside, rng)
        rows.append(i + start)
        columns.append(j + start)
    return np.concatenate(rows), np.concatenate(columns)


def _random_pairs(n: int, probability: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pairs i < j below n, each with the given probability, decoded from its number j (j - 1) / 2 + i."""
    number = _random_subset(n * (n - 1) // 2, probability, rng)
    j = ((1 + np.sqrt(1 + 8 * number.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > number  # the square root is rounded: step back where it went one too far,
    j += j * (j + 1) // 2 <= number  # and forward where it fell one short
    return number - j * (j - 1) // 2, j


def _random_subset(size: int, probability: float, rng: np.random.Generator) -> Array:
    """Members of ``range(size)``, each taken with the given probability, sorted; memory: the answer's."""
    if probability <= 0 or size == 0:
        return np.empty(0, dtype=np.int64)
    expected = size * probability
    pieces, last = [], -1
    while last < size:
        # The distance from one member to the next is geometric. Six deviations extra: a second round is rare.
        gaps = rng.geometric(probability, size=int(expected + 6 * np.sqrt(expected)) + 8)
        # A gap beyond the end ends the walk whatever its length; the cut keeps the sum from overflowing.
        pieces.append(last + np.cumsum(np.minimum(gaps, size + 1)))
        last = int(pieces[-1][-1])
    members = np.concatenate(pieces)
    return members[members < size]


def symmetric(i: Array, j: Array, n: int, diagonal: float = 0.0) -> csr_array:
    """The symmetric matrix with ones at the pairs, each given once, and a constant diagonal."""
    own = np.arange(n if diagonal else 0)
    values = np.concatenate([np.ones(2 * len(i)), np.full(len(own), diagonal)])
    # Many of SciPy's and scikit-learn's routines take nothing but 32 bits
    kind = np.int32 if max(n, len(values)) <= np.iinfo(np.int32).max else np.int64
    rows, columns = (np.concatenate(parts).astype(kind) for parts in ((i, j, own), (j, i, own)))
    return coo_array((values, (rows, columns)), shape=(n, n)).tocsr()
