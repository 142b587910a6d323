"""Options, numbers and callbacks."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from symclust.exceptions import OptionError


def check_known(parameter: str, value: Any, known: tuple[str, ...], or_else: str = "") -> None:
    """Refuse a value that is not one of the `known` names."""
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise OptionError(f"{parameter}={value!r} is not known. Choose one of {listed}{or_else}.")


def check_n_clusters(n_clusters: Any, n_samples: int | None = None) -> int:
    """The number of clusters as an int from 1 to the number of samples, if that is known."""
    if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
        raise OptionError(
            f"n_clusters={n_clusters!r} must be a whole number from 1 to the number of samples, or for an "
            "estimator 'auto'."
        )
    k = int(n_clusters)
    if k < 1:
        raise OptionError(f"n_clusters={k} is not possible: give a whole number from 1 on.")
    if n_samples is not None and k > n_samples:
        raise OptionError(
            f"n_clusters={k} is not possible with n_samples={n_samples}: give a number from 1 to {n_samples}."
        )
    return k


def check_number(
    name: str,
    value: Any,
    *,
    least: float,
    most: float = np.inf,
    whole: bool = False,
    exclusive: bool = False,
) -> None:
    """Refuse a parameter that is not a (whole) number of at least (or above) `least` and at most `most`."""
    kind = Integral if whole else Real
    if isinstance(value, kind) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number) and (number > least if exclusive else number >= least) and number <= most:
            return
    words = f"{'a whole number' if whole else 'a number'} {'above' if exclusive else 'of at least'} {least:g}"
    words += f" and at most {most:g}" if np.isfinite(most) else ""
    raise OptionError(f"{name}={value!r} must be {words}.")


def check_callback(callback: Any, of: str = "one argument") -> None:
    """Refuse a callback that cannot be called; `of` names its arguments in the message."""
    if callback is not None and not callable(callback):
        raise OptionError(f"callback={callback!r} must be a function of {of}, or None.")


def is_true(answer: Any) -> bool:
    """Whether a callback answered True, Python's or that of a comparison in NumPy.

    Other answers mean nothing: a function that happens to return something must not stop a run.
    """
    return isinstance(answer, bool | np.bool_) and bool(answer)


def is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, NaN, or pandas.NA, which need not be installed."""
    return (
        value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    )
