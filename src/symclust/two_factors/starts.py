"""Starting points of two factors."""

from __future__ import annotations

import numpy as np

from symclust import _kernels, registry
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.two_factors.objective import TwoFactors


def starting_points(
    objective: TwoFactors,
    init: str | tuple[Array, Array],
    n_columns: int,
    n_init: int,
    rng: np.random.RandomState,
) -> list[Array]:
    """The starting points H = [W; C].

    Given factors keep their directions: columns are brought to equal lengths and scaled until their product
    fits X best, so that their sizes do not decide what counts as stationary. The others depend on the data
    and the random numbers, never on the solver. Samples and features without an entry start at zero, their
    end too: a solver that only approaches it would leave traces.
    """
    with single_threaded_blas():
        initial = objective.initial()
        if not isinstance(init, str):
            return [objective.start(_balanced(initial, np.concatenate(init).astype(initial.operator.dtype)))]
        formula = registry.resolve("starts", init)()
        empty = objective.operator.degrees() == 0
        points = [formula.factor(initial, n_columns, rng) for _ in range(n_init)]
        for H in points:
            H[empty] = 0
        return [objective.start(H) for H in points]


def _balanced(objective: TwoFactors, H: Array) -> Array:
    """Columns of W and C of equal length, with the product tWCᵀ that is nearest to X."""
    W, C = objective.operator.sides(H)
    fit = _kernels.inner(W.reshape(-1), objective.operator.times(C).reshape(-1))
    G = objective.gram(H)
    squares = float(np.prod(G, axis=0).sum())  # ‖WCᵀ‖²
    if fit <= 0 or squares <= 0:
        return H
    lengths = np.sqrt(np.diagonal(G, axis1=1, axis2=2))  # of the columns of W and of C
    ratio = np.where(lengths.all(axis=0), lengths[1] / np.maximum(lengths[0], np.finfo(float).tiny), 1)
    scale = fit / squares
    return np.concatenate([W * np.sqrt(scale * ratio), C * np.sqrt(scale / ratio)]).astype(H.dtype)
