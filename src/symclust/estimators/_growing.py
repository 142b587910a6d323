"""When a tree that grows is ended early."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symclust.exceptions import InterruptedWarning, NotConvergedWarning, warn
from symclust.hierarchy import Tree
from symclust.solvers import Control, Progress
from symclust.validation import is_true


class Growing:
    """The time limit and the callback of a tree; its clock starts when it is made.

    The first split is made even if the time is up. The callback gets a `Progress` after each split; if it
    returns True, the growth ends.
    """

    def __init__(
        self, time_limit: float | None, callback: Callable[[Progress], object] | None = None
    ) -> None:
        self._control = Control(time_limit=time_limit, callback=callback)
        self._n_splits = 0
        self.reason, self.is_stopped = "", False

    def after(self, n_splits: int, objective: float) -> bool:
        """Call the callback after a split; return whether the growth ends here."""
        self._n_splits, callback = n_splits, self._control.callback
        progress = Progress(0, n_splits, self._control.seconds(), objective, np.nan)
        if callback is not None and is_true(callback(progress)):
            self.reason, self.is_stopped = "stopped by the callback", True
        return self.is_stopped or self.is_over()

    def is_over(self) -> bool:
        """Whether the time is up, and there is a split."""
        if self._n_splits and self._control.is_over():
            self.reason = self.reason or f"stopped at time_limit={self._control.time_limit:g} s,"
            return True
        return False

    def why(self, tree: Tree, wanted: float) -> str:
        """Why the growth was ended early, by Ctrl-C or as above; nothing if it was not."""
        leaves = f"{tree.n_splits + 1} {'leaves' if tree.n_splits else 'leaf'}"
        if tree.interrupted:
            limit = "" if wanted == np.inf else f" of {wanted}"
            return f"interrupted at {leaves}{limit}; the tree so far is kept"
        return f"{self.reason} at {leaves}" if self.reason else ""

    def warn(self, name: str, tree: Tree, reason: str) -> None:
        """Warn, in the name of an estimator, of an end that nobody asked for."""
        if tree.interrupted:
            warn(f"{name} was {reason}.", InterruptedWarning)
        elif not self.is_stopped:
            warn(f"{name} {reason}.", NotConvergedWarning)
