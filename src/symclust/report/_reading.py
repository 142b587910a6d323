"""An overview of a clustering, whatever holds it: an estimator, topics, subtypes or segments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from symclust._threads import cached_property
from symclust._types import Array
from symclust.describe import Description, describe_clusters
from symclust.estimators import Fitted, by_shares
from symclust.exceptions import InputError, InputTypeError, LeftOutError, SymclustError
from symclust.plotting import NOWHERE, cluster_colours, read_segmentation, segment_means
from symclust.report._belonging import Belonging

MOST_SCORES = 50_000_000  # entries of samples × clusters that are worth computing for a page


@dataclass(frozen=True)
class Nouns:
    """Nouns for samples and clusters."""

    sample: str = "sample"
    cluster: str = "cluster"

    def samples(self, count: int) -> str:
        """A number of samples in words: "1 sample", "1,797 samples"."""
        return f"{count:,} {self.sample}{'s' * (count != 1)}"


@dataclass(frozen=True, eq=False)
class Overview:
    """A clustering as the page sees it."""

    source: Any  # the model that was given
    nouns: Nouns
    labels: Array  # the cluster of each sample, −1 for none
    n_clusters: int
    membership: Any = None  # degrees, if they say more than the labels
    similarity: Any = None  # array or operator; of a network the weights of its links
    names: list[Any] | None = None  # of the samples
    classes: Array | None = None  # that are known
    description: Description = field(default_factory=lambda: Description([], ""))
    cluster_names: list[str] | None = None  # given by the user
    nodes: list[Any] = field(default_factory=list)  # of a tree, from the root down and from left to right
    estimators: list[Any] = field(default_factory=list)  # whose parameters say how it was made
    colours: list[str] | None = None  # of segments of an image

    @property
    def n_samples(self) -> int:
        """Number of samples, those in no cluster too."""
        return len(self.labels)

    @cached_property
    def sizes(self) -> Array:
        """Number of samples of each cluster, also of empty ones."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters)

    @cached_property
    def belonging(self) -> Belonging | None:
        """How firmly samples stand in their clusters; None if the model does not say."""
        if self.n_clusters < 2:
            return None
        source = self.source
        is_calibrated = isinstance(source, Fitted) and sparse.issparse(vars(source).get("affinity_matrix_"))
        if is_calibrated:
            standing = source._standing()
        elif self.membership is not None:
            standing = by_shares(self.membership, self.labels)
        else:
            standing = None
        return None if standing is None else Belonging(standing, is_calibrated)

    @property
    def selection(self) -> Any:
        """How the number of clusters was chosen, or None."""
        return getattr(self.source, "selection_", None)

    @property
    def is_network(self) -> bool:
        """Whether the samples are the nodes of a network."""
        return self.nouns.sample == "node"

    def colour_of(self, cluster: int) -> str:
        """The colour of a cluster, grey for none."""
        if cluster < 0:
            return NOWHERE
        return cluster_colours(cluster + 1)[cluster] if self.colours is None else self.colours[cluster]

    def name_of(self, sample: int) -> str:
        """The name of a sample, or its number."""
        return str(sample if self.names is None else self.names[sample])

    def name_of_cluster(self, cluster: int) -> str:
        """The name that the user has given to a cluster, or its number."""
        return str(cluster) if self.cluster_names is None else self.cluster_names[cluster]

    def label_of(self, cluster: int) -> str:
        """The name of a cluster, with its number if it was not given by the user."""
        if self.cluster_names is not None or not self.description[cluster].name:
            return self.name_of_cluster(cluster)
        return f"{cluster} {self.description[cluster].name}"


# Of any object ----------------------------------------------------------------------------------------------


def read_clustering(
    model: Any,
    *,
    names: Sequence[object] | None = None,
    labels_true: Any = None,
    feature_names: Sequence[object] | None = None,
    cluster_names: Sequence[object] | None = None,
) -> Overview:
    """An overview of a clustering; the options are those of `write_report`."""
    labels = _labels(model)
    n = len(labels)
    nodes = _tree_nodes(model)
    membership = _memberships(model, n)
    n_clusters = _count(model, labels, membership)
    given = getattr(model, "node_names_", None) if names is None else names
    classes = _listed("labels_true", labels_true, n)
    if cluster_names is not None and len(cluster_names) != n_clusters:
        raise InputError(f"cluster_names has length {len(cluster_names)}; there are {n_clusters} clusters.")
    return Overview(
        source=model,
        nouns=_nouns(model),
        labels=labels,
        n_clusters=n_clusters,
        membership=membership,
        similarity=_similarity(model),
        names=_listed("names", given, n),
        classes=None if classes is None else _comparable(classes),
        description=_described(model, labels, n_clusters, given, feature_names),
        cluster_names=None if cluster_names is None else [str(name) for name in cluster_names],
        nodes=nodes,
        estimators=_estimators(model),
        colours=_segment_colours(model, n_clusters) if is_segmentation(model) else None,
    )


def _labels(model: Any) -> Array:
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
    labels = model.labels if is_segmentation(model) else getattr(model, "labels_", None)
    if labels is None:
        raise InputTypeError(
            f"A report is about a fitted clustering with labels_, which {type(model).__name__} does not "
            "have. Call write_report(path, model)."
        )
    return np.asarray(labels).ravel()


def _count(model: Any, labels: Array, membership: Any) -> int:
    """The number of clusters, with those that hold no sample."""
    if membership is not None:
        return int(membership.shape[1])
    return max(int(labels.max(initial=-1)) + 1, int(getattr(model, "n_clusters_", 0)))


def _nouns(model: Any) -> Nouns:
    return Nouns("pixel", "segment") if is_segmentation(model) else Nouns(*getattr(model, "_nouns", ()))


def is_segmentation(model: Any) -> bool:
    """Whether an object is an image with a label for each pixel."""
    return hasattr(model, "image") and np.ndim(getattr(model, "labels", 0)) == 2


def _segment_colours(model: Any, n_clusters: int) -> list[str]:
    """The mean colour of each segment."""
    pixels, segments = read_segmentation(model)
    means = np.rint(255 * segment_means(pixels, segments)).astype(int).reshape(-1, 3)
    names, first = np.unique(segments, return_index=True)
    colours = ["#808080"] * n_clusters
    for name, place in zip(names.tolist(), first.tolist(), strict=True):
        if name >= 0:
            colours[name] = "#{:02x}{:02x}{:02x}".format(*means[place])
    return colours


def _listed(what: str, given: Any, n: int, fitted_to: str = "samples") -> list[Any] | None:
    """Names or classes as a list, which a pandas Series with an index of its own is not."""
    if given is not None and len(given) != n:
        raise InputError(f"{what} has length {len(given)}; the model was fitted to {n} {fitted_to}.")
    return None if given is None else list(given)


def _comparable(classes: list[Any]) -> Array:
    """Classes that can be sorted; those of several kinds, or missing ones, by what they look like."""
    array = np.asarray(classes)
    return array if array.dtype.kind != "O" else np.array([str(name) for name in classes])


def _estimators(model: Any) -> list[Any]:
    """Everything with parameters that had a part in it."""
    fitted = getattr(model, "_fitted", None)
    inner = [
        getattr(model, "model", None),
        *(getattr(fitted, name, None) for name in ("vectorizer", "weights", "model")),
    ]
    return [
        thing for thing in (model, *inner) if hasattr(thing, "get_params") and not isinstance(thing, type)
    ]


def _similarity(model: Any) -> Any:
    network = getattr(model, "network_", None)
    if network is None and _nouns(model).sample != "node":
        return getattr(model, "affinity_matrix_", None)
    if network is None:
        return None  # of models of earlier versions, which hold walks on the network and not its links
    loops = sparse.diags_array(network.diagonal(), format="csr")
    links = sparse.csr_array(network - loops)  # between different nodes
    links.eliminate_zeros()
    return links


def _described(model: Any, labels: Array, n_clusters: int, names: Any, feature_names: Any) -> Description:
    """The clusters in words; without any if the model was saved without its data."""
    options = {"labels": labels, "n_clusters": n_clusters, "names": names, "feature_names": feature_names}
    try:
        return describe_clusters(model, **options)
    except LeftOutError:
        return describe_clusters(model, **options, is_brief=True)


# Degrees of membership --------------------------------------------------------------------------------------


def _memberships(model: Any, n_samples: int) -> Any:
    """Degrees of membership, or None if a model has only ones and zeros, or none for its labels."""
    if getattr(model, "centers_", None) is not None:
        return None  # labels come from k-means on the factor: column c is not cluster c
    is_tree = hasattr(model, "tree_") or hasattr(model, "topics")
    if is_tree:
        return _of_leaves(model, n_samples)
    H = getattr(model, "membership_", None)
    if H is None:
        return None
    H = H if sparse.issparse(H) else np.asarray(H)
    values = H.data if sparse.issparse(H) else H
    return H if np.any((values != 0) & (values != 1)) else None


def _of_leaves(model: Any, n_samples: int) -> Any:
    """The weight of each leaf of a tree of topics in each document; None for other trees."""
    n_leaves = sum(node.is_leaf for node in _tree_nodes(model))
    is_graph = getattr(model, "affinity_matrix_", None) is not None
    if is_graph or n_leaves < 2 or not hasattr(model, "flatten") or n_samples * n_leaves > MOST_SCORES:
        return None
    try:
        return np.asarray(model.flatten().membership_)
    except (SymclustError, AttributeError):  # a model that was loaded without its data
        return None


# Trees and terms --------------------------------------------------------------------------------------------


def _tree_nodes(model: Any) -> list[Any]:
    """The nodes of a model's tree from the root down and from left to right; none without splits."""
    tree = getattr(model, "tree_", None)
    nodes = getattr(model, "topics", []) if tree is None else list(tree.walk())
    return list(nodes) if len(nodes) > 1 else []


def members_of(node: Any) -> Array:
    """The samples of a node of a tree of clusters or topics."""
    return np.asarray(node.documents if hasattr(node, "documents") else node.members)


def node_terms(node: Any, count: int, feature_names: Sequence[object] | None) -> list[str]:
    """The terms of a node: of a topic its own, else the features of largest weight, if named."""
    if hasattr(node, "terms"):
        return [str(term) for term, _ in node.terms[:count]]
    if feature_names is None or "terms" not in node.data:
        return []
    return [str(feature_names[j]) for j in node.data["terms"][:count]]
