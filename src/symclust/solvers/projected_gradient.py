"""Projected gradient descent."""

from __future__ import annotations

from collections.abc import Generator
from typing import ClassVar

from symclust._types import Array
from symclust.exceptions import OptionError
from symclust.solvers._base import Problem, State, Steps
from symclust.solvers._gradient_steps import accelerated_step, adaptive_step
from symclust.solvers._projected_search import REDUCTION, ProjectedSearch, relative_length

__all__ = ["ProjectedGradient"]

STEP_RULES = {"accelerated": accelerated_step, "adaptive": adaptive_step}


class ProjectedGradient(ProjectedSearch):
    """H ← P(H − t∇f(H)), for every constraint.

    Parameters
    ----------
    step_rule : {"search", "adaptive", "accelerated"}, default="search"
        How t is found. "search" is symnmf Algorithm 1 with S = I: the longest of a sequence of steps that
        lowers f enough. It starts from the last accepted step enlarged once, not from 1: with S = I the good
        step depends on the scale of A, and every trial costs a product. "adaptive" is constrained
        Algorithm 2, t = 1/(2L) with L from power iterations. "accelerated" adds momentum to it.
    """

    constraint_needs: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, step_rule: str = "search") -> None:
        if step_rule != "search" and step_rule not in STEP_RULES:
            known = ", ".join(map(repr, ["search", *STEP_RULES]))
            raise OptionError(f"step_rule={step_rule!r} is not known. Choose one of {known}.")
        self.step_rule = step_rule

    def step(self, problem: Problem, state: State) -> Steps:
        """Take one step of the chosen length."""
        if self.step_rule == "search":
            return super().step(problem, state)
        return STEP_RULES[self.step_rule](problem, state)

    def direction(
        self, problem: Problem, state: State, gradient: Array, held: Array, G: Array
    ) -> Generator[Array, Array, Array]:
        """Return the gradient."""
        yield from ()
        return gradient

    def first_step(self, state: State, direction: Array) -> float:
        """Return the last step, enlarged once."""
        if "size" in state.memory:
            return float(state.memory["size"]) / REDUCTION
        return relative_length(state.H, direction)
