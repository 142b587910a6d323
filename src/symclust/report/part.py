"""A part of a page: a model, and what is known about its samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from numpy.typing import ArrayLike

__all__ = ["Part"]


@dataclass(frozen=True, eq=False)
class Part:
    """A model with its own title and options, for a page about several.

    Parameters
    ----------
    model : fitted estimator, answer of `symclust.topics` or `symclust.subtypes`, segmentation, or Selection
        What the part is about.
    title, summary : str
        Its heading, and a sentence below it; by default the name of the model.
    labels_true, images, names, feature_names, cluster_names, numbers, n_members
        As in `write_report`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from symclust import NMF, SymNMF
    >>> from symclust.report import Part, write_report
    >>> X = np.kron(np.eye(2), np.ones((5, 3))) + 0.01
    >>> parts = [Part(model(2, random_state=0).fit(X), title=model.__name__) for model in (NMF, SymNMF)]
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(Path(folder) / "two.html", parts).read_text(encoding="utf-8")
    >>> 'href="#part-2"' in page
    True
    """

    model: Any
    _: KW_ONLY
    title: str = ""
    summary: str = ""
    labels_true: ArrayLike | None = None
    images: ArrayLike | None = None
    names: Sequence[object] | None = None
    feature_names: Sequence[object] | None = None
    cluster_names: Sequence[object] | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)
    n_members: int = 14
