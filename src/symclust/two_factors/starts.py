"""Where two factors start."""

from __future__ import annotations

import numpy as np

from symclust import registry
from symclust._threads import single_threaded_blas
from symclust.two_factors.objective import Array, TwoFactors

__all__ = ["make_starts"]


def make_starts(
    objective: TwoFactors,
    init: str | tuple[Array, Array],
    n_columns: int,
    n_init: int,
    rng: np.random.RandomState,
) -> list[Array]:
    """Return the starting points H = [W; C].

    They depend on the data and the random numbers, never on the solver, so that solvers can be compared.
    Samples and features without an entry start at zero, where they end: a solver that only approaches it
    would leave traces.

    Parameters
    ----------
    objective : TwoFactors
        What will be minimised.
    init : str or pair of arrays
        A name of `symclust.initialization`, or W and C themselves.
    n_columns : int
        k, without columns that the objective adds.
    n_init : int
        How many.
    rng : RandomState
        Where random numbers come from.
    """
    dtype = objective.operator.dtype
    with single_threaded_blas():
        if not isinstance(init, str):
            return [objective.start(np.concatenate(init).astype(dtype))]
        initialize = registry.resolve("initialization", init)
        empty = objective.operator.degrees() == 0
        initial = objective.initial()
        points = [initialize(initial, n_columns, rng) for _ in range(n_init)]
        for H in points:
            H[empty] = 0
        return [objective.start(H) for H in points]
