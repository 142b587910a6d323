"""From the words of the user to a solver and its starts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from symclust import registry
from symclust.exceptions import CombinationError, InputError, OptionError, warn
from symclust.objectives import Objective
from symclust.solvers import Solver, Starts, choose_solver

COUPLED = ("anls", "columnwise", "hals")
COUPLINGS = ("auto", "increasing")
FIXED_STARTS = ("greedy", "nndsvd", "nndsvda", "spectral", "zero")  # the same whatever the random state


def check_solver(solver: Any, coupling: Any) -> None:
    """Refuse a solver that does not exist, and a coupling that is not possible or that it does not have."""
    check_known("solver", solver, ("auto", *registry.options("solvers")))
    if not _is_coupling(coupling):
        raise OptionError(
            f"coupling={coupling!r} is not possible: give 'auto', 'increasing' or a positive number."
        )
    if solver not in COUPLED and coupling != "auto":
        raise CombinationError(
            f"coupling={coupling!r} has no meaning for solver={solver!r}: only "
            f"{', '.join(map(repr, COUPLED))} have two factors to couple."
        )


def _is_coupling(value: Any) -> bool:
    if isinstance(value, str):
        return value in COUPLINGS
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


def make_solver(solver: str, objective: Objective, coupling: Any = "auto") -> Solver:
    """Return the solver of that name, or the one that suits the objective and its operator."""
    name = choose_solver(objective) if solver == "auto" else solver
    cls = registry.resolve("solvers", name)
    return cls(coupling) if solver in COUPLED else cls()


def check_known(parameter: str, value: Any, known: tuple[str, ...], or_else: str = "") -> None:
    """Refuse a value that is not one of the `known` names."""
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise OptionError(f"{parameter}={value!r} is not known. Choose one of {listed}{or_else}.")


def check_init(init: Any) -> None:
    """Refuse the name of an `init` that does not exist."""
    if isinstance(init, str) or init is None:
        check_known("init", init, ("merge", *registry.options("initialization")), ", or give an array")


def make_starts(
    init: Any, n_init: int, random_state: Any, shape: tuple[int, int], nonnegative: bool = True
) -> Starts:
    """Return how to begin; `shape` is that of H, `nonnegative` whether an array must be."""
    if not isinstance(init, str):
        init = _check_array(init, shape, nonnegative)
    if n_init > 1 and (not isinstance(init, str) or init in FIXED_STARTS):
        warn(f"This init is always the same: one start is run instead of n_init={n_init}.", RuntimeWarning)
        n_init = 1
    return Starts(init, shape[1], n_init, check_random_state(random_state))


def _check_array(init: Any, shape: tuple[int, int], nonnegative: bool) -> np.ndarray:
    init = np.asarray(init)
    if init.shape != shape or init.dtype.kind not in "fiu":
        raise InputError(
            f"init must be a name or an array of numbers of shape (n_samples, n_clusters) = {shape}; "
            f"got shape {init.shape} and dtype {init.dtype}."
        )
    if not np.isfinite(init).all() or (nonnegative and init.min() < 0):
        raise InputError(f"init must hold finite numbers{' that are not negative' if nonnegative else ''}.")
    if not init.any():
        raise InputError(
            "init is zero everywhere, where the gradient is zero too and no descent begins. Give a name, "
            "such as 'random', or an array with other numbers."
        )
    return init
