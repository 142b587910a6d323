"""The content of each part of a page, ready for the templates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import normalized_mutual_info_score

from symclust._types import Array
from symclust.metrics import clustering_accuracy
from symclust.report._belonging import LIKENESS
from symclust.report._clusters import MOST_CLUSTERS, cluster_rows, tree_rows
from symclust.report._findings import Findings, find, percent, purity
from symclust.report._map import map_of
from symclust.report._matrix import matrix_of
from symclust.report._pictures import (
    as_pixels,
    consensus_picture,
    history_picture,
    segment_pictures,
    selection_picture,
)
from symclust.report._reading import Overview, is_segmentation, read_clustering
from symclust.report.part import Part
from symclust.validation import check_number

MOST_FIRST = 12  # clusters that the page begins with
MOST_ROWS = 10  # of the table of scores


def content_of(part: Part, key: str) -> dict[str, Any]:
    """Everything the templates show of a part; `key` makes the addresses inside the page unique."""
    check_number("n_members", part.n_members, least=0, whole=True)
    content = _of_selection(part) if _is_selection(part.model) else _of_clustering(part)
    title = part.title or type(part.model).__name__
    return {"key": key, "title": title, "summary": part.summary, **content}


def _is_selection(model: Any) -> bool:
    return all(hasattr(model, name) for name in ("candidates", "curves", "sentence", "n_clusters"))


def _of_selection(part: Part) -> dict[str, Any]:
    """The part for a choice of the number of clusters alone."""
    chosen = int(part.model.n_clusters)
    headline = "No clusters stand out." if chosen == 1 else f"{chosen} clusters fit best."
    return {
        "findings": Findings(headline, [], []),
        "numbers": {
            "chosen": f"{chosen:,}",
            "tried": f"{len(part.model.candidates):,}",
            **(part.numbers or {}),
        },
        "choice": _choice(part.model),
        "made": {"lines": _lines_of_selection(part.model), "parameters": [], "notes": []},
    }


def _of_clustering(part: Part) -> dict[str, Any]:
    clustering = read_clustering(
        part.model,
        names=part.names,
        labels_true=part.labels_true,
        feature_names=part.feature_names,
        cluster_names=part.cluster_names,
    )
    pixels = None if part.images is None else as_pixels(part.images, clustering.n_samples)
    names = part.feature_names
    names = getattr(part.model, "feature_names_in_", None) if names is None else names
    selection = clustering.selection
    rows = cluster_rows(clustering, part.n_members, pixels)
    return {
        "findings": find(clustering),
        "listed": {row.number for row in rows},
        "numbers": {**_headline(clustering), **(part.numbers or {})},
        "nouns": clustering.nouns,
        "n_clusters": clustering.n_clusters,
        "n_left_out": max(0, clustering.n_clusters - MOST_CLUSTERS),
        "segments": segment_pictures(part.model) if is_segmentation(part.model) else None,
        "tree": tree_rows(clustering, names),
        "is_topics": clustering.nouns.cluster == "topic",
        "clusters": rows,
        "first": sorted(rows, key=lambda row: -row.size)[:MOST_FIRST],
        "key_to_words": "" if any(row.picture for row in rows) else clustering.description.key,
        "has_names": clustering.names is not None,
        "likeness": "" if clustering.belonging is None else LIKENESS,
        "map": map_of(clustering),
        "matrix": matrix_of(clustering),
        "choice": None if selection is None else _choice(selection, part.model),
        "made": _made(clustering),
    }


def _headline(clustering: Overview) -> dict[str, str]:
    nouns, labels = clustering.nouns, clustering.labels
    found = int(np.count_nonzero(clustering.sizes))
    numbers = {f"{nouns.sample}s": f"{len(labels):,}", f"{nouns.cluster}s": f"{found:,}"}
    if clustering.is_network and issparse(clustering.similarity):
        numbers["links"] = f"{clustering.similarity.nnz // 2:,}"
    if clustering.belonging is not None and (labels >= 0).any():
        clear = percent(float(clustering.belonging.is_clear[labels >= 0].mean()))
        numbers["belong clearly"] = clear.replace("more than ", ">").replace("less than ", "<")
    if (labels < 0).any():
        numbers[f"in no {nouns.cluster}"] = f"{np.count_nonzero(labels < 0):,}"
    if clustering.classes is not None:
        is_matching = len(np.unique(clustering.classes)) == found
        measure = clustering_accuracy if is_matching else purity
        numbers["accuracy" if is_matching else "purity"] = f"{measure(clustering.classes, labels):.3f}"
        numbers["NMI"] = f"{normalized_mutual_info_score(clustering.classes, labels):.3f}"
    return numbers


# Choice of the number ---------------------------------------------------------------------------------------


def _choice(selection: Any, model: Any = None) -> dict[str, Any]:
    k = int(selection.n_clusters)
    consensus = getattr(selection, "consensus", {}).get(k)
    draw = None
    if getattr(model, "consensus", None) is not None and hasattr(model, "plot_consensus"):
        consensus, draw = model.consensus, model.plot_consensus  # blocks have the numbers of the subtypes
    return {
        "sentence": str(selection),
        "picture": selection_picture(selection),
        "consensus": consensus_picture(consensus, k, draw) if consensus is not None and k > 1 else None,
        "columns": list(selection.curves),
        "rows": _score_rows(selection),
        "chosen": k,
        "n_tried": len(selection.candidates),
    }


def _score_rows(selection: Any) -> list[tuple[int, list[str]]]:
    curves = [np.asarray(curve.values, dtype=float) for curve in selection.curves.values()]
    best = selection.ranking[:MOST_ROWS]
    rows = [(int(k), [_number(curve[i]) for curve in curves]) for i, k in enumerate(selection.candidates)]
    return [row for row in rows if len(rows) <= MOST_ROWS or row[0] in best]


def _number(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "–"


# How it was made --------------------------------------------------------------------------------------------


def _made(clustering: Overview) -> dict[str, Any]:
    source = clustering.source
    run = source if hasattr(source, "n_iter_") or not hasattr(source, "model") else source.model
    lines = _lines_of_run(run)
    if clustering.nouns.cluster == "topic" and hasattr(source, "feature_names"):
        lines["Terms"] = f"{len(source.feature_names):,}"
    if clustering.selection is not None:
        lines |= _lines_of_selection(clustering.selection)
    return {
        "lines": lines,
        "history": history_picture(run),
        "parameters": [
            {"name": type(thing).__name__, "values": thing.get_params(deep=True)}
            for thing in clustering.estimators
        ],
        "notes": list(getattr(source, "notes", ())),
    }


def _lines_of_run(run: Any) -> dict[str, str]:
    """The course of a computation in words and numbers."""
    lines = {}
    if getattr(run, "affinity_", ""):
        lines["Similarities"] = str(run.affinity_)
    if hasattr(run, "n_iter_"):
        lines["Iterations"] = f"{run.n_iter_:,}"
    if hasattr(run, "relative_error_"):
        lines["Relative error"] = f"{run.relative_error_:.3f}"
    if hasattr(run, "objective_"):
        lines["Objective"] = f"{run.objective_:.4g}"
    reason = str(getattr(run, "stop_reason_", "")).rstrip(".")
    if reason:
        lines["Stopped"] = reason
    seconds = _seconds(getattr(run, "history_", None))
    return lines | ({"Time": f"{seconds:.2f} s"} if seconds > 0 else {})


def _seconds(history: Array | None) -> float:
    return float(history["seconds"][-1]) if history is not None and len(history) else 0.0


def _lines_of_selection(selection: Any) -> dict[str, str]:
    lines = {"Number chosen by": str(selection.method)}
    seconds = float(getattr(selection, "seconds", 0.0))
    return lines | ({"Time of the choice": f"{seconds:.1f} s"} if seconds > 0 else {})
