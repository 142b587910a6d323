"""Which solver `auto` takes."""

from __future__ import annotations

from symclust.operators import Operator


def choose_solver(operator: Operator) -> str:
    """Return `row_descent` wherever rows of A are at hand, otherwise `anls`.

    Row descent needs one pass over A an iteration and the fewest iterations; but from an operator that can
    only multiply, a block of rows costs as much as the whole product.
    """
    return "row_descent" if operator.rows_are_cheap else "anls"
