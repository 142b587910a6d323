"""Over-cluster, merge, descend."""

from __future__ import annotations

from symclust._threads import single_threaded_blas
from symclust.starts._base import Init, Setting, Start
from symclust.starts._clusters import OVERSIZE, merged_start
from symclust.starts.random import Random
from symclust.starts.tree import next_leaves

__all__ = ["Merge"]


class Merge(Init):
    """A short descent with 2k columns from random starts, whose clusters are merged greedily to k.

    A random start often ends with two clusters in one column and a third split over two. Of 2k columns
    hardly any holds two clusters; those that share one are merged, by the gain in explained energy. If H is
    held sparse, the 2k clusters are the leaves of a tree: a random start would be a dense array.
    """

    def find(self, setting: Setting) -> list[Start]:
        """The points; Ctrl-C in the first descent leads to points too."""
        operator, k = setting.problem.operator, setting.n_columns
        columns = min(OVERSIZE * k, operator.n)
        if setting.holds_sparse:
            return [self._from_leaves(setting, columns) for _ in range(setting.n_init)]
        with single_threaded_blas():
            objective = setting.problem.objective
            factors = [Random().factor(objective, columns, setting.rng) for _ in range(setting.n_init)]
        over = setting.descend_briefly(factors)
        del factors
        points = []
        while over:
            result = over.pop(0)
            labels = result.H.argmax(axis=1)
            reference, interrupted = result.reference, result.interrupted
            del result  # n × 2k numbers that nothing needs any more
            H, path = merged_start(operator, labels, columns, k)
            # Another objective has another scale.
            points.append(Start(H, None if setting.has_surrogate else reference, path, interrupted))
        return points

    @staticmethod
    def _from_leaves(setting: Setting, columns: int) -> Start:
        labels, interrupted = next_leaves(setting, columns)
        H, path = merged_start(setting.problem.operator, labels, columns, setting.n_columns, as_sparse=True)
        return Start(H, None, path, interrupted)
