"""The estimators that commands offer, by name."""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal

import typer

from symclust.exceptions import OptionError

AUTO = "auto"


MethodName = Literal[
    "sym-nmf",
    "off-diagonal",
    "tree",
    "left-stochastic",
    "spectral",
    "kernel-k-means",
    "nmf",
    "spherical-k-means",
]


GraphMethodName = Literal["sym-nmf", "off-diagonal", "tree", "left-stochastic", "spectral"]


CLASSES = {
    "sym-nmf": "SymNMF",
    "off-diagonal": "OffDiagonalSymNMF",
    "tree": "HierarchicalSymNMF",
    "left-stochastic": "LeftStochastic",
    "spectral": "SpectralNJW",
    "kernel-k-means": "KernelKMeans",
    "nmf": "NMF",
    "spherical-k-means": "SphericalKMeans",
}


def make_model(method: str, n_clusters: int | str, seed: int, **options: Any) -> Any:
    """An estimator; options that are None were not given, others must be its parameters."""
    from symclust import estimators

    kinds = {name: getattr(estimators, one) for name, one in CLASSES.items()}
    kind = kinds[method]
    known = signature(kind).parameters
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in known:
            having = [other for other, one in kinds.items() if name in signature(one).parameters]
            raise OptionError(
                f"--{name.replace('_', '-')} is no option of --method {method}; it is for "
                f"{', '.join(having)}."
            )
    chance = {"random_state": seed} if "random_state" in known else {}
    return kind(n_clusters, **chance, **given)


def number_of(value: str) -> int | str:
    """A number of clusters, or "auto"."""
    if value.strip().lower() == AUTO:
        return AUTO
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(f"{value!r} is neither a number of at least 1 nor auto.")
    return number
