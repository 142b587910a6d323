"""Left-stochastic clustering by splits in two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symclust.estimators._definite import warn_of_negative_part
from symclust.estimators._input import Similarity
from symclust.estimators._tree import TreeEstimator
from symclust.left_stochastic import second_half
from symclust.operators import Operator


class HierarchicalLeftStochastic(TreeEstimator):
    """Split clusters in two by left-stochastic decomposition, the least similar cluster first.

    With two clusters the decomposition needs the two leading eigenvectors and no iterations. Begin with all
    samples; split the leaf whose samples are least similar to each other, seen alone; until there are
    n_clusters leaves (Arora, Gupta, Kapila and Fazel 2013, 3.3). For many clusters it is many times faster
    than `LeftStochastic`, whose rotations have n_clusters dimensions.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of leaves.
    affinity : str or callable, default="nearest_neighbors"
        How samples become similarities, as in `SymNMF`; negative similarities are welcome.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Leaf of each sample, numbered from left to right.
    membership_ : ndarray of shape (n_samples, n_clusters)
        One where a sample belongs to a cluster, else zero.
    tree_ : Tree
        All splits: ``tree_.cut(k)`` gives the labels when there were k leaves, ``tree_.linkage()`` is for
        SciPy's ``dendrogram``, ``tree_.to_newick()`` and ``tree_.to_json()`` for other programs.
    objective_ : float
        Average within-cluster similarity (17) of the leaves; larger is better.
    affinity_matrix_ : ndarray, csr_array or Operator
        The similarity K.
    node_names_ : list or None
        Names of the nodes, for graphs.

    Notes
    -----
    A split reads the two largest eigenvalues alone, so negative ones are cut; a warning says how much of a
    given similarity they make up.

    See Also
    --------
    LeftStochastic : all clusters at once, with probabilities.
    DivisiveClustering : the same splits by any other method.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import HierarchicalLeftStochastic
    >>> K = np.kron(np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 3.0]]), np.ones((2, 2)))
    >>> K += 0.1 * np.eye(6)
    >>> model = HierarchicalLeftStochastic(3, affinity="precomputed").fit(K)
    >>> model.labels_.tolist(), model.tree_.cut(2).tolist()
    ([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str | Callable[..., Any] = "nearest_neighbors",
        affinity_params: dict[str, Any] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.affinity_params = affinity_params

    def _comment(self, similarity: Similarity) -> None:
        warn_of_negative_part(similarity, type(self).__name__)

    def _halves(self, K: Operator) -> np.ndarray | None:
        return second_half(K)
