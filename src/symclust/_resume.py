"""Going on with a fit that was killed."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from symclust._text import showable
from symclust._types import Data, Fitted
from symclust.estimators._base import Clusterer
from symclust.exceptions import InputError
from symclust.selection.select_n_clusters import select_n_clusters
from symclust.storage import Journal, read_journal, resuming


def resume(path: str | PathLike[str], X: Data, callback: Callable[..., object] | None = None) -> Fitted:
    """Go on with the fit that a `symclust.Checkpoint` has kept, and return what the fit would have returned.

    The answer has the same bits as that of an undisturbed run, except for the seconds in it. Work goes on
    from where the file was last written. The file is kept up to date meanwhile, so that this fit can be
    killed and resumed again. If the fit had ended, its answer is returned at once.

    Parameters
    ----------
    path : str or path-like
        The file. Like a model it holds numbers and text, and no code; parameters are in it, data are not.
    X : array-like, sparse, graph, AttributedGraph or Operator
        The data that the fit was given.
    callback : callable, default=None
        A callback of your own: as code it is not in the file.

    Returns
    -------
    estimator or Selection
        A fitted model, or the answer of `select_n_clusters`.

    Raises
    ------
    InputError
        If the file does not exist, is damaged or no checkpoint, was written by another version of symclust,
        or belongs to other data.

    Notes
    -----
    A `time_limit` counts the seconds before and after, and not those between.

    Examples
    --------
    A fit that fails after three iterations, and goes on:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> import symclust
    >>> X = np.random.RandomState(0).uniform(size=(60, 9))
    >>> def fail(progress):
    ...     if progress.iteration == 3:
    ...         raise RuntimeError("a power cut")
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "parts.checkpoint"
    ...     try:
    ...         symclust.NMF(3, random_state=0, callback=symclust.Checkpoint(path, callback=fail)).fit(X)
    ...     except RuntimeError:
    ...         model = symclust.resume(path, X)
    >>> bool((model.membership_ == symclust.NMF(3, random_state=0).fit(X).membership_).all())
    True
    """
    return go_on(read_journal(path, callback), X)


def go_on(journal: Journal, X: Any) -> Any:
    """Run the task of a journal again, with the answers that are known."""
    what, params = journal.task.what, {**journal.task.params, "callback": journal.checkpoint}
    if not (what is select_n_clusters or (isinstance(what, type) and issubclass(what, Clusterer))):
        raise InputError(f"{showable(str(journal.checkpoint.path))} names {what!r}, which is no fit.")
    with resuming(journal):
        return select_n_clusters(X, **params) if what is select_n_clusters else what(**params).fit(X)
