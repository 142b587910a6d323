"""How: one step on a state; the loop, the clock and the starts are shared.

====================  =======================================================================================
`row_descent`         Gauss-Seidel over rows, each coordinate of a row minimised exactly; the default
`coordinate`          the same coordinates column by column (cyclic coordinate descent)
`anls`                two coupled factors, each an exact nonnegative least squares problem (Algorithm 2)
`hals`                the same coupling with one sweep over the columns instead of the exact solution
`newton`              projected search scaled by the diagonal blocks of the Hessian (Algorithm 1)
`newton_by_columns`   the same without (13): the blocks are renewed in each iteration
`newton_delayed`      projected search scaled by the whole reduced Hessian, with (13)
`projected_newton`    the same, renewed in each iteration
`projected_gradient`  steps along the gradient, projected onto any constraint
`barzilai_borwein`    the same with lengths that fit the last step; f may rise for a while
`columnwise`          two coupled factors, a column at a time; for free and nonnegative factors
`procrustes`          leading eigenvectors turned into the set, on any constraint
`multiplicative`      multiplicative updates: simple, slow, monotone
====================  =======================================================================================
"""

from symclust.solvers._base import Problem, ProductSolver, Solver, State, side_by_side, solvers_for
from symclust.solvers._choice import (
    check_solver,
    choose_solver,
    make_solver,
    orthant_solver,
    rows_pay,
    sweeps_pay,
)
from symclust.solvers._loop import HISTORY, Control, Progress, Result, run
from symclust.solvers._rows import RowSolver
from symclust.solvers.multiplicative import StochasticMultiplicative
from symclust.solvers.row_descent import RowDescent, sweep_rows

__all__ = [
    "Control",
    "Problem",
    "ProductSolver",
    "Result",
    "Solver",
    "State",
    "run",
    "solvers_for",
]
