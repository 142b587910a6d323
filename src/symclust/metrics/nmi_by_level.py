"""Agreement of a clustering with every level of a hierarchy of classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score

from symclust.exceptions import InputError
from symclust.validation import is_missing

__all__ = ["nmi_by_level"]


def nmi_by_level(paths: Any, labels: ArrayLike) -> np.ndarray:
    """Normalised mutual information at each level of a tree of classes (Kuang 2014, (8) and 5.6.3).

    Parameters
    ----------
    paths : sequence of paths, or array or DataFrame of shape (n_samples, n_levels)
        The classes of each sample from the top of the tree down, such as ``("rec", "sport", "hockey")``.
        Paths may differ in length, or end in None or NaN: a sample whose path has ended stays, at the deeper
        levels, in its last class, as a leaf of the tree would.
    labels : array-like of shape (n_samples,)
        The cluster of each sample. Outliers with the label -1 are one more cluster, as in the thesis.

    Returns
    -------
    ndarray of shape (n_levels,)
        scikit-learn's ``normalized_mutual_info_score`` at each level, the top first; n_levels is the length
        of the longest path. Classes are told apart by their whole path: ``("rec", "misc")`` and
        ``("talk", "misc")`` are two.

    Examples
    --------
    >>> from symclust.metrics import nmi_by_level
    >>> paths = [("rec", "hockey"), ("rec", "autos"), ("sci",), ("sci",)]
    >>> nmi_by_level(paths, [0, 0, 1, 1]).round(3).tolist()
    [1.0, 0.8]
    """
    labels = np.asarray(labels)
    rows = np.asarray(paths, dtype=object) if hasattr(paths, "columns") else paths
    read = [_path(path, number) for number, path in enumerate(rows)]
    if not read or labels.shape != (len(read),):
        raise InputError(
            f"There are {len(read)} paths, and labels have shape {labels.shape}: give both for each sample."
        )
    levels = range(1, max(map(len, read)) + 1)
    return np.array([normalized_mutual_info_score(_numbered(read, level), labels) for level in levels])


def _path(path: Any, number: int) -> tuple[Hashable, ...]:
    if isinstance(path, str) or not isinstance(path, Sequence | np.ndarray):
        raise InputError(
            f"The path of sample {number}, {path!r}, must be a sequence of classes from the top down, "
            "for example ('rec', 'sport', 'hockey'); for one level give ('rec',)."
        )
    classes = list(path)
    while classes and is_missing(classes[-1]):
        classes.pop()
    if not classes or any(map(is_missing, classes)):
        raise InputError(f"The path of sample {number}, {path!r}, needs a class at the top and has no gaps.")
    return tuple(classes)


def _numbered(paths: list[tuple[Hashable, ...]], level: int) -> list[int]:
    numbers: dict[tuple[Hashable, ...], int] = {}
    return [numbers.setdefault(path[:level], len(numbers)) for path in paths]
