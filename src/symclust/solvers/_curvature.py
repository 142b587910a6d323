"""How sharply the objective bends: the Lipschitz constant of its gradient, from products alone."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from symclust import _kernels
from symclust._types import Array
from symclust.solvers._base import State

FIRST_ITERATIONS = 10  # products with a single vector, before the first step
REFRESH = 4  # products from one power iteration to the next
SEED = 0  # of the vector that power iterations begin with


def start_estimate(state: State) -> Generator[Array, Array, None]:
    """Begin power iterations on HHᵀ − M with a vector of its own for each start."""
    n = state.H.shape[0]
    vector = np.random.default_rng(SEED).standard_normal(n)
    state.memory["vector"] = (vector / np.linalg.norm(vector)).astype(state.H.dtype)
    for _ in range(FIRST_ITERATIONS):
        product = yield state.memory["vector"][:, None]
        update_estimate(state, state.H, product[:, 0])


def update_estimate(state: State, H: Array, product: Array) -> None:
    """Take one power iteration at H, given the product of M with the vector.

    ‖Sv‖ with ‖v‖ = 1 never exceeds σ_max(S) and tends to it: an estimate from below, for which the test of
    descent that every step has to pass is the safeguard.
    """
    vector = state.memory["vector"]
    image = H @ (H.T @ vector) - product
    size = _kernels.norm(image)
    state.memory["sigma"] = size
    if size > 0:
        state.memory["vector"] = image / H.dtype.type(size)


def lipschitz(state: State, G: Array) -> float:
    """Return L = 4 σ_max(HHᵀ − M) + 8 σ_max(HᵀH), constrained Proposition 1; never zero."""
    L = 4 * state.memory["sigma"] + 8 * float(np.linalg.norm(G, 2))
    return L or 1.0


def multiply_and_estimate(state: State, H: Array) -> Generator[Array, Array, Array]:
    """Return M @ H; every few times the vector of the power iterations rides along, and M is read for both.

    σ_max changes slowly, and a column more costs copies of the others.
    """
    age = state.memory["age"] = state.memory.get("age", 0) + 1
    if age % REFRESH:
        return (yield H)
    product = yield np.concatenate([H, state.memory["vector"][:, None]], axis=1)
    update_estimate(state, H, product[:, -1])
    return np.ascontiguousarray(product[:, :-1])
