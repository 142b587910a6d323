"""The answer of all readers, and matrices whose entries belong to pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import InputError
from symclust.operators import Dense, Network, Operator, Sparse, as_operator
from symclust.validation import check_features, check_similarity, looks_like_similarity

KINDS = ("features", "similarity", "graph", "texts", "expression", "image")


@dataclass(frozen=True)
class Described:
    """The content of a file, and the assumptions of its reader.

    Attributes
    ----------
    data : DataFrame, ndarray, csr_array, Operator, dict or AnnData
        What `read` returns.
    kind : {"features", "similarity", "graph", "texts", "expression", "image"}
        Kind of the data.
    names : list or None
        Names of the samples, nodes or documents.
    notes : list of str
        Sentences about what was guessed, dropped or filled in.
    original : DataFrame, networkx.Graph or None
        A table of features, or a graph, as it stands in the file, with all that `data` lacks.
    """

    data: Any
    kind: str
    names: list[Any] | None = None
    notes: list[str] = field(default_factory=list)
    original: Any = None


def kind_of_matrix(A: Any, name: str, is_named: bool = False) -> str:
    """The kind of a matrix by symmetry and diagonal: "features", "similarity" or "graph".

    Distances are symmetric with a zero diagonal, too: they are refused, since they mean the contrary of
    similarities.
    """
    if not is_named and not looks_like_similarity(A):
        return "features"
    n = A.shape[0]
    if A.diagonal().any():
        return "similarity"
    n_nonzeros = A.count_nonzero() if sparse.issparse(A) else np.count_nonzero(A)
    if n_nonzeros == n * n - n and n > 2:
        raise InputError(
            f"{name} holds a symmetric matrix, {n} × {n}, with zeros on the diagonal alone, as distances "
            "have. If these are distances, turn them into similarities first, for example "
            "np.exp(-(D / np.median(D)) ** 2). If not, say what they are: kind='similarity', kind='graph' or "
            "kind='features'."
        )
    return "graph" if n_nonzeros else "similarity"


def as_similarity(A: Any, names: list[Any] | None, name: str) -> Operator:
    """A matrix of similarities as an operator, checked."""
    A = check_features(A, name=name)
    if A.shape[0] != A.shape[1]:
        raise InputError(
            f"{name} has shape {A.shape}; similarities and graphs are square, with one row and one column "
            "for each sample. Say kind='features' if its rows are samples and its columns features."
        )
    operator = as_operator(A)
    operator.names = names
    try:
        check_similarity(operator, nonnegative=False)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return operator


def describe_square(A: Any, kind: str, names: list[Any] | None, name: str, notes: list[str]) -> Described:
    """Describe a matrix as similarities of pairs, or as a network."""
    data = as_network(A, names, name, notes) if kind == "graph" else as_similarity(A, names, name)
    return Described(data, kind, names, notes)


def as_network(A: Any, names: list[Any] | None, name: str, notes: list[str]) -> Network:
    """An adjacency matrix as a network, without loops."""
    W = as_similarity(A, names, name)
    assert isinstance(W, Dense | Sparse)
    edges = sparse.csr_array(W.array) if isinstance(W, Dense) else W.csr
    loops = int(np.count_nonzero(edges.diagonal()))
    if loops:
        edges = edges - sparse.diags_array(edges.diagonal())
        notes.append(f"Dropped {loops:,} self-loop{'s' * (loops != 1)} on the diagonal.")
    return Network(edges, names)
