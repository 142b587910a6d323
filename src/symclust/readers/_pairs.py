"""What readers of matrices and tables share: the answer, and matrices whose entries belong to pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from symclust.exceptions import InputError
from symclust.operators import Dense, Network, Operator, Sparse, as_operator
from symclust.validation import check_features, check_similarity, looks_like_similarity

__all__ = ["KINDS", "Described", "as_network", "as_similarity", "kind_of_matrix"]

KINDS = ("features", "similarity", "graph", "texts", "expression", "image")


@dataclass(frozen=True)
class Described:
    """What a file holds, and what was assumed on the way.

    Attributes
    ----------
    data : DataFrame, ndarray, csr_array, Operator, dict or AnnData
        What `read` returns.
    kind : {"features", "similarity", "graph", "texts", "expression", "image"}
        What it is.
    names : list or None
        Names of the samples, nodes or documents.
    notes : list of str
        Sentences about what was guessed, dropped or filled in.
    table : DataFrame or None
        A table of features as it stands in the file, with rows and columns that `data` lacks.
    """

    data: Any
    kind: str
    names: list[Any] | None = None
    notes: list[str] = field(default_factory=list)
    table: Any = None


def kind_of_matrix(A: Any, name: str, is_named: bool = False) -> str:
    """Return "features", "similarity" or "graph", by symmetry and the diagonal.

    Distances are symmetric with a zero diagonal, too: they are refused, since as similarities they would tell
    the contrary of what they mean.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust.readers._pairs import kind_of_matrix
    >>> kind_of_matrix(np.eye(12) + 1, "a.npy"), kind_of_matrix(np.ones((12, 3)), "b.npy")
    ('similarity', 'features')
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
    """Return a matrix of similarities as an operator, checked."""
    operator = _square(A, name)
    operator.names = names
    try:
        check_similarity(operator, nonnegative=False)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return operator


def as_network(A: Any, names: list[Any] | None, name: str, notes: list[str]) -> Network:
    """Return an adjacency matrix as a network, without loops."""
    W = as_similarity(A, names, name)
    assert isinstance(W, Dense | Sparse)
    edges = sparse.csr_array(W.array) if isinstance(W, Dense) else W.csr
    loops = int(np.count_nonzero(edges.diagonal()))
    if loops:
        edges = edges.tocoo()
        off = edges.coords[0] != edges.coords[1]
        ends = (edges.coords[0][off], edges.coords[1][off])
        edges = sparse.coo_array((edges.data[off], ends), shape=edges.shape).tocsr()
        notes.append(f"Dropped {loops:,} self-loop{'s' * (loops != 1)} on the diagonal.")
    return Network(edges, names)


def _square(A: Any, name: str) -> Operator:
    A = check_features(A, name=name)
    if A.shape[0] != A.shape[1]:
        raise InputError(
            f"{name} has shape {A.shape}; similarities and graphs are square, with one row and one column "
            "for each sample. Say kind='features' if its rows are samples and its columns features."
        )
    return as_operator(A)
