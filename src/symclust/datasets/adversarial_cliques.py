"""Cliques, and nodes outside that are linked to them on purpose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from symclust.datasets._pairs import partition_pairs, symmetric
from symclust.exceptions import InputError
from symclust.validation import check_number

__all__ = ["adversarial_cliques"]


def adversarial_cliques(
    size: int = 10,
    n_cliques: int = 2,
    n_isolated: int = 10,
    n_links: int = 0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, NDArray[np.float64]]:
    """Binary similarity of disjoint cliques and of nodes that belong to none but are linked to all.

    Each node outside is joined to `n_links` members, drawn at random, of every clique (Moutier, Vandaele and
    Gillis 2021, section 5.1.2; which members the paper joins is not said). While this is less than half the
    size of a clique, leaving such a node out costs fewer mismatches than taking it in, so the absolute loss
    can still tell who belongs.

    Parameters
    ----------
    size, n_cliques : int
        Number of nodes of a clique and number of cliques; their nodes come first, one clique after the other.
    n_isolated : int
        Number of nodes outside.
    n_links : int, at most `size`
        Number of links from each node outside to each clique.
    random_state : int, Generator or None
        Makes the matrix repeatable.

    Returns
    -------
    A : csr_array of shape (n, n)
        Symmetric, entries 1.0, diagonal 1; ``n = size * n_cliques + n_isolated``.
    H_true : ndarray of shape (n, n_cliques)
        Which node belongs to which clique, as 0.0 and 1.0. Rows of nodes outside are zero.

    See Also
    --------
    noisy_cliques : pairs flipped at random.

    Examples
    --------
    >>> from symclust.datasets import adversarial_cliques
    >>> A, H_true = adversarial_cliques(size=2, n_cliques=2, n_isolated=1, n_links=1, random_state=0)
    >>> A.toarray().astype(int)[:4, :4].tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> int(A.toarray()[4, :2].sum()), int(A.toarray()[4, 2:4].sum()), H_true[4].tolist()
    (1, 1, [0.0, 0.0])
    """
    _check(size, n_cliques, n_isolated, n_links)
    rng = np.random.default_rng(random_state)
    members, n = size * n_cliques, size * n_cliques + n_isolated
    i, j = partition_pairs(np.full(n_cliques, size), 1.0, 0.0, rng)
    starts = np.tile(np.arange(n_cliques) * size, n_isolated)
    # Drawn without replacement by each node outside from each clique
    linked = [rng.choice(size, n_links, replace=False) + start for start in starts]
    outside = np.repeat(np.arange(members, n), n_cliques * n_links)
    i = np.concatenate([i, *linked])
    j = np.concatenate([j, outside])
    H_true = np.zeros((n, n_cliques))
    H_true[:members] = np.repeat(np.eye(n_cliques), size, axis=0)
    return symmetric(i, j, n, diagonal=1.0), H_true


def _check(size: int, n_cliques: int, n_isolated: int, n_links: int) -> None:
    check_number("size", size, least=1, whole=True)
    check_number("n_cliques", n_cliques, least=1, whole=True)
    check_number("n_isolated", n_isolated, least=0, whole=True)
    check_number("n_links", n_links, least=0, whole=True)
    if n_links > size:
        raise InputError(
            f"n_links={n_links} with size={size}: a node outside can be joined to each member once at most; "
            "expected n_links <= size."
        )
