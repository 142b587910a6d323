"""Everything symclust raises or warns of on purpose.

::

    Exception
    └── SymclustError
        ├── InputError            (also a ValueError)   the data cannot be used as given
        ├── InputTypeError        (also a TypeError)    the data is of a kind we cannot read
        ├── OptionError           (also a ValueError)   an option has no such value
        ├── CombinationError      (also a ValueError)   two choices do not go together
        └── MissingExtraError     (also an ImportError) an optional library is not installed
    Warning
    └── sklearn ConvergenceWarning
        └── NotConvergedWarning                         the solver stopped before it was done
"""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


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


class MissingExtraError(SymclustError, ImportError):
    """An optional library is needed; the message names the extra that installs it."""


class NotConvergedWarning(ConvergenceWarning):
    """The solver stopped at its iteration or time limit before reaching `tol`."""
