"""Work for other machines, through joblib: where one of its backends for them is active, and not otherwise.

``with joblib.parallel_config("dask"):`` hands out the work of that block to a cluster; backends of Ray and
Spark do the same. What many pieces of work have in common is sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import joblib
from joblib.parallel import get_active_backend

__all__ = ["Shared", "call", "map_machines", "on_other_machines"]

OWN = "joblib._parallel_backends"  # where joblib has its backends for one machine


class Shared:
    """Values that many pieces of work have in common.

    joblib sends an argument of more than a kilobyte to a cluster once, however many pieces have it, if it can
    tell its size: that of most objects it cannot.
    """

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __sizeof__(self) -> int:
        return 1 << 20


def on_other_machines() -> bool:
    """Whether joblib would hand work to other machines here; inside such work it would not.

    Examples
    --------
    >>> import joblib
    >>> from symclust._machines import on_other_machines
    >>> with joblib.parallel_config("loky", n_jobs=2):
    ...     on_other_machines()
    False
    """
    return not type(get_active_backend()[0]).__module__.startswith(OWN)


def map_machines(function: Callable[..., Any], shared: Sequence[Any], tasks: Iterable[Any]) -> list[Any]:
    """Return ``function(*shared, *task)`` for all tasks, from other machines."""
    common = Shared(*shared)
    return list(joblib.Parallel()(joblib.delayed(call)(common, function, *task) for task in tasks))


def call(shared: Shared, function: Callable[..., Any], *task: Any) -> Any:
    """Do a piece of work; it hands out none itself, so that no worker waits for another."""
    if not on_other_machines():
        return function(*shared.values, *task)
    with joblib.parallel_config("sequential"):
        return function(*shared.values, *task)
