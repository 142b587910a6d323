"""Fitted models as one HTML file that opens anywhere, offline."""

from __future__ import annotations

import platform
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from symclust._files import replacing
from symclust._optional import need
from symclust._text import showable
from symclust._types import Fitted
from symclust.exceptions import CombinationError, InputError
from symclust.report._content import content_of
from symclust.report.part import Part

__all__ = ["write_report"]


def write_report(
    path: str | PathLike[str],
    model: Fitted,
    *,
    title: str = "Clusters",
    summary: str = "",
    labels_true: ArrayLike | None = None,
    images: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    feature_names: Sequence[object] | None = None,
    cluster_names: Sequence[object] | None = None,
    numbers: Mapping[str, str] | None = None,
    n_members: int = 14,
) -> Path:
    r"""Write a self-contained HTML page about a fitted model, or about several.

    The page begins with what was found, in words: how many clusters, how sharp they are, which run into each
    other, and what is doubtful. Below it shows what the model has: sizes, typical and doubtful members of the
    clusters, the similarity matrix ordered by cluster with zoom, a map of the graph, the tree to unfold and
    search, marker genes, segments of an image, the choice of the number of clusters; at the end, how it was
    made. Styles, pictures and the script are inside the file; it fetches nothing, and its own security policy
    keeps it from doing so. Names may be anything: what cannot be shown is written as an escape such as
    ``\x00``. A page that is there already is replaced when the new one is complete, and stays as it is if
    anything goes wrong.

    Parameters
    ----------
    path : path-like
        The file to write; missing folders are created.
    model : fitted estimator, or what `symclust.topics` or `symclust.subtypes` returns; or a list of parts
        Anything with ``labels_``; an object with ``image`` and ``labels``; a `Selection`. All else is shown
        where it is there. A list of these, or of `Part` with their own options, makes one page with a table
        of contents.
    title, summary : str
        The heading, and a sentence below it.
    labels_true : array-like of shape (n_samples,), optional
        Known classes: adds how well the clusters match them, the class each cluster mostly holds, and points
        at clusters that mix classes.
    images : array-like of shape (n_samples, height, width), optional
        A small grey image of each sample, larger values brighter, to show typical and doubtful members.
    names : sequence of length n_samples, optional
        Names of samples; by default those of the nodes of a graph or of the rows of a table.
    feature_names : sequence of length n_features, optional
        Names of features, to list those of largest weight in clusters that have ``components_`` or a tree of
        terms; by default those of a DataFrame that was fitted.
    cluster_names : sequence of length n_clusters, optional
        What to call the clusters; by default their numbers.
    numbers : mapping of str to str, optional
        More headline numbers: what is measured, and its value as it should be printed.
    n_members : int
        How many typical members of each cluster to show, and half as many doubtful ones.

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
    >>> "Four clusters in 34 nodes." in page
    True
    """
    need("jinja2", "cli", "A report")  # before minutes of drawing
    own = {
        "labels_true": labels_true,
        "images": images,
        "names": names,
        "feature_names": feature_names,
        "cluster_names": cluster_names,
    }
    parts = _parts(model, {**own, "numbers": numbers or {}, "n_members": n_members})
    page = _render(
        title=title,
        summary=summary,
        parts=[content_of(part, f"part-{number}") for number, part in enumerate(parts, start=1)],
        versions=_versions(),
    )
    return _write(Path(path), page)


def _parts(model: Any, options: dict[str, Any]) -> list[Part]:
    """The parts of a page; options are those of a single model."""
    if not isinstance(model, list | tuple):
        return [model if isinstance(model, Part) else Part(model, **options)]
    wrong = [
        name
        for name in ("labels_true", "images", "names", "feature_names", "cluster_names")
        if options[name] is not None
    ]
    if wrong:
        raise CombinationError(
            f"{wrong[0]} belongs to one model, and there is a list of {len(model)}: give it with its model, "
            f"as Part(model, {wrong[0]}=...)."
        )
    if not model:
        raise InputError("There is nothing to report on: the list of models is empty.")
    rest = {"n_members": options["n_members"]}
    return [thing if isinstance(thing, Part) else Part(thing, **rest) for thing in model]


def _render(**content: Any) -> str:
    """The page."""
    jinja2 = need("jinja2", "cli", "A report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("symclust.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    script = environment.loader.get_source(environment, "page.js")[0]
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    return environment.get_template("page.html").render(script=script, script_hash=digest, **content)


def _shown(value: Any) -> Any:
    """Write what cannot be shown as an escape, before HTML or JSON has its own way with it."""
    return showable(value) if type(value) is str else value


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


def _versions() -> dict[str, str]:
    packages = ("symclust", "numpy", "scipy", "scikit-learn")
    return {"Python": platform.python_version()} | {name: version(name) for name in packages}
