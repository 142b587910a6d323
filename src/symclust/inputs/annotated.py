"""The part of an AnnData that is clustered: X, a layer, coordinates, or a graph of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import CombinationError, OptionError
from symclust.operators import Network
from symclust.validation import is_a, sample_names

PARTS = {"layer": "layers", "use_rep": "obsm", "obsp": "obsp"}


def part_of_annotated(X: Any, params: dict[str, Any] | None) -> tuple[Any, dict[str, Any] | None]:
    """Return what `affinity_params` takes of an AnnData, and the other parameters.

    A layer and ``use_rep``, which is an array of ``obsm`` such as ``"X_pca"``, stay an AnnData with the names
    of the samples; ``obsp``, such as ``"connectivities"``, is a network. Anything else is returned as it is.
    """
    named = {name: params[name] for name in PARTS if name in params} if isinstance(params, dict) else {}
    if not named or not is_a(X, "anndata", "AnnData"):
        return X, params
    if len(named) > 1:
        raise CombinationError(f"affinity_params={named!r}: one part of an AnnData is clustered. Give one.")
    ((kind, key),) = named.items()
    there = getattr(X, PARTS[kind])
    if key not in there:
        known = ", ".join(map(repr, there)) or "none"
        raise OptionError(f"{kind}={key!r} is not in adata.{PARTS[kind]}, which has {known}.")
    rest = {name: value for name, value in (params or {}).items() if name not in PARTS}
    if kind == "obsp":
        return Network(sparse.csr_array(there[key]), sample_names(X)), rest
    values = there[key] if sparse.issparse(there[key]) else np.asarray(there[key])
    columns = {"var": X.var[[]]} if kind == "layer" else {}
    return type(X)(values, obs=X.obs[[]], **columns), rest
