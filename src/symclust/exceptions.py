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
        └── DegenerateWarning                           the clusters found are hardly what was asked for
"""

from __future__ import annotations

import os
import sys
import warnings

import sklearn
from sklearn.exceptions import ConvergenceWarning

# scikit-learn stands between a user's call and ours in fit_transform, pipelines and searches.
_INSIDE = tuple(os.path.join(os.path.dirname(path), "") for path in (__file__, sklearn.__file__))


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
    """What is asked for needs training data, which were left out when the model was saved."""


class MissingExtraError(SymclustError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class WorkerError(SymclustError, RuntimeError):
    """The workers of a cluster are lost, or give no answer in time."""


class NotConvergedWarning(ConvergenceWarning):
    """The solver stopped at its iteration or time limit before reaching `tol`."""


class InterruptedWarning(NotConvergedWarning):
    """The run was ended by Ctrl-C; the model holds the best point found until then."""


class DegenerateWarning(UserWarning):
    """Fewer clusters than asked for, one with nearly all samples, or samples that belong to none."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn in the name of the line that called symclust, however deep inside it the reason was found."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
