"""From a fitted object to the description of its clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symclust._types import Array, Data, Fitted, Names
from symclust.describe._members import central, closeness
from symclust.describe.columns import Columns, Weights
from symclust.describe.description import ClusterDescription, Description, Trait, names_for
from symclust.describe.evidence import Evidence
from symclust.describe.links import Links
from symclust.describe.pixels import Pixels
from symclust.exceptions import InputError, LeftOutError

TYPICAL = 4  # samples of a cluster, if they have names


def describe_clusters(
    model: Fitted,
    data: Data = None,
    *,
    names: Names = None,
    feature_names: Names = None,
    labels: Array | None = None,
    n_clusters: int | None = None,
    is_brief: bool = False,
) -> Description:
    """The clusters of a model described, as by ``model.describe()``, or of anything with ``labels_``.

    `labels` replace ``model.labels_``, `n_clusters` counts empty clusters too, and with `is_brief` only
    typical samples are named. The other parameters are those of `symclust.SymNMF.describe`.
    """
    labels = np.asarray(model.labels_ if labels is None else labels)
    if n_clusters is None:
        n_clusters = max(int(labels.max(initial=-1)) + 1, int(getattr(model, "n_clusters_", 0)))
    names = getattr(model, "node_names_", None) if names is None else list(names)
    if names is not None and len(names) != len(labels):
        raise InputError(f"names has length {len(names)}; the model was fitted to {len(labels)} samples.")
    if data is not None:
        columns = _of_data(data, feature_names, labels)
        found: Evidence = Pixels.within(columns) or columns
    else:
        found = Members(model, names) if is_brief else evidence_of(model, names, feature_names, n_clusters)
    traits, typical = found.traits(labels, n_clusters), found.typical(labels, n_clusters)
    if typical is None:
        typical = _nearest(model, names, labels, n_clusters)
    pictures = found.pictures(labels, n_clusters)
    return _assembled(model, labels, traits, typical, pictures, found.key)


def are_words(names: Sequence[Any] | None) -> bool:
    """Whether samples have names that say more than where they stand in the data."""
    return names is not None and not all(str(name).isdigit() for name in names)


def _nearest(
    model: Any, names: Sequence[Any] | None, labels: Array, n_clusters: int
) -> Sequence[Sequence[str]]:
    """The names of the samples that are closest to their clusters; none if names are numbers."""
    if names is None or not are_words(names):
        return [()] * n_clusters
    nearest = central(closeness(model, labels, n_clusters), labels, n_clusters, TYPICAL)
    return [[str(names[i]) for i in own] for own in nearest]


def _of_data(data: Any, feature_names: Sequence[object] | None, labels: Array) -> Columns:
    found = Columns.of(data, feature_names)
    if found.X.shape[0] != len(labels):
        raise InputError(
            f"data has {found.X.shape[0]} rows; the model was fitted to {len(labels)} samples. Give the same "
            "samples in the same order."
        )
    return found


def evidence_of(
    model: Any, names: Sequence[Any] | None, feature_names: Sequence[object] | None, n_clusters: int
) -> Evidence:
    """The best that is known of the samples: what an answer brings, links, columns, weights, or members."""
    if hasattr(model, "_evidence"):
        return model._evidence()
    try:
        if hasattr(model, "affinity_"):
            found = Links.find(model) or Columns.find(model, feature_names)
            if found is not None:
                return Pixels.within(found) or found
    except LeftOutError as error:
        raise LeftOutError(
            f"This {type(model).__name__} was saved without its training data, which say what its clusters "
            "are. Save it with data=True, or give them again: model.describe(data)."
        ) from error
    weights = Weights.find(model, feature_names, n_clusters)
    return Pixels.within(weights) or weights or Members(model, names)


@dataclass(frozen=True, eq=False)
class Members(Evidence):
    """The names of samples, if nothing else is known of them."""

    model: Any
    names: Sequence[Any] | None

    def traits(self, labels: Array, n_clusters: int) -> Sequence[Sequence[Trait]]:
        """The most typical samples, for the names of clusters."""
        nearest = _nearest(self.model, self.names, labels, n_clusters)
        return [[Trait("", name, name) for name in own] for own in nearest]


def _assembled(
    model: Any,
    labels: Array,
    traits: Sequence[Sequence[Trait]],
    typical: Sequence[Sequence[str]],
    pictures: Array | None,
    key: str,
) -> Description:
    sample, cluster = getattr(model, "_nouns", ("sample", "cluster"))
    sizes = np.bincount(labels[labels >= 0], minlength=len(traits))
    clusters = [
        ClusterDescription(
            c,
            name,
            int(sizes[c]),
            sizes[c] / max(len(labels), 1),
            tuple(own),
            tuple(members),
            None if pictures is None else pictures[c],
        )
        for c, (name, own, members) in enumerate(zip(names_for(traits), traits, typical, strict=True))
    ]
    k, n = len(clusters), len(labels)
    heading = f"{k:,} {cluster}{'s' * (k != 1)} of {n:,} {sample}{'s' * (n != 1)}."
    if outside := int(np.count_nonzero(labels < 0)):
        heading += f" In none: {outside:,}."
    return Description(clusters, heading, key if any(one.traits for one in clusters) else "")
