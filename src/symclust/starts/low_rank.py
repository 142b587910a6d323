"""The solution for an approximation of A of low rank."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from symclust.objectives import HasRebuild
from symclust.operators import low_rank
from symclust.solvers import RowDescent
from symclust.starts._base import Init, Setting, Start
from symclust.starts._clusters import OVERSIZE
from symclust.starts._solve import run_from
from symclust.starts.merge import Merge

__all__ = ["LowRank"]


class LowRank(Init):
    """The problem is solved on an approximation of A first, whose products cost next to nothing.

    The rank leaves room for the 2k clusters of "merge". Stationarity is measured against a random start's
    gradient there: it is hardly another with A, which would have to be read for it.
    """

    needs: ClassVar[tuple[type, ...]] = (HasRebuild,)
    any_set: ClassVar[bool] = False

    def find(self, setting: Setting) -> list[Start]:
        """The solutions; by rows, or on a device or with workers by the solver of the problem."""
        operator = setting.problem.operator
        L = low_rank(operator, min(OVERSIZE * setting.n_columns, operator.n), random_state=setting.rng)
        problem = replace(setting.problem, operator=L, objective=setting.problem.objective.rebuild(L))
        solver = setting.solver if L.on_device or L.is_remote else RowDescent()
        quiet = replace(setting.control, callback=None)
        other = replace(setting, problem=problem, solver=solver, control=quiet)
        points = Merge().find(other)
        results = run_from(other, points, self.least_iterations)
        return [
            Start(result.H, result.reference, point.merge_path, result.interrupted)
            for result, point in zip(results, points, strict=True)
        ]
