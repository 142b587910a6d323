"""Similarities made positive semidefinite, for methods that need inner products."""

from __future__ import annotations

import numpy as np

from symclust._threads import interruptibly, single_threaded_blas
from symclust._types import Array
from symclust.exceptions import CombinationError, warn
from symclust.left_stochastic import negative_part
from symclust.operators import Dense, Operator

INDEFINITE = ("auto", "clip", "shift", "ignore")  # what can be done with negative eigenvalues

CLIPPED = 2000  # rows up to which "auto" affords all eigenvectors
MARGIN = 1.05  # on a lowest eigenvalue that is known roughly


def make_definite(
    operator: Operator, way: str, name: str, quiet: bool, weights: Array | None = None
) -> tuple[Operator, float]:
    """Return K and σ such that W^½ K W^½ + σI is positive semidefinite.

    Kernel k-means with weights w sees K through that matrix alone. Its lowest eigenvalue may be far below
    that of K: a shift by the latter would leave distances that are negative.

    The `way` "clip" cuts the negative eigenvalues of a dense K, "shift" returns σ > 0, "ignore" changes
    nothing; "auto" clips small dense matrices and shifts the others. `name` is that of the method, for a
    warning unless `quiet`. The `weights` w are positive, ones by default.
    """
    if way == "clip" and not isinstance(operator, Dense):
        raise CombinationError(
            f"indefinite='clip' needs all eigenvectors, n × n numbers, and {operator!r} is not held as such. "
            "Use 'shift', or pass a dense matrix."
        )
    if way == "ignore":
        return operator, 0.0
    roots = None if weights is None else np.sqrt(weights)
    M = operator if roots is None else operator.scaled(roots)
    lowest, share = negative_part(M)
    if share == 0:
        return operator, 0.0
    if way == "auto":
        way = "clip" if isinstance(operator, Dense) and operator.n <= CLIPPED else "shift"
    if way == "clip":
        _warn(quiet, f"{name} cuts them: {100 * share:.2g} % of its squared norm", lowest)
        clipped = _clip(M)
        return (clipped if roots is None else clipped.scaled(1 / roots)), 0.0
    shift = -MARGIN * float(M.eigsh(1, "SA", tol=1e-2)[0][0])
    added = (
        f"{name} adds {shift:.3g} to its diagonal, since {100 * share:.2g} % of its squared norm is negative"
    )
    _warn(quiet, added, lowest)
    return operator, max(shift, 0.0)


def _clip(operator: Operator) -> Dense:
    def clipped(K: Array) -> Array:
        values, vectors = np.linalg.eigh(K)
        vectors *= np.sqrt(np.maximum(values, 0))
        return vectors @ vectors.T

    with single_threaded_blas():
        return Dense(interruptibly(clipped, operator.toarray()))


def _warn(quiet: bool, what: str, lowest: float) -> None:
    if not quiet:
        warn(f"The similarity has negative eigenvalues (down to {lowest:.3g}); {what}.")
