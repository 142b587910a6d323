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
from sklearn.utils.validation import check_is_fitted

from symclust._files import replacing
from symclust._text import showable
from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError, MissingExtraError
from symclust.metrics import clustering_accuracy
from symclust.report._clusters import Strength, cluster_rows, cluster_terms, tree_nodes, tree_rows
from symclust.report._pictures import as_pixels, history_picture, similarity_picture
from symclust.validation import check_number

__all__ = ["write_report"]

N_TERMS = 8  # of a cluster


def write_report(
    path: str | PathLike[str],
    model: Any,
    *,
    title: str = "Clusters",
    summary: str = "",
    labels_true: ArrayLike | None = None,
    images: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    feature_names: Sequence[object] | None = None,
    numbers: Mapping[str, str] | None = None,
    n_members: int = 14,
) -> Path:
    r"""Write a self-contained HTML page about a fitted model.

    The page shows what the model has: the headline numbers, the similarity matrix ordered by cluster, the
    tree of clusters to unfold, sizes, terms and typical members of the clusters (those with the largest
    membership, or the best connected ones), how the run converged, and the parameters. Styles and pictures
    are inside the file; it fetches nothing. Names may be anything: what cannot be shown is written as an
    escape such as ``\x00``. A page that is there already is replaced when the new one is complete, and stays
    as it is if anything goes wrong.

    Parameters
    ----------
    path : path-like
        The file to write; missing folders are created.
    model : fitted estimator, or what `symclust.topics` returns
        Anything with ``labels_``; all else is shown where it is there.
    title, summary : str
        The heading, and a sentence below it.
    labels_true : array-like of shape (n_samples,), optional
        Known classes: adds accuracy, normalised mutual information, and the class each cluster mostly holds.
    images : array-like of shape (n_samples, height, width), optional
        A small grey image of each sample, larger values brighter, to show the typical members.
    names : sequence of length n_samples, optional
        Names of samples, to list the typical members; by default those of the nodes of a graph.
    feature_names : sequence of length n_features, optional
        Names of features, to list those of largest weight in clusters that have ``components_`` or a tree of
        terms; by default those of a DataFrame that was fitted.
    numbers : mapping of str to str, optional
        More headline numbers: what is measured, and its value as it should be printed.
    n_members : int
        How many typical members of each cluster to show.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import networkx as nx
    >>> from symclust import HierarchicalSymNMF
    >>> from symclust.report import write_report
    >>> model = HierarchicalSymNMF(4, random_state=0).fit(nx.karate_club_graph())
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(Path(folder) / "club.html", model).read_text(encoding="utf-8")
    >>> page.count("<details"), page.count("<picture>")
    (3, 2)
    """
    check_number("n_members", n_members, least=0, whole=True)
    labels = _labels(model)
    names = _listed("names", getattr(model, "node_names_", None) if names is None else names, len(labels))
    y = None if labels_true is None else np.asarray(_listed("labels_true", labels_true, len(labels)))
    features = _feature_names(model, feature_names)
    pixels = None if images is None else as_pixels(images, len(labels))
    nodes, strength = tree_nodes(model), Strength.of(model)
    terms = cluster_terms(model, nodes, N_TERMS, features)
    page = _render(
        title=title,
        summary=summary,
        numbers={**_headline(model, labels, strength.n_clusters, y), **(numbers or {})},
        similarity=similarity_picture(model, strength.n_clusters),
        tree=tree_rows(nodes, strength, N_TERMS, y, features, names),
        clusters=cluster_rows(labels, strength, n_members, y, terms, pixels, names),
        members=strength.name,
        history=history_picture(model),
        stop_reason=getattr(model, "stop_reason_", ""),
        estimator=type(model).__name__,
        parameters=model.get_params(deep=False) if hasattr(model, "get_params") else {},
        versions=_versions(),
    )
    return _write(Path(path), page)


def _labels(model: Any) -> Array:
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
    if not hasattr(model, "labels_"):
        raise InputTypeError(
            f"A report is about a fitted clustering with labels_, which {type(model).__name__} has not. "
            "Call write_report(path, model)."
        )
    return np.asarray(model.labels_)


def _listed(what: str, given: Any, n: int, fitted_to: str = "samples") -> list[Any] | None:
    """Return names or classes as a list, which a pandas Series with an index of its own is not."""
    if given is not None and len(given) != n:
        raise InputError(f"{what} has length {len(given)}; the model was fitted to {n} {fitted_to}.")
    return None if given is None else list(given)


def _feature_names(model: Any, given: Sequence[object] | None) -> list[Any] | None:
    given = getattr(model, "feature_names_in_", None) if given is None else given
    if given is None:
        return None
    return _listed("feature_names", given, getattr(model, "n_features_in_", len(given)), "features")


def _write(path: Path, page: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(showable(page).encode("utf-8"))
    except (OSError, ValueError) as error:  # ValueError: no path has a zero byte, or half a surrogate pair
        in_the_way = isinstance(error, FileExistsError | NotADirectoryError)
        reason = f"{path.parent} is not a folder" if in_the_way else getattr(error, "strerror", error)
        raise InputError(
            f"The page cannot be written to {showable(str(path))}: {reason}. Choose another path."
        ) from error
    return path


def _headline(model: Any, labels: Array, n_clusters: int, y: Any) -> dict[str, str]:
    numbers = {}
    if y is not None:
        numbers["accuracy"] = f"{clustering_accuracy(y, labels):.3f}"
        numbers["NMI"] = f"{normalized_mutual_info_score(y, labels):.3f}"
    numbers |= {"samples": f"{len(labels):,}", "clusters": f"{n_clusters:,}"}
    if (labels < 0).any():
        numbers["in no cluster"] = f"{np.count_nonzero(labels < 0):,}"
    if hasattr(model, "n_iter_"):
        numbers["iterations"] = f"{model.n_iter_:,}"
    if hasattr(model, "relative_error_"):
        numbers["relative error"] = f"{model.relative_error_:.3f}"
    elif hasattr(model, "objective_"):
        numbers["objective"] = f"{model.objective_:.4g}"
    return numbers


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
