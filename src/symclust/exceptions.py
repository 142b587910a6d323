"""Everything symclust raises or warns of on purpose.

::

    Exception
    └── SymclustError
        ├── InputError            (also a ValueError)   the data cannot be used as given
        ├── InputTypeError        (also a TypeError)    the data is of a kind we cannot read
        ├── OptionError           (also a ValueError)   an option has no such value
        ├── CombinationError      (also a ValueError)   two choices do not go together
        ├── LeftOutError          (also an AttributeError) a loaded model lacks its training data
        ├── MissingExtraError     (also an ImportError) an optional library is not installed
        └── WorkerError           (also a RuntimeError) the workers of a cluster give no answer
    Warning
    ├── sklearn ConvergenceWarning
    │   └── NotConvergedWarning                         the solver stopped before it was done
    │       └── InterruptedWarning                      because of Ctrl-C: what was found so far is kept
    └── UserWarning
        └── DegenerateWarning                           the clusters found differ from those requested
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "CombinationError",
    "DegenerateWarning",
    "InputError",
    "InputTypeError",
    "InterruptedWarning",
    "LeftOutError",
    "MissingExtraError",
    "NotConvergedWarning",
    "OptionError",
    "SymclustError",
    "WorkerError",
]

if TYPE_CHECKING:
    from symclust._convergence import InterruptedWarning, NotConvergedWarning


class SymclustError(Exception):
    """Base of all errors raised by symclust."""


class InputError(SymclustError, ValueError):
    """The data has the right kind but values or a shape that cannot be used."""


class InputTypeError(SymclustError, TypeError):
    """The data is of a kind that cannot be read as a matrix, a graph or an operator."""


class OptionError(SymclustError, ValueError):
    """A parameter has a value outside what it may be; the message lists the known ones."""


class CombinationError(SymclustError, ValueError):
    """Two valid choices do not work together, for example a dense method and a sparse matrix."""


class LeftOutError(SymclustError, AttributeError):
    """The attribute or method needs training data, which were left out when the model was saved."""


class MissingExtraError(SymclustError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class WorkerError(SymclustError, RuntimeError):
    """The workers of a cluster are lost, or give no answer in time."""


class DegenerateWarning(UserWarning):
    """Fewer clusters than requested, one with nearly all samples, or samples that belong to none."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the name of the line that called symclust, however deep inside it the reason was found."""
    frame, level, inside = sys._getframe(1), 2, _own_folders()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _own_folders() -> tuple[str, ...]:
    """Folders of symclust and of scikit-learn, which comes between in pipelines and searches."""
    modules = (sys.modules[name] for name in ("symclust", "sklearn") if name in sys.modules)
    return tuple(os.path.join(os.path.dirname(str(module.__file__)), "") for module in modules)


def __getattr__(name: str) -> Any:
    # Those two are scikit-learn's warnings as well, and importing scikit-learn takes more than a second.
    if name in ("InterruptedWarning", "NotConvergedWarning"):
        return getattr(import_module("symclust._convergence"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
