"""The interface of the methods."""

from __future__ import annotations

from abc import ABC, abstractmethod

from symclust.selection._answer import Selection
from symclust.selection._study import Study


class Method(ABC):
    """Chooses the number of clusters; its parameters are stored by its ``__init__``."""

    @abstractmethod
    def choose(self, study: Study) -> Selection:
        """Return the answer."""
