"""Models on disk: NumPy arrays and JSON in one zip file, and no code."""

from symclust.storage._savable import Savable, load

__all__ = ["Savable", "load"]
