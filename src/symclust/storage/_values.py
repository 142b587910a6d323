"""Python values as JSON with places in arrays, and back.

Numbers, text, None and lists are JSON's own. Everything else is an object with one key, its type,
such as ``{"tuple": [1, 2]}``. Instances of our own classes, sparse arrays and long lists stand in a list of
their own and are referred to by number, as arrays are by their place: what is shared is written once and
stays shared.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import Parameter, signature
from types import FunctionType
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer

from symclust._types import Array
from symclust.exceptions import InputError, InputTypeError
from symclust.storage._allowed import allowed, name_of
from symclust.storage._archive import Arrays
from symclust.storage._former import upgrade
from symclust.validation import is_a

LONG = 64  # entries from which a list is kept once, however many refer to it
AS_THEY_ARE = (type(None), bool, int, str)
COMPRESSED = ("csr", "csc")


def plain_state(value: Any) -> dict[str, Any]:
    """The attributes of an instance without cached properties, which are computed again."""
    cls = type(value)
    return {
        name: attribute
        for name, attribute in vars(value).items()
        if not isinstance(getattr(cls, name, None), cached_property)
    }


class Encoder:
    """Values on their way to a file; `objects` and `arrays` are what the JSON refers to by number."""

    def __init__(self, data: bool = True, where: str = "The model") -> None:
        self.data = data
        self.objects: list[Any] = []
        self.arrays = Arrays()
        self._seen: dict[int, tuple[Any, Any]] = {}  # holds what it has seen: else another may get its id
        self._path = [where]
        self._ways: dict[type, Callable[[Any], Any]] = {
            float: lambda value: {"float": repr(value)},  # NaN and infinity, which JSON has not
            bytes: lambda value: {"bytes": value.hex()},
            list: self._list,
            tuple: lambda value: {"tuple": self._each(value)},
            set: lambda value: {"set": self._each(value)},
            frozenset: lambda value: {"frozenset": self._each(value)},
            dict: lambda value: {"dict": [self._each(item) for item in value.items()]},
            slice: lambda value: {"slice": self._each((value.start, value.stop, value.step))},
            range: lambda value: {"range": [value.start, value.stop, value.step]},
            FunctionType: self._function,
            np.random.RandomState: lambda value: {"random_state": self._each(value.get_state())},
            np.random.Generator: lambda value: {"generator": self.encode(value.bit_generator.state)},
            deque: lambda value: {"deque": [self._each(value), value.maxlen]},
            CountVectorizer: self._vectorizer,
        }

    def encode(self, value: Any) -> Any:
        """A value as JSON."""
        if type(value) in AS_THEY_ARE or (type(value) is float and math.isfinite(value)):
            return value
        if id(value) not in self._seen:
            self._seen[id(value)] = value, self._encode(value)
        return self._seen[id(value)][1]

    def _encode(self, value: Any) -> Any:
        way = self._ways.get(type(value))
        if way is not None:
            return way(value)
        if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            return self._array(value)
        if isinstance(value, np.generic):
            return {"scalar": self._place(np.asarray(value))}
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if sparse.issparse(value):
            return self._sparse(value)
        return self._instance(value)

    def _each(self, values: Any) -> list[Any]:
        return [self.encode(value) for value in values]

    def _list(self, values: list[Any]) -> Any:
        return self._numbered({"list": self._each(values)}) if len(values) > LONG else self._each(values)

    def _numbered(self, entry: Any) -> dict[str, int]:
        self.objects.append(entry)
        return {"object": len(self.objects) - 1}

    # Arrays -------------------------------------------------------------------------------------------------

    def _array(self, value: Array) -> Any:
        if value.dtype == object:  # such as names of features
            return {"object_array": [list(value.shape), self._each(value.reshape(-1))]}
        return {"records" if isinstance(value, np.recarray) else "array": self._place(value)}

    def _place(self, value: Array) -> list[Any]:
        array = np.asarray(value)
        if array.dtype.type is np.record:
            array = array.view(np.dtype(array.dtype.descr))
        if array.dtype.hasobject or array.dtype.kind not in "biufcmMSUV":
            raise self._refusal(f"an array of dtype {array.dtype}")
        return self.arrays.put(array)

    def _sparse(self, value: Any) -> Any:
        A = value if value.format in COMPRESSED else value.tocoo()
        parts = (A.data, A.indices, A.indptr) if A.format in COMPRESSED else (A.data, *A.coords)
        kind = "array" if isinstance(value, sparse.sparray) else "matrix"
        return self._numbered({"sparse": [f"{value.format}_{kind}", list(value.shape), self._each(parts)]})

    # Ours ---------------------------------------------------------------------------------------------------

    def _instance(self, value: Any) -> Any:
        name = name_of(type(value))
        if name is None and hasattr(value, "_why_not_saved"):
            raise InputTypeError(value._why_not_saved)
        if name is None and is_a(value, "torch", "Tensor"):
            raise InputTypeError(
                "The similarities are a tensor, and files of models hold none. Save the model without its "
                "data: model.save(path, data=False)."
            )
        if name is None:
            raise self._refusal(f"a {type(value).__name__}")
        reference = self._numbered(None)
        self._seen[id(value)] = value, reference  # before its attributes, which may refer to it
        if isinstance(value, tuple):
            self.objects[reference["object"]] = {name: self._each(value)}
            return reference
        state = value._saved_state(self.data) if hasattr(value, "_saved_state") else plain_state(value)
        encoded = {}
        for attribute, content in state.items():
            self._path.append(f"{type(value).__name__}.{attribute}")
            encoded[attribute] = self.encode(content)
            self._path.pop()
        self.objects[reference["object"]] = {name: encoded}
        return reference

    def _function(self, value: Any) -> Any:
        name = name_of(value)
        if name is None:
            raise self._refusal("a function")
        return {"function": name}

    def _vectorizer(self, value: CountVectorizer) -> Any:
        params = {**value.get_params(), "dtype": np.dtype(value.dtype)}
        terms = sorted(value.vocabulary_, key=value.vocabulary_.__getitem__)
        if any(map(callable, params.values())):
            raise self._refusal("a vectoriser with a function of yours")
        return {"vectorizer": self._each((params, list(map(str, terms)), value.fixed_vocabulary_))}

    def _refusal(self, what: str) -> InputTypeError:
        return InputTypeError(
            f"{self._path[-1]} is, or holds, {what}, and files of models hold numbers, text and symclust's "
            "own classes only. Fit the model without it, with an array in its place or, if it is a name, "
            "with text, to save it."
        )


class Decoder:
    """Values on their way out of a file, which may be damaged or hostile.

    Anything wrong raises some exception; `load` turns it into an InputError.
    """

    def __init__(self, objects: list[Any], arrays: Arrays) -> None:
        upgrade(objects)
        self._objects, self._arrays = objects, arrays
        self._made: dict[int, Any] = {}
        self._ways: dict[str, Callable[[Any], Any]] = {
            "float": lambda text: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text],
            "bytes": bytes.fromhex,
            "tuple": lambda values: tuple(self._each(values)),
            "set": lambda values: set(self._each(values)),
            "frozenset": lambda values: frozenset(self._each(values)),
            "dict": lambda items: {self.decode(key): self.decode(value) for key, value in items},
            "slice": lambda values: slice(*self._each(values)),
            "range": lambda values: range(*values),
            "function": self._function,
            "random_state": self._random_state,
            "generator": self._generator,
            "deque": lambda parts: deque(self._each(parts[0]), parts[1]),
            "vectorizer": self._vectorizer,
            "array": lambda place: self._arrays.get(*place),  # the same array for the same place
            "records": lambda place: self._arrays.get(*place).view(np.recarray),
            "scalar": lambda place: self._arrays.get(*place)[()],
            "object_array": self._object_array,
            "dtype": _plain_dtype,
            "object": self._object,
        }

    def decode(self, value: Any) -> Any:
        """The value that a piece of JSON stands for."""
        if isinstance(value, list):
            return self._each(value)
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        return self._ways[kind](content)

    def _each(self, values: list[Any]) -> list[Any]:
        return [self.decode(value) for value in values]

    def _object(self, number: int) -> Any:
        if number in self._made:
            return self._made[number]
        ((name, content),) = self._objects[number].items()
        if name in ("list", "sparse"):
            self._made[number] = self._each(content) if name == "list" else self._sparse(content)
        else:
            self._make(number, name, content)
        return self._made[number]

    def _make(self, number: int, name: str, content: Any) -> None:
        cls = allowed().get(name)
        if not isinstance(cls, type):
            raise InputError(f"it names the class {name!r}, which models are not made of")
        if issubclass(cls, tuple):
            self._made[number] = cls._make(self._each(content))  # type: ignore[attr-defined]
            return
        # Without __init__: the attributes are all there is, and those of frozen dataclasses too.
        made = self._made[number] = cls.__new__(cls)
        renamed = getattr(cls, "_renamed", {})
        for attribute, value in content.items():
            if attribute.startswith("__"):
                raise ValueError(f"an attribute {attribute}")
            made.__dict__[renamed.get(attribute, attribute)] = self.decode(value)
        _fill_gaps(made)
        if hasattr(made, "_restore"):
            made._restore()

    def _function(self, name: str) -> Any:
        found = allowed()[name]
        if not isinstance(found, FunctionType):
            raise TypeError(f"{name} is no function")
        return found

    def _random_state(self, parts: list[Any]) -> Any:
        made = np.random.RandomState()
        made.set_state(tuple(self._each(parts)))
        return made

    def _generator(self, state: Any) -> np.random.Generator:
        made = np.random.default_rng()
        made.bit_generator.state = self.decode(state)
        return made

    def _vectorizer(self, parts: list[Any]) -> CountVectorizer:
        params, terms, fixed = self._each(parts)
        made = CountVectorizer(**{**params, "dtype": params["dtype"].type})
        made.vocabulary_ = {term: number for number, term in enumerate(terms)}
        made.fixed_vocabulary_ = fixed
        return made

    def _object_array(self, parts: list[Any]) -> Array:
        shape, values = parts
        made = np.empty(len(values), dtype=object)
        made[:] = self._each(values)
        return made.reshape(shape)

    def _sparse(self, parts: list[Any]) -> Any:
        kind, shape, arrays = parts[0], tuple(parts[1]), self._each(parts[2])
        form, _, family = kind.partition("_")
        if form not in COMPRESSED:
            A = sparse.coo_array((arrays[0], tuple(arrays[1:])), shape=shape)
            A = A if family == "array" else sparse.coo_matrix(A)
            return A.asformat(form)
        made = {
            "csr_array": sparse.csr_array,
            "csc_array": sparse.csc_array,
            "csr_matrix": sparse.csr_matrix,
            "csc_matrix": sparse.csc_matrix,
        }[kind](shape, dtype=arrays[0].dtype)
        made.data, made.indices, made.indptr = arrays
        made.check_format(full_check=True)  # compiled code reads at these numbers
        made.data, made.indices, made.indptr = arrays  # the check makes views of them, which are not shared
        if not made.data.shape == made.indices.shape == (made.indptr[-1],):
            raise ValueError("a sparse array whose parts differ in length")
        return made


def _fill_gaps(made: Any) -> None:
    """Defaults for parameters that an older file does not have; an instance without a field is refused."""
    if isinstance(made, BaseEstimator):
        for name, parameter in signature(type(made)).parameters.items():
            if name not in made.__dict__ and parameter.default is not Parameter.empty:
                made.__dict__[name] = parameter.default
    elif is_dataclass(made):
        left_out = getattr(made, "_left_out", ())
        missing = [f.name for f in fields(made) if f.name not in left_out and not hasattr(made, f.name)]
        if missing:
            raise ValueError(f"a {type(made).__name__} without {missing[0]}")


def _plain_dtype(text: str) -> np.dtype[Any]:
    dtype = np.dtype(text)
    if dtype.kind not in "biuf":
        raise ValueError(f"a dtype {text}")
    return dtype
