"""Saving models and loading them again."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from symclust._text import showable
from symclust.exceptions import InputError, InputTypeError, LeftOutError, SymclustError, warn
from symclust.storage._allowed import allowed, name_of
from symclust.storage._archive import read_archive, write_archive
from symclust.storage._values import Decoder, Encoder, plain_state


class Savable:
    """Base class of models that can be saved to a file, and loaded again with `symclust.load`.

    A subclass says which of its attributes are training data, and what needs them; which had another name in
    earlier versions and their files; and the values of those that an instance need not have.
    """

    _left_out: ClassVar[dict[str, str]] = {}
    _renamed: ClassVar[dict[str, str]] = {}
    _by_default: ClassVar[dict[str, Any]] = {}

    def save(self, path: str | PathLike[str], data: bool = True) -> Path:
        """Write the model, without its `callback`, to a file that `symclust.load` reads; return its path.

        Without the training `data` methods that need more than the answer raise a `LeftOutError`.
        """
        if isinstance(self, BaseEstimator):
            check_is_fitted(self)
        path = read_path(path)
        encoder = Encoder(data)
        model = encoder.encode(self)
        about = {"model": name_of(type(self)), "data": bool(data)}
        try:
            write_archive(path, about, {"model": model, "objects": encoder.objects}, encoder.arrays)
        except (OSError, ValueError) as error:  # ValueError: no path has a zero byte
            reason = getattr(error, "strerror", None) or error
            raise InputError(
                f"The model cannot be written to {showable(str(path))}: {reason}. Choose another path."
            ) from error
        return path

    def _saved_state(self, data: bool) -> dict[str, Any]:
        """The attributes that are saved."""
        left_out = () if data else self._left_out
        return {name: value for name, value in plain_state(self).items() if name not in left_out}

    def _restore(self) -> None:
        """Make again what is not saved since it follows from the rest."""

    def _check_restored(self) -> None:
        """Use the loaded model as its owner will; if this raises anything, `load` refuses the file.

        A list of attributes and shapes would not stay true for every class; a rehearsal does. It costs about
        what the first call of each method costs.
        """
        repr(self)
        for name in ("communities", "to_dataframe"):
            if hasattr(type(self), name):
                with suppress(SymclustError):  # a model that was saved in this state
                    getattr(self, name)()

    def __getattr__(self, name: str) -> Any:
        # Only if an attribute is missing: before the fit, or since it was left out of a file.
        if name in type(self)._left_out and hasattr(self, "labels_"):
            raise LeftOutError(
                f"This {type(self).__name__} was saved without its training data, which are needed for "
                f"{type(self)._left_out[name]}. Save it with data=True."
            )
        if name in type(self)._by_default:
            return type(self)._by_default[name]
        if name in type(self)._renamed:
            new = type(self)._renamed[name]
            warn(f"{name} of {type(self).__name__} is now called {new}.", FutureWarning)
            return getattr(self, new)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def load(path: str | PathLike[str]) -> Savable:
    """Read a model from a file that ``model.save(path)`` wrote.

    Nothing in the file is executed, and nothing that it names is imported: it holds numbers and text, and the
    names of classes of symclust that are on a list. Damaged files are refused by their checksums. Still, rely
    on a model only if you trust whoever made it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator, or what `topics`, `subtypes`, `flatten` or `select_n_clusters` return
        The saved model.

    Raises
    ------
    InputError
        If the file does not exist, is not a model, is damaged, or was written by a newer version of symclust
        in another format.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import networkx as nx
    >>> import symclust
    >>> model = symclust.SymNMF(2, random_state=0).fit(nx.karate_club_graph())
    >>> with TemporaryDirectory() as folder:
    ...     loaded = symclust.load(model.save(Path(folder) / "karate.symclust", data=False))
    >>> loaded.communities() == model.communities()
    True
    >>> loaded.predict([[1.0] * 34])
    Traceback (most recent call last):
        ...
    symclust.exceptions.LeftOutError: This SymNMF was saved without its training data, which are needed for \
placing samples. Save it with data=True.
    """
    path = read_path(path)
    with read_content(path, "a model that can be loaded") as (header, content, decode):
        if "checkpoint" in header:
            raise InputError("it is a checkpoint: symclust.resume(path, X) goes on with it")
        return _checked(decode(content["model"]), header)


@contextmanager
def read_content(path: Path, what: str) -> Iterator[tuple[dict[str, Any], Any, Callable[[Any], Any]]]:
    """Yield the header of a file, its content and its decoder; a damaged file is not `what`, so the error."""
    try:
        with path.open("rb") as file:
            header, content, arrays = read_archive(file, os.fstat(file.fileno()).st_size)
        yield header, content, Decoder(content["objects"], arrays).decode
    except OSError as error:
        raise InputError(f"{showable(str(path))} cannot be read: {error.strerror or error}.") from error
    except InputError as error:
        raise InputError(f"{showable(str(path))} is not {what}: {error}.") from error
    except Exception as error:  # zipfile, json and NumPy have errors of all kinds for damaged bytes
        raise InputError(
            f"{showable(str(path))} is not {what}: it is damaged "
            f"({type(error).__name__}: {showable(str(error))[:200]})."
        ) from error


def _checked(model: Any, header: dict[str, Any]) -> Any:
    if not isinstance(model, Savable) or allowed().get(header.get("model", "")) is not type(model):
        raise InputError("what it holds is not what its header says")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model._check_restored()
    return model


def read_path(path: Any) -> Path:
    """The path of a file that is given."""
    if not isinstance(path, str | PathLike):
        raise InputTypeError(f"The path is a {type(path).__name__}; expected a str or a Path.")
    return Path(path)
