"""Checks that applications share."""

from __future__ import annotations

from typing import Any

from symclust.exceptions import OptionError


def check_model_params(kind: Any, params: Any, number: str) -> None:
    """Refuse what is no dict of parameters of an estimator; its number of clusters is given elsewhere."""
    known = sorted(set(kind().get_params()) - {"n_clusters"})
    if not isinstance(params, dict | None) or not set(params or {}) <= set(known):
        raise OptionError(
            f"model_params={params!r} must be a dict of parameters of {kind.__name__}: {', '.join(known)}. "
            f"{number}"
        )
