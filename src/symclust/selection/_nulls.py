"""Data like given data, but without clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse

from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.exceptions import InputError

MOST = 0.5  # with more than this share of all pairs, exchanges of ends would mostly find their places taken
EXCHANGES = 6  # of each edge, on average: two leave hardly a trace of where it was
ROUNDS = 30  # of proposals at most, where many are refused
SCALINGS = 50
CLOSE = 1e-9  # relative misfit of degrees that is no longer worth a pass over A


class UniformBox:
    """Samples drawn uniformly from the box around the principal components of X (Algorithm 3).

    A feature that would become negative, though no entry of X is, is shifted as far as needed: each feature
    by itself. The components are computed once, by a singular value decomposition of X less its mean.
    """

    def __init__(self, X: Array) -> None:
        self.mean, self.n, self.is_nonnegative = X.mean(axis=0), len(X), bool(X.min() >= 0)
        with single_threaded_blas():
            U, s, self.axes = linalg.svd(X - self.mean, full_matrices=False, check_finite=False)
        components = U * s
        self.low, self.high = components.min(axis=0), components.max(axis=0)

    def draw(self, rng: np.random.RandomState) -> Array:
        """Return as many samples as X has."""
        components = rng.uniform(self.low, self.high, size=(self.n, len(self.low)))
        with single_threaded_blas():
            Z = components.astype(self.axes.dtype, copy=False) @ self.axes
        Z += self.mean
        if self.is_nonnegative:
            Z -= np.minimum(Z.min(axis=0), 0)
        return Z


def shuffled_pairs(A: Any, rng: np.random.RandomState) -> Any:
    r"""Return similarities with the degrees and the diagonal of A, and nothing else of it.

    The share of nonzero pairs decides:

    - A network of equal weights is rewired by exchanges of ends, (a, b), (c, d) → (a, d), (c, b), so that
      every node keeps its number of neighbours exactly (Maslov and Sneppen 2002).
    - Other weights of a network are shuffled over the rewired edges as ratios w_ij / (s_i s_j), s_i the
      average weight of an edge of i.
    - Similarities of most pairs are shuffled over all pairs as ratios to what the degrees predict, a_ij Σd /
      (d_i d_j).

    Rows and columns of the last two are scaled by one number for each sample until the degrees are those of
    A: closely for similarities of most pairs, and as well as the edges allow for networks.

    A is symmetric, without negative entries. An array that is mostly zero is treated as a network, and a
    sparse one with different weights for most pairs as an array; the result has the form of A. A network
    costs a few sorts of its edges, about 0.5 s for 10⁵ of them; an array costs some passes over it.
    """
    _refuse_negative(A)
    n, was_sparse = A.shape[0], sparse.issparse(A)
    W = sparse.csr_array(A)
    diagonal = W.diagonal()
    upper = sparse.coo_array(sparse.triu(W, 1))
    upper.eliminate_zeros()
    has_weights = upper.nnz > 0 and np.ptp(upper.data) > 0
    if has_weights and upper.nnz > MOST * n * (n - 1) / 2:
        full = _shuffled_ratios(A.toarray() if was_sparse else np.asarray(A), rng)
        return sparse.csr_array(full) if was_sparse else full
    i, j = (ends.astype(np.int64) for ends in upper.coords)
    i, j = _rewired_network(i, j, n, rng)
    Z = _symmetric(i, j, upper.data, n)
    if has_weights:
        Z = _weighted(Z, W - sparse.diags_array(diagonal, format="csr"), rng)
    if diagonal.any():
        Z = sparse.csr_array(Z + sparse.diags_array(diagonal, format="csr"), dtype=A.dtype)
    return Z if was_sparse else Z.toarray()


def shuffled_entries(X: Any, rng: np.random.RandomState) -> sparse.csr_array:
    """Return sparse samples × features in which every sample and every feature keeps its number of entries.

    Two entries exchange their samples, (i, j), (p, q) → (p, j), (i, q), and values go with their features: of
    documents, each word is dealt out anew to as many of them as had it, longer ones more often.
    """
    entries = sparse.coo_array(X)
    entries.eliminate_zeros()
    sample, feature = (ends.astype(np.int64) for ends in entries.coords)
    n, d = X.shape
    _, sample = _rewired(feature + n, sample, n + d, rng, turn=False)
    return sparse.csr_array((entries.data, (sample, feature)), shape=X.shape)


def _refuse_negative(A: Any) -> None:
    lowest = (A.data if sparse.issparse(A) else np.asarray(A)).min(initial=0)
    if lowest < 0:
        raise InputError(
            f"The similarities have negative entries, down to {lowest:.3g}: samples then have no degrees "
            "that similarities without clusters could keep. Choose a method that compares with none, such as "
            "'consensus' or 'prediction_strength', or make the similarities nonnegative."
        )


def _rewired_network(i: Array, j: Array, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return edges with the same degrees; where most pairs have one, the pairs that have none are rewired."""
    if len(i) <= MOST * n * (n - 1) / 2:
        return _rewired(i, j, n, rng)
    p, q = np.triu_indices(n, 1)
    pairs = _keys(p, q, n)
    missing = np.setdiff1d(pairs, _keys(i, j, n))
    missing = _keys(*_rewired(missing // n, missing % n, n, rng), n=n)
    edges = np.setdiff1d(pairs, missing)
    return edges // n, edges % n


def _rewired(
    i: Array, j: Array, n: int, rng: np.random.RandomState, turn: bool = True
) -> tuple[Array, Array]:
    """Return the edges of a simple graph with the same degrees, by rounds of exchanges for all edges at once.

    Without `turn`, first ends stay first ends, as in a graph between two kinds of nodes. A round pairs all
    edges at random, and leaves out exchanges that would make a loop or an edge twice; in networks these are
    few.
    """
    i, j, wanted = i.copy(), j.copy(), EXCHANGES * len(i) / 2
    for _ in range(ROUNDS):
        pairs = rng.permutation(len(i))[: len(i) // 2 * 2].reshape(2, -1)
        first, second = pairs
        turned = turn & (rng.rand(len(second)) < 0.5)
        c, d = np.where(turned, j[second], i[second]), np.where(turned, i[second], j[second])
        new = np.array([_keys(i[first], d, n), _keys(c, j[first], n)])
        allowed = (i[first] != d) & (c != j[first]) & _are_new(new, _keys(i, j, n))
        first, second = pairs[:, allowed]
        i[second], j[second], j[first] = c[allowed], j[first], d[allowed]
        wanted -= len(first)
        if wanted <= 0:
            break
    return i, j


def _keys(i: Array, j: Array, n: int) -> Array:
    return np.minimum(i, j) * n + np.maximum(i, j)


def _are_new(new: Array, known: Array) -> Array:
    """Return a mask of the columns of two keys that are not known, and in no other column before it."""
    if not new.size:
        return np.ones(0, dtype=bool)
    order = np.argsort(new, axis=None)
    keys, known = new.ravel()[order], np.sort(known)
    is_old = known[np.searchsorted(known, keys).clip(max=len(known) - 1)] == keys
    is_old[1:] |= keys[1:] == keys[:-1]
    found = np.empty(new.size, dtype=bool)
    found[order] = is_old
    return np.asarray(~found.reshape(new.shape).any(axis=0))


def _symmetric(i: Array, j: Array, values: Array, n: int) -> sparse.csr_array:
    rows, columns = (np.concatenate(ends).astype(np.int32) for ends in ((i, j), (j, i)))
    return sparse.csr_array((np.tile(values, 2), (rows, columns)), shape=(n, n))


def _weighted(Z: sparse.csr_array, W: sparse.csr_array, rng: np.random.RandomState) -> sparse.csr_array:
    """Return the edges of Z with the weights of W, shuffled and scaled to the degrees of W."""
    n, degrees = W.shape[0], np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    strength = degrees / np.maximum(np.diff(W.indptr), 1)
    old, new = (sparse.coo_array(sparse.triu(M, 1)) for M in (W, Z))
    (i, j), (p, q) = old.coords, new.coords
    ratios = rng.permutation(old.data / (strength[i] * strength[j]))
    found = _symmetric(p, q, ratios * strength[p] * strength[q], n)
    scales = _scales(found, degrees)
    rows, columns = found.tocoo().coords
    found.data *= scales[rows] * scales[columns]
    return found.astype(W.dtype)


def _shuffled_ratios(A: Array, rng: np.random.RandomState) -> Array:
    """Return similarities of all pairs, shuffled as ratios to what the degrees predict."""
    pairs = A.astype(np.float64)
    np.fill_diagonal(pairs, 0)
    degrees = pairs.sum(axis=1)
    present = np.flatnonzero(degrees > 0)  # a sample without similarities keeps having none
    i, j = (present[ends] for ends in np.triu_indices(len(present), 1))
    pairs[i, j] = rng.permutation(pairs[i, j] / (degrees[i] * degrees[j])) * (degrees[i] * degrees[j])
    pairs[j, i] = pairs[i, j]
    scales = _scales(pairs, degrees)
    pairs *= np.outer(scales, scales)  # row by row and then by column would not be symmetric to the bit
    np.fill_diagonal(pairs, A.diagonal())
    return pairs.astype(A.dtype)


def _scales(A: Any, degrees: Array) -> Array:
    """Return s such that the row sums of diag(s) A diag(s) are the degrees, or are on the way there.

    The symmetric form of Sinkhorn's iteration, s_i ← (s_i d_i / (As)_i)^½ (Knight, Ruiz and Uçar 2014).
    """
    scales = np.ones(len(degrees))
    for _ in range(SCALINGS):
        sums = np.asarray(A @ scales)
        fit = np.divide(degrees, scales * sums, out=np.ones(len(degrees)), where=sums > 0)
        if np.abs(fit - 1).max(initial=0) < CLOSE:
            break
        scales *= np.sqrt(fit)
    return scales
