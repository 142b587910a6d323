"""The number of communities of a network by the spectrum of its Bethe-Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from symclust._types import Array
from symclust.exceptions import CombinationError
from symclust.operators import Sparse
from symclust.selection._answer import Curve, Selection
from symclust.selection._method import Method
from symclust.selection._pairs import is_made_of_features, nearest_candidate, pairs_of
from symclust.selection._study import Study

__all__ = ["BetheHessian"]

SCORE = "eigenvalue of the Bethe-Hessian"
MOST = 0.5  # share of all pairs with an edge, above which a similarity is no network
DENSE = 1000  # nodes up to which all eigenvalues are found at once, repeated ones too
FIRST = 16  # eigenvalues that are looked for at first; twice as many until one is positive
HEAVY = 0.9  # of r: weights above are taken for this, since beyond r a pair has no finite energy


class BetheHessian(Method):
    r"""Count the negative eigenvalues of the Bethe-Hessian matrix: for networks.

    .. math:: H(r) = (r^2 - 1) I - r A + D, \qquad
              r^2 = \frac{\sum_i d_i^2}{\sum_i d_i} - 1

    (Saade, Krzakala and Zdeborová 2014; the count as an estimate of the number of communities, with this r:
    Le and Levina 2015). Eigenvalues of chance are positive, and each community that stands out from chance
    adds a negative one: r is the radius of the bulk of the non-backtracking matrix, whose real eigenvalues
    beyond r are counted in this way. It is a single sparse eigenvalue problem, nothing is clustered, and the
    answer can be 1.

    With weights :math:`w_{ij}`

    .. math:: H_{ij} = \delta_{ij} \left(1 + \sum_l \frac{w_{il}^2}{r^2 - w_{il}^2}\right)
              - \frac{r w_{ij}}{r^2 - w_{ij}^2}, \qquad
              r^2 = \frac{\sum_i (d_i - 1) \sum_l w_{il}^2}{\sum_i d_i}

    with the number :math:`d_i` of edges; with weights 1 this is (r² − 1)⁻¹ times the matrix above. Weights
    above 0.9 r are taken for 0.9 r.

    Notes
    -----
    Nodes with one edge are removed again and again before r is found: eliminating such a node changes no sign
    of H(r). So trees that hang on a network, and small pieces of it that are trees or rings, count nothing.
    Real networks have more communities that stand out than classes that people know.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import SymNMF
    >>> from symclust.datasets import planted_partition
    >>> from symclust.selection import Pairs, Study
    >>> from symclust.selection.methods.spectrum import BetheHessian
    >>> A, _ = planted_partition(600, 5, degree=15, mixing=0.2, random_state=0)
    >>> study = Study(Pairs(A), SymNMF(affinity="precomputed"), tuple(range(2, 11)), np.random.RandomState(0))
    >>> print(BetheHessian().choose(study))
    5 clusters: 5 eigenvalues of the Bethe-Hessian are negative, and chance makes none.
    """

    def choose(self, study: Study) -> Selection:
        """Return the number of negative eigenvalues, or the candidate nearest to it."""
        W = _network(study)
        values = lowest_eigenvalues(W, max(study.candidates) + 1, study.rng)
        count = int((values < 0).sum())
        chosen = nearest_candidate(count, study.candidates)
        places = np.array(study.candidates) - 1
        held = np.append(values, np.nan)[np.minimum(places, len(values))]
        return Selection(
            chosen,
            "bethe_hessian",
            np.array(study.candidates),
            SCORE,
            {SCORE: Curve(held)},
            _sentence(count, chosen, max(study.candidates)),
        )


def _network(study: Study) -> sparse.csr_array:
    """Return the network of a study; refuse other data."""
    data = study.data
    if is_made_of_features(data):
        raise CombinationError(
            "method='bethe_hessian' counts communities of a network whose other edges are random. The "
            "neighbour graph of samples is not such a network: near samples have common neighbours even "
            "where there are no clusters. Use method='auto', or one of the others."
        )
    A = pairs_of(data, "bethe_hessian")
    n, edges = A.shape[0], A.nnz if sparse.issparse(A) else np.count_nonzero(A)
    if edges > MOST * n * max(n - 1, 1) and n > 2:
        share = edges / (n * (n - 1))
        raise CombinationError(
            f"method='bethe_hessian' is for networks, in which most pairs have no edge; {share:.0%} of the "
            "pairs have a similarity here. Use method='auto', or one of the others."
        )
    return sparse.csr_array(A)


def lowest_eigenvalues(W: sparse.csr_array, limit: int, rng: np.random.RandomState) -> Array:
    """Return the lowest eigenvalues of H(r), rising: all negative ones, or at least `limit` of them.

    Pieces of the network are handled one by one: Lanczos iterations find an eigenvalue that several pieces
    have only once.
    """
    W = _two_core(W)
    if not W.nnz:
        return np.ones(1)
    H = _matrix(W)
    count, piece = connected_components(W, directed=False)
    order = np.argsort(piece, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(piece, minlength=count))[:-1])
    return np.sort(np.concatenate([_lowest(H[own][:, own], limit, rng) for own in members]))


def _two_core(W: sparse.csr_array) -> sparse.csr_array:
    """Remove nodes with fewer than two edges until there are none."""
    while (few := np.diff(W.indptr) < 2).any():
        W = W[~few][:, ~few]
    return W


def _matrix(W: sparse.csr_array) -> sparse.csr_array:
    """Return (r² − 1) H(r), scaled so that weights 1 give the usual matrix."""
    W = sparse.csr_array(W / W.data.mean())
    for _ in range(2):  # weights that are cut change r, which changes the cut; once more is enough
        r = np.sqrt(_squared_radius(W))
        W.data = np.minimum(W.data, HEAVY * r)
    if r <= 1 / HEAVY:  # hardly more than rings: every eigenvalue is positive, whatever the weights
        r, W.data = 1.0 + 1 / HEAVY, np.minimum(W.data, 1.0)
    energies = W.copy()
    energies.data = W.data**2 / (r**2 - W.data**2)
    links = W.copy()
    links.data = r * W.data / (r**2 - W.data**2)
    diagonal = 1 + np.asarray(energies.sum(axis=1)).ravel()
    return sparse.csr_array((r**2 - 1) * (sparse.diags_array(diagonal) - links))


def _squared_radius(W: sparse.csr_array) -> float:
    """Return the mean of w² over edges times the mean number of edges that go on from the end of an edge."""
    edges = np.diff(W.indptr)
    squares = np.asarray((W * W).sum(axis=1)).ravel()
    return float(((edges - 1) * squares).sum() / edges.sum())


def _lowest(H: Any, limit: int, rng: np.random.RandomState) -> Array:
    n = H.shape[0]
    if n <= DENSE:
        return linalg.eigvalsh(H.toarray())[: 2 * limit]
    k, start = FIRST, rng.standard_normal(n)
    while True:
        values = _lanczos(H, k, start)
        if values.max() >= 0 or k >= min(limit, n // 4):
            return values
        k = min(2 * k, n // 4)


def _lanczos(H: Any, k: int, start: Array) -> Array:
    """Return the k lowest eigenvalues of a connected piece.

    `Operator.eigsh` also looks for repeated ones, which takes ten times as long and which a piece has not.
    """
    try:
        return eigsh(H, k=k, which="SA", v0=start, tol=1e-3, ncv=max(3 * k, 40), return_eigenvectors=False)
    except ArpackNoConvergence:
        return Sparse(H).eigsh(k, which="SA", tol=1e-3)[0]


def _sentence(count: int, chosen: int, largest: int) -> str:
    if count <= 1:
        return "One cluster: no eigenvalue of the Bethe-Hessian beyond the first stands out from chance."
    more = "at least " if count > largest else ""
    found = f"{more}{count} eigenvalues of the Bethe-Hessian are negative, and chance makes none"
    if chosen == count:
        return f"{chosen} clusters: {found}."
    return f"{chosen} clusters, the nearest candidate: {found}."
