"""Groups of nodes that are all alike, with some pairs flipped."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from symclust.datasets._pairs import partition_pairs, symmetric
from symclust.exceptions import InputError
from symclust.validation import check_number

__all__ = ["noisy_cliques"]


def noisy_cliques(
    sizes: Sequence[int] = (10,) * 10,
    noise: float = 0.1,
    random_state: int | np.random.Generator | None = None,
) -> tuple[csr_array, NDArray[np.float64]]:
    r"""Binary similarity of disjoint cliques in which each pair is flipped with a given probability.

    Without noise the matrix is block diagonal and made of ones, :math:`A = H^* H^{*T}` with a 0/1 matrix
    :math:`H^*` of one column a clique. Noise turns a one into a zero or a zero into a one, for each pair of
    different nodes on its own; A stays symmetric and its diagonal stays 1 (Moutier, Vandaele and Gillis 2021,
    section 5.1.1). Memory and time follow the nonzeros of A (for noise up to 1/2) and the size of `H_true`,
    not the number of pairs.

    Parameters
    ----------
    sizes : sequence of int
        Number of nodes of each clique; the nodes come in this order.
    noise : float between 0 and 1
        Probability that a pair is flipped.
    random_state : int, Generator or None
        Makes the matrix repeatable.

    Returns
    -------
    A : csr_array of shape (n, n)
        Symmetric, entries 1.0, diagonal 1.
    H_true : ndarray of shape (n, len(sizes))
        Which node belongs to which clique, as 0.0 and 1.0.

    See Also
    --------
    adversarial_cliques : links that are placed, not scattered.
    symclust.metrics.factor_accuracy : how close a found factor comes to `H_true`.

    Examples
    --------
    >>> from symclust.datasets import noisy_cliques
    >>> A, H_true = noisy_cliques([3, 2], noise=0.0)
    >>> A.toarray().astype(int).tolist()
    [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1]]
    >>> H_true.astype(int).T.tolist()
    [[1, 1, 1, 0, 0], [0, 0, 0, 1, 1]]
    """
    if len(sizes) == 0:
        raise InputError("sizes is empty; expected the number of nodes of each clique, for example [10, 10].")
    for c, size in enumerate(sizes):
        check_number(f"sizes[{c}]", size, least=1, whole=True)
    check_number("noise", noise, least=0, most=1)
    nodes = np.asarray(sizes, dtype=np.int64)
    rng = np.random.default_rng(random_state)
    i, j = partition_pairs(nodes, 1 - noise, noise, rng)
    H_true = np.repeat(np.eye(len(nodes)), nodes, axis=0)
    return symmetric(i, j, len(H_true), diagonal=1.0), H_true
