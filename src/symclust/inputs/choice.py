"""The choice of ``affinity="auto"``, by rules that did best in the mean over all labelled sets at hand.

`docs/evidence/quality.md` has the table behind them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from symclust._types import Features
from symclust.graphs import columns_are_alike
from symclust.operators import Sparse
from symclust.validation import are_counts, share_of_zeros

# Many nonnegative features are intensities, counts or expression: directions say more than lengths, and two
# views of them more than one.
MANY_FEATURES = 50
OF_ONE_GRAPH = {"columns", "method", "metric", "scale", "weights"}  # parameters of `nearest_neighbors` alone
# Words of documents are mostly zeros, whether stored or not: 93 to 99 % of nine sets of documents, at most
# 81 % of images, single cells and tables.
MOSTLY_ZEROS = 0.9
# Weights that keep densities, for columns brought to one unit: clusters of such tables overlap more often
# than gaps divide them, and fuzzy weights would count the samples in between like all others.
OF_UNITS = "self_tuning"
# With fewer edges per node, a row of the adjacency says little about its node and walks add to it; with more,
# they blur. In a larger graph a walk costs more than the rest of the fit; there 0.4 gave better cuts and
# fewer nonzeros than 0.3, which labels favour where nodes have many edges.
FEW_EDGES = 15
LARGE_GRAPH = 250_000


@dataclass(frozen=True)
class Choice:
    """An affinity by name with its parameters, and the reason in words."""

    affinity: str
    words: str
    params: dict[str, Any] = field(default_factory=dict)


def choose_for_network(W: Sparse, normalizes: bool) -> Choice:
    """Return the choice for a network; a method that `normalizes` for itself gets the network as it is."""
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


def choose_for_samples(X: Features, normalizes: bool, given: dict[str, Any]) -> Choice:
    """Return what suits checked samples × features, by their values alone: sparse or dense is the same.

    `given` are the user's parameters: views of their own, or those of one graph, which replaces the views.
    """
    is_nonnegative = X.min() >= 0
    params: dict[str, Any] = {"normalize": False} if normalizes else {}
    end = "" if normalizes else ", normalised cut"
    are_many = is_nonnegative and X.shape[1] >= MANY_FEATURES
    if "views" in given:
        return Choice("multi_view", f"nearest neighbours in the views that were given{end}", params)
    if are_documents(X):
        counts = are_counts(X)
        scale = "words" if counts and "scale" not in given else None
        like = "counts of words" if counts else "weights of words, taken as they are"
        weighted = ", weighted log(1 + count) · log((1 + n) / df)" if scale else ""
        words = f"cosines of neighbours (nonnegative samples, at least 90 % zeros, like {like}{weighted})"
        own = {"weights": "cosine", "scale": scale}
        if normalizes:
            return Choice("nearest_neighbors", words, {**own, **params})
        return Choice("random_walk", f"random walks of up to 3 steps along {words}", own)
    if are_many and not OF_ONE_GRAPH & set(given):
        words = f"nearest neighbours in two views, directions of values as they are and in robust units{end}"
        return Choice("multi_view", words, params)
    scale = given.get("scale", None if are_many or columns_are_alike(X) else "soft")
    params |= {
        "metric": "cosine" if are_many else "euclidean",
        "scale": scale,
        "weights": OF_UNITS if scale else "fuzzy",
    }
    kept = {**params, **given}
    by = "direction" if kept["metric"] == "cosine" else "distance"
    units = f"in units of their spread (scale={kept['scale']!r})" if kept["scale"] else "as they are"
    return Choice("nearest_neighbors", f"nearest neighbours by {by}, columns {units}{end}", params)


def are_documents(X: Features) -> bool:
    """Return whether samples look like documents: nonnegative numbers, nearly all of them zero."""
    return bool(X.min() >= 0) and share_of_zeros(X) >= MOSTLY_ZEROS
