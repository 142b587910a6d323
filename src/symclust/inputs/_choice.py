"""Which similarity `affinity="auto"` makes of what it is given: the one place that decides.

The rules were chosen by the means over all labelled sets that were at hand, vectors, documents, networks and
LFR graphs, never on one; `docs/evidence/quality.md` has the table behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symclust._types import Features
from symclust.operators import Sparse
from symclust.validation import share_of_zeros

# Directions say more than lengths where features are many and of one kind: intensities, counts, expression.
MANY_FEATURES = 50
# Words of documents are mostly zeros, whether stored or not: 93 to 99 % of nine sets of documents, at most
# 81 % of images, single cells and tables.
MOSTLY_ZEROS = 0.9
# With fewer edges per node, a row of the adjacency says little about its node and walks add to it; with more,
# they blur. In a larger graph a walk costs more than the rest of the fit; there 0.4 gave better cuts and
# fewer nonzeros than 0.3, which labels favour where nodes have many edges.
FEW_EDGES = 15
LARGE_GRAPH = 1_000_000


@dataclass(frozen=True)
class Choice:
    """An affinity by name with its parameters, and the reason in words."""

    affinity: str
    words: str
    params: dict[str, Any] = field(default_factory=dict)


def choose_for_network(W: Sparse, normalizes: bool) -> Choice:
    """Return what suits a network; a method that `normalizes` for itself gets the network as it is."""
    if normalizes:
        return Choice("precomputed", "the weights of the network as they are")
    degree = W.values.size / W.n
    if degree >= FEW_EDGES:
        return _powers(f"the network with {degree:.3g} edges per node", 0.3)
    if W.values.size > LARGE_GRAPH:
        return _powers(f"the network with {W.values.size:,} entries", 0.4)
    return Choice(
        "random_walk",
        f"random walks of up to 3 steps on the network, which has only {degree:.3g} edges per node",
        {"measure": "root", "n_kept": 100},
    )


def _powers(network: str, exponent: float) -> Choice:
    words = f"{network}, weights divided by the degrees to the power {exponent}"
    return Choice("normalized_cut", words, {"exponent": exponent})


def choose_for_samples(X: Features, normalizes: bool) -> Choice:
    """Return what suits checked samples × features, by their values alone: sparse or dense is the same."""
    n_features, is_nonnegative = X.shape[1], X.min() >= 0
    plain = {"normalize": False} if normalizes else {}
    end = "" if normalizes else ", normalised cut"
    if is_nonnegative and share_of_zeros(X) >= MOSTLY_ZEROS:
        words = "cosines of neighbours (nonnegative samples, at least 90 % zeros, like words of documents)"
        if normalizes:
            return Choice("nearest_neighbors", words, {"weights": "cosine", **plain})
        return Choice("random_walk", f"random walks of up to 3 steps along {words}", {"weights": "cosine"})
    if is_nonnegative and n_features >= MANY_FEATURES:
        words = f"nearest neighbours by direction (nonnegative samples of {n_features} features), "
        return Choice("nearest_neighbors", f"{words}self-tuning weights{end}", {"metric": "cosine", **plain})
    return Choice("nearest_neighbors", f"nearest neighbours by distance, self-tuning weights{end}", plain)
