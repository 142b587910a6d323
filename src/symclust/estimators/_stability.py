"""How well clusters hold if a third of the samples are left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from symclust._types import Array
from symclust.exceptions import CombinationError

PART = 2 / 3  # of the samples; the graph of a half is so thin that good clusters fall apart
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class Stability:
    """How well clusters hold if a third of the samples are left out; all numbers are from 0 to 1.

    `samples` is how often a sample and its neighbours come into their cluster again. `clusters` is the
    average share of samples in both clusters among those in either (Jaccard); below about 0.6, a cluster is
    not to be relied upon (Hennig 2007). `pairs`, k × k, is the share of the first cluster that comes into the
    second: off the diagonal it shows which clusters run into each other.
    """

    samples: Array
    clusters: Array
    pairs: Array


def by_parts(model: Any, n_repeats: int, rng: np.random.RandomState) -> Stability:
    """Return the agreement of the labels of a model with fits to parts of its samples.

    Samples outside a part are placed by their mean similarity to its clusters, and clusters are matched so
    that as many samples as possible agree.
    """
    A, labels = model.affinity_matrix_, np.asarray(model.labels_)
    if not (sparse.issparse(A) or isinstance(A, np.ndarray)):
        raise CombinationError(
            f"stability takes parts of a matrix, and the similarities are known as {A!r:.80}. Fit with an "
            "affinity that gives a matrix, for example affinity='nearest_neighbors'."
        )
    A = sparse.csr_array(A) if sparse.issparse(A) else A
    n, k = len(labels), int(labels.max()) + 1
    agreed, met, together = np.zeros(n), np.zeros(n), np.zeros((k, k))
    jaccard = []
    for _ in range(n_repeats):
        part = np.sort(rng.permutation(n)[: max(2, int(PART * n))])
        found = _labels_by(model, A, part, k, rng.randint(np.iinfo(np.int32).max))
        known = (found >= 0) & (labels >= 0)
        counts = np.zeros((k, k))
        np.add.at(counts, (labels[known], found[known]), 1)
        partner = linear_sum_assignment(-counts)[1]  # the new cluster for each of the model
        counts = counts[:, partner]
        matched = np.diag(counts)
        either = counts.sum(axis=0) + counts.sum(axis=1) - matched
        jaccard.append(np.divide(matched, either, out=np.zeros(k), where=either > 0))
        together += counts
        agreed[known] += partner[labels[known]] == found[known]
        met += known
    share = np.divide(agreed, met, out=np.zeros(n), where=met > 0)
    rows = together.sum(axis=1, keepdims=True)
    pairs = np.divide(together, rows, out=np.zeros_like(together), where=rows > 0)
    return Stability(_with_neighbours(A, share), np.mean(jaccard, axis=0), pairs)


def _labels_by(model: Any, A: Any, part: Array, k: int, seed: int) -> Array:
    """Return labels of all samples by a fit to some of them; −1 for those that are similar to none."""
    chance = {"random_state": seed} if "random_state" in model.get_params(deep=False) else {}
    changes = {
        "affinity": "precomputed",
        "affinity_params": None,
        "n_clusters": k,
        "callback": None,
        **chance,
    }
    known = model.get_params(deep=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a part that cannot be cut into so many clusters is an answer too
        again = clone(model).set_params(**{name: value for name, value in changes.items() if name in known})
        own = np.asarray(again.fit_predict(A[part][:, part]))
    Z = np.zeros((len(part), k))
    Z[np.flatnonzero(own >= 0), own[own >= 0]] = 1
    near = np.asarray(A[:, part] @ Z) / np.sqrt(np.maximum(A[part][:, part] @ Z, 0).sum(axis=0) + TINY)
    found = np.where(near.max(axis=1) > 0, near.argmax(axis=1), -1)
    found[part] = own
    return found


def _with_neighbours(A: Any, share: Array) -> Array:
    """Return the mean of the share of each sample and that of its neighbours."""
    positive = A.maximum(0) if sparse.issparse(A) else np.maximum(A, 0)
    degrees = np.asarray(positive.sum(axis=1)).ravel()
    near = np.divide(positive @ share, degrees, out=share.copy(), where=degrees > 0)
    return (share + near) / 2
