"""Warnings that are scikit-learn's as well; `symclust.exceptions` imports this file when one is used."""

from sklearn.exceptions import ConvergenceWarning


class NotConvergedWarning(ConvergenceWarning):
    """The solver stopped at its iteration or time limit before reaching `tol`."""


class InterruptedWarning(NotConvergedWarning):
    """The run was ended by Ctrl-C; the model holds the best point found until then."""


# Their public place, which messages and pickles name.
NotConvergedWarning.__module__ = InterruptedWarning.__module__ = "symclust.exceptions"
