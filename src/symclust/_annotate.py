"""The clusters of a model, written into the data that it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from symclust._types import Array, Data, Fitted
from symclust.exceptions import InputError, InputTypeError, LeftOutError
from symclust.validation import kind_of, sample_names

__all__ = ["annotate"]

MOST_COLUMNS = 100  # memberships that get a column, or an attribute, for each cluster


def annotate(data: Data, model: Fitted, *, key: str = "cluster", memberships: bool = True) -> Data:
    """Write the clusters of a model into the data that it was fitted to, and return these.

    Samples are matched by their names if the model has some, and by their order otherwise. Those that the
    model was not fitted to get no cluster.

    Parameters
    ----------
    data : DataFrame, AnnData, networkx or igraph graph, or Dask DataFrame
        An AnnData and a graph are changed in place, as is the habit of their libraries. A DataFrame and a
        Dask DataFrame are not: a new one is returned, of Dask a lazy one.
    model : fitted estimator or answer
        Anything of symclust that has `labels_`.
    key : str
        The name of the labels; other names begin with it.
    memberships : bool
        Whether to write memberships, too, if the model gives degrees; of more than 100 clusters only into an
        AnnData.

    Returns
    -------
    DataFrame, AnnData, graph or Dask DataFrame
        A DataFrame and the nodes of a graph have `cluster` (−1 for none), `cluster_name`,
        `cluster_confidence`, and memberships as `cluster_0`, `cluster_1`, ... In an AnnData the first three
        are columns of `obs`, the labels as categories; memberships are in `obsm` as `cluster_membership`, and
        names and parameters in `uns` as `cluster`.

    Examples
    --------
    >>> import networkx as nx
    >>> import symclust
    >>> graph = nx.karate_club_graph()
    >>> model = symclust.SymNMF(2, random_state=0).fit(graph)
    >>> graph = symclust.annotate(graph, model)
    >>> graph.nodes[0]["cluster"] == model.labels_[0], graph.nodes[0]["cluster_name"]
    (np.True_, 'nodes 0, 1, 2')
    """
    if not hasattr(model, "_nouns") or not hasattr(model, "labels_"):
        raise InputTypeError(f"model is a {type(model).__name__}; expected a fitted model of symclust.")
    kind = kind_of(data)
    if kind not in WRITERS:
        raise InputTypeError(
            f"data is a {type(data).__name__}, which has no place for labels. Give a DataFrame, an AnnData, "
            "a graph or a Dask DataFrame; model.to_dataframe() makes a table."
        )
    return WRITERS[kind](data, model, key, memberships)


def _columns(model: Any, key: str, memberships: bool, data: Any = None) -> Any:
    """Table of the model with the names of the columns that are written; its index has the samples."""
    frame = model.to_dataframe().rename_axis(None)
    label, names = frame["label"].to_numpy(), _names(model, data)
    found = frame[["label"]].rename(columns={"label": key})
    if any(names):
        found[f"{key}_name"] = [names[c] if c >= 0 else "" for c in label.tolist()]
    found[f"{key}_confidence"] = frame["confidence"]
    if memberships and model._gives_degrees and model.n_clusters_ <= MOST_COLUMNS:
        for c in range(model.n_clusters_):
            found[f"{key}_{c}"] = frame[f"cluster_{c}"]
    return found


def _names(model: Any, data: Any = None) -> list[str]:
    """The names of the clusters, by what the model has kept or by other data of the same samples."""
    try:
        return [one.name for one in model.describe(data)]
    except LeftOutError:  # saved without its data
        return []


def _matched(names: Sequence[Any] | None, count: int, model: Any) -> Array:
    """For each sample of the data its number in the model, −1 for one that is not in it."""
    own = model.node_names_
    if names is not None and own is not None and list(names) != list(own):
        place = {name: i for i, name in enumerate(own)}
        found = np.array([place.get(name, -1) for name in names], dtype=np.intp)
        if len(place) == len(own) and (found >= 0).any():
            return found
        raise InputError(
            f"The names of the samples are not those of the model: {list(names)[:3]!r:.80} in the data, "
            f"{list(own)[:3]!r:.80} in the model. Give the data of the fit."
        )
    if count != len(model.labels_):
        raise InputError(
            f"The data have {count:,} samples; the model was fitted to {len(model.labels_):,}. Give the data "
            "of the fit."
        )
    return np.arange(count)


def _taken(columns: Any, numbers: Array, index: Any) -> Any:
    """Rows of a table by their numbers, gaps for −1, under another index."""
    rows = columns.reset_index(drop=True).reindex(np.where(numbers >= 0, numbers, -1)).set_axis(index, axis=0)
    label = rows.columns[0]
    rows[label] = rows[label].astype("Int64" if (numbers < 0).any() else columns[label].dtype)
    return rows


def _into_table(frame: Any, model: Any, key: str, memberships: bool) -> Any:
    numbers = _matched(sample_names(frame), len(frame), model)
    return frame.assign(**_taken(_columns(model, key, memberships), numbers, frame.index))


def _into_dask(frame: Any, model: Any, key: str, memberships: bool) -> Any:
    columns = _columns(model, key, memberships)
    meta = frame._meta.assign(**columns.iloc[:0].reset_index(drop=True)).astype({key: "Int64"})
    if model.node_names_ is not None:
        return frame.map_partitions(partial(_by_name, columns=columns), meta=meta)
    sizes = frame.map_partitions(len).compute()
    if sum(sizes) != len(columns):
        _matched(None, int(sum(sizes)), model)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return frame.map_partitions(partial(_by_place, columns=columns, starts=starts), meta=meta)


def _by_name(part: Any, columns: Any) -> Any:
    numbers = columns.index.get_indexer(part.index)
    return _in_partition(part, columns, numbers)


def _by_place(part: Any, columns: Any, starts: Array, partition_info: Any = None) -> Any:
    first = starts[partition_info["number"]] if partition_info else 0
    return _in_partition(part, columns, np.arange(first, first + len(part)))


def _in_partition(part: Any, columns: Any, numbers: Array) -> Any:
    found = part.assign(**_taken(columns, numbers, part.index))
    return found.astype({columns.columns[0]: "Int64"})  # the same in partitions with gaps and without


def _into_annotated(adata: Any, model: Any, key: str, memberships: bool) -> Any:
    numbers = _matched(sample_names(adata), adata.n_obs, model)
    # The model may have been fitted to coordinates of genes, or to neighbours.
    columns = _columns(
        model, key, False, adata if np.array_equal(numbers, np.arange(len(model.labels_))) else None
    )
    rows = _taken(columns, numbers, adata.obs_names)
    labels = rows.pop(key)
    adata.obs[key] = labels.map(str).where(labels >= 0).astype("category")
    for column in rows:
        adata.obs[column] = rows[column]
    if memberships and model._gives_degrees:
        H = model.membership_
        adata.obsm[f"{key}_membership"] = sparse.diags_array((numbers >= 0).astype(H.dtype)) @ H[numbers]
    names = dict(zip(columns[key], columns.get(f"{key}_name", ()), strict=False))
    given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    adata.uns[key] = {
        "method": type(model).__name__,
        "params": {name: str(value) for name, value in given.items()},
        "names": {str(c): name for c, name in sorted(names.items()) if c >= 0},
    }
    return adata


def _into_networkx(graph: Any, model: Any, key: str, memberships: bool) -> Any:
    nodes = list(graph)
    for node, values in zip(nodes, _attributes(nodes, model, key, memberships), strict=True):
        graph.nodes[node].update(values)
    return graph


def _into_igraph(graph: Any, model: Any, key: str, memberships: bool) -> Any:
    nodes = graph.vs["name"] if "name" in graph.vs.attributes() else list(range(graph.vcount()))
    found = _attributes(nodes, model, key, memberships)
    for name in dict.fromkeys(name for values in found for name in values):
        graph.vs[name] = [values.get(name) for values in found]
    return graph


def _attributes(nodes: Sequence[Any], model: Any, key: str, memberships: bool) -> list[dict[str, Any]]:
    """The values of each node; those that are missing, and memberships of zero, are left out."""
    columns = _columns(model, key, memberships)
    numbers = _matched(nodes, len(nodes), model)
    rows = columns.to_dict("records")
    always = (key, f"{key}_name")
    return [
        {name: value for name, value in rows[i].items() if name in always or abs(value) > 0}  # not for NaN
        if i >= 0
        else {}
        for i in numbers.tolist()
    ]


WRITERS = {
    "table": _into_table,
    "edge table": _into_table,
    "similarity table": _into_table,
    "Dask table": _into_dask,
    "AnnData": _into_annotated,
    "networkx graph": _into_networkx,
    "igraph graph": _into_igraph,
}
