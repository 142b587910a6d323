"""A fitted model as one HTML file that opens anywhere, offline."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score

from symclust.exceptions import InputError, MissingExtraError
from symclust.metrics import clustering_accuracy
from symclust.report._clusters import as_pixels, cluster_rows
from symclust.report._pictures import history_picture, similarity_picture

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    model: Any,
    *,
    title: str = "Clusters",
    summary: str = "",
    labels_true: ArrayLike | None = None,
    images: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    numbers: Mapping[str, str] | None = None,
    n_members: int = 14,
) -> Path:
    """Write a self-contained HTML page about a fitted model.

    The page shows the headline numbers, the similarity matrix ordered by cluster, sizes and typical members
    of the clusters (those with the largest membership), how the run converged, and the parameters. Styles and
    pictures are inside the file; it fetches nothing.

    Parameters
    ----------
    path : path-like
        The file to write; missing folders are made.
    model : fitted estimator
        Anything with the fitted attributes of :class:`symclust.SymNMF`.
    title, summary : str
        Heading and a sentence below it.
    labels_true : array-like of shape (n_samples,), optional
        Known classes: adds accuracy, normalised mutual information, and the class each cluster mostly holds.
    images : array-like of shape (n_samples, height, width), optional
        A small grey image of each sample, larger values brighter, to show the typical members.
    names : sequence of length n_samples, optional
        Names of samples, to list the typical members; by default those of the nodes of a graph.
    numbers : mapping of str to str, optional
        More headline numbers: what is measured, and its value as it shall be printed.
    n_members : int
        Typical members shown of each cluster.

    Returns
    -------
    Path
        Where the page is.
    """
    n = len(model.labels_)
    names = getattr(model, "node_names_", None) if names is None else names
    y = None if labels_true is None else np.asarray(labels_true)
    for what, given in (("labels_true", y), ("names", names)):
        if given is not None and len(given) != n:
            raise InputError(f"{what} has {len(given)} entries; the model was fitted to {n} samples.")
    pixels = None if images is None else as_pixels(images, n)
    page = _render(
        title=title,
        summary=summary,
        numbers={**_headline(model, y), **(numbers or {})},
        similarity=similarity_picture(model),
        clusters=cluster_rows(model, n_members, y, pixels, names),
        history=history_picture(model),
        stop_reason=model.stop_reason_,
        estimator=type(model).__name__,
        parameters=model.get_params(deep=False),
        versions=_versions(),
    )
    return _write(Path(path), page)


def _write(path: Path, page: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
        reason = f"{path.parent} is not a folder" if in_the_way else error.strerror
        raise InputError(f"The page cannot be written to {path}: {reason}. Choose another path.") from error
    return path


def _headline(model: Any, y: np.ndarray | None) -> dict[str, str]:
    labels = model.labels_
    known = {}
    if y is not None:
        known = {
            "accuracy": f"{clustering_accuracy(y, labels):.3f}",
            "NMI": f"{normalized_mutual_info_score(y, labels):.3f}",
        }
    return known | {
        "samples": f"{len(labels):,}",
        "clusters": f"{model.membership_.shape[1]}",
        "iterations": f"{model.n_iter_}",
        "relative error": f"{model.relative_error_:.3f}",
    }


def _versions() -> dict[str, str]:
    packages = ("symclust", "numpy", "scipy", "scikit-learn")
    return {"Python": platform.python_version()} | {name: version(name) for name in packages}


def _render(**content: Any) -> str:
    try:
        from jinja2 import Environment, PackageLoader
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            'Reports need jinja2, which is not installed: pip install "symclust[cli]"'
        ) from error
    environment = Environment(
        loader=PackageLoader("symclust.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html").render(**content)
