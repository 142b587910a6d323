"""What a solver may ask of a constraint."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

Array = np.ndarray


class Constraint(ABC):
    """A set that H is kept in."""

    @abstractmethod
    def project(self, H: Array) -> Array:
        """Return the nearest point of the set."""

    @abstractmethod
    def projected_gradient(self, H: Array, gradient: Array) -> Array:
        """Return the part of the gradient that the constraint does not hold; zero at stationary points."""

    @abstractmethod
    def violation(self, H: Array) -> float:
        """Return the largest amount by which H leaves the set, 0.0 inside."""
