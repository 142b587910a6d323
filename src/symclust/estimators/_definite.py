"""Similarities made positive semidefinite, for methods that need inner products."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from symclust._threads import single_threaded_blas
from symclust.estimators._input import Similarity
from symclust.exceptions import CombinationError, warn
from symclust.left_stochastic import negative_part
from symclust.operators import Dense, Operator

CLIPPED = 2000  # rows up to which "auto" affords all eigenvectors
MARGIN = 1.05  # on a lowest eigenvalue that is known roughly

WAYS = ("auto", "clip", "shift", "ignore")


def make_definite(operator: Operator, way: str, name: str, quiet: bool) -> tuple[Operator, float]:
    """Return a similarity and what to add to its diagonal, so that together they are positive semidefinite.

    Parameters
    ----------
    operator : Operator
        K.
    way : {"auto", "clip", "shift", "ignore"}
        "clip" cuts the negative eigenvalues, for dense K; "shift" adds the lowest to the diagonal.
    name : str
        Of the method, for the warning.
    quiet : bool
        Whether nothing is said about it.
    """
    if way == "clip" and not isinstance(operator, Dense):
        raise CombinationError(
            f"indefinite='clip' needs all eigenvectors, n × n numbers, and {operator!r} is not held as such. "
            "Use 'shift', or pass a dense matrix."
        )
    lowest, share = (0.0, 0.0) if way == "ignore" else negative_part(operator)
    if share == 0:
        return operator, 0.0
    if way == "auto":
        way = "clip" if isinstance(operator, Dense) and operator.n <= CLIPPED else "shift"
    if way == "clip":
        _warn(quiet, f"{name} cuts them: {100 * share:.2g} % of its squared norm", lowest)
        return _clip(operator), 0.0
    shift = -MARGIN * float(operator.eigsh(1, "SA", tol=1e-2)[0][0])
    added = (
        f"{name} adds {shift:.3g} to its diagonal, since {100 * share:.2g} % of its squared norm is negative"
    )
    _warn(quiet, added, lowest)
    return operator, max(shift, 0.0)


def _clip(operator: Operator) -> Dense:
    with single_threaded_blas():
        values, vectors = scipy.linalg.eigh(operator.toarray())
        vectors *= np.sqrt(np.maximum(values, 0))
        return Dense(vectors @ vectors.T)


def _warn(quiet: bool, what: str, lowest: float) -> None:
    if not quiet:
        warn(f"The similarity has negative eigenvalues (down to {lowest:.3g}); {what}.")


def warn_of_negative_part(similarity: Similarity, name: str) -> None:
    """Say how much of a given similarity lies in negative eigenvalues, which a method cuts."""
    if similarity.samples is not None or similarity.names is not None:
        return  # our own graph, with zeros on the diagonal on purpose
    lowest, share = negative_part(similarity.operator)
    if share > 0:
        warn(
            f"The similarity has negative eigenvalues (down to {lowest:.3g}), which {name} cuts: about "
            f"{100 * share:.2g} % of its squared norm."
        )
