"""Trees of communities by rank-2 symmetric factorizations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust._labels import leave_out_isolated, memberships_of
from symclust._types import Array
from symclust.estimators._base import SimilarityEstimator
from symclust.estimators._growing import Growing
from symclust.estimators.sym_nmf import SymNMF
from symclust.exceptions import InterruptedWarning, NotConvergedWarning
from symclust.graphs import normalized_cut
from symclust.hierarchy import (
    CommunityGrowth,
    CutGrowth,
    RaiseBoth,
    RaiseLikelihood,
    RaiseModularity,
    Tree,
)
from symclust.inputs.placing import LabelPlacer
from symclust.inputs.similarity import Attributed, Similarity
from symclust.solvers import HISTORY
from symclust.starts import has_many_zeros
from symclust.validation import check_known, check_n_clusters, check_number, check_similarity

REFINEMENTS: dict[str, type[RaiseBoth]] = {
    "likelihood": RaiseLikelihood,
    "both": RaiseBoth,
    "modularity": RaiseModularity,
}
ELSEWHERE = 0.01  # of an entry outside a sample's own cluster, compared with the one inside


class HierarchicalSymNMF(SimilarityEstimator):
    r"""Split a graph in two, and its parts again: a tree of communities in linear time.

    A leaf is split by symmetric factorization of rank 2: S ≈ HHᵀ with two nonnegative columns, S = D^-1/2 A
    D^-1/2 the leaf's own normalised graph, and the cut is the best one along the rows of H. It is found on a
    coarsened graph and improved level by level on the way back to the leaf's own nodes. Nodes then move to
    other leaves where that is better (`refine`). The next leaf C is the one whose parts L and R have the
    largest

    .. math:: \left(\frac{assoc(L, L)}{vol(L)} + \frac{assoc(R, R)}{vol(R)}
              - \frac{assoc(C, C)}{vol(C)}\right) \left(\frac{vol(C)}{vol(V)}\right)^{balance},

    the gain in normalised cut weighted by size: assoc(C, C) sums the weights inside C, vol(C) the degrees of
    its nodes in the whole graph. A graph that is not connected is split between its components first.

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of leaves. "auto" chooses it; `selection_` then says why (docs/how_many_clusters.md). None
        splits as long as that raises the modularity; if communities that are made of single nodes, as
        Louvain's method makes them, have a clearly higher one, they become the leaves.
    min_size : int, default=None
        Smallest number of nodes in a cluster. By default a tenth of the average, n / (10 n_clusters), and 1
        with ``n_clusters=None``.
    balance : float, default=0.25
        How much size matters: in the choice of the next leaf as above, and in the choice of a cut, whose gain
        is multiplied by (10 s)^balance where the smaller part has a share s < 1/10 of the leaf's volume. 0
        looks at the gain alone: small pieces that hang on by an edge or two are cut off one by one, in
        time that is no longer linear.
    n_init : int, default=2
        Cuts that are tried for each leaf, of which the best is taken; they run side by side.
    refine : {"likelihood", "both", "modularity", None}, default="likelihood"
        How nodes move between leaves. "both": where that raises the modularity and lowers the average
        normalised cut. "likelihood": the same, and with the number of clusters given then also where it
        raises the likelihood of the planted partition (docs/evidence/trees.md); a network that is not
        large gets other leaves if some found from single nodes are more likely. "modularity": where it raises
        the modularity; with ``min_size=1`` leaves may then vanish, and others are split instead. With any of
        these a large graph is cut with its nodes joined into groups, which takes a fraction of the time. None
        cuts the graph itself, and leaves nodes where the cuts have put them.
    resolution : float, default=1.0
        γ of the modularity Σ assoc(C, C) / vol(V) − γ (vol(C) / vol(V))²: with ``n_clusters=None`` larger
        values make more and smaller communities. The likelihood has a resolution of its own.
    affinity : str or callable, default="auto"
        How samples become similarities, as in `SymNMF`, except that they are not normalised: the splits do
        that themselves. Graphs are taken as they are. The similarity needs to be a matrix, sparse or dense.
    affinity_params : dict, default=None
        Parameters of the affinity, as in `SymNMF`.
    time_limit : float, default=None
        Seconds after which the tree is left as it is then, with one split at least.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable, to the bit and on any number of threads.
    callback : callable, default=None
        Called after each split as in `SymNMF`: `iteration` is the number of splits so far of the graph that
        is being cut, `objective` its average normalised cut. Returning True stops; nodes still move between
        leaves. A `symclust.Checkpoint` keeps the work in a file.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Leaf of each sample, numbered from left to right; −1 for a sample that is similar to no other.
    n_clusters_ : int
        Number of leaves.
    tree_ : Tree
        All splits. ``tree_.cut(k)`` gives the labels when there were k leaves. The data of a node holds its
        "normalized_cut", and of an inner one the "gain" and "modularity_gain" of its split.
    membership_ : ndarray of shape (n_samples, n_clusters)
        One where a sample belongs to a cluster, else zero; made when it is first used.
    objective_ : float
        Average normalised cut of the leaves (`symclust.metrics.average_normalized_cut`); smaller is better.
    history_ : recarray
        The objective after every split.
    n_iter_, converged_, stop_reason_
        The number of splits, whether there are as many leaves as wanted, and why it stopped.
    affinity_matrix_ : ndarray or csr_array
        The similarity A.
    node_names_ : list or None
        Names of the samples: the nodes of a graph, the index of a DataFrame, `obs_names` of an AnnData.

    See Also
    --------
    SymNMF : all clusters at once, with degrees of membership.
    HierarchicalLeftStochastic : the least similar leaf first, for small dense similarities.

    Notes
    -----
    Edges have weights ≥ 0. A loop counts once in the degree of its node. Nodes without edges to others are
    never clusters of their own unless n_clusters leaves no choice: in `tree_` they follow the larger part of
    each split, and their label is −1.

    Examples
    --------
    >>> import networkx as nx
    >>> from symclust import HierarchicalSymNMF
    >>> club = nx.karate_club_graph()
    >>> model = HierarchicalSymNMF(4, random_state=0).fit(club)
    >>> [len(members) for members in model.communities()]
    [11, 5, 12, 6]
    >>> model.tree_.to_newick()
    '((0,1),(2,3));'
    """

    _normalizes: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int | str | None = 8,
        *,
        min_size: int | None = None,
        balance: float = 0.25,
        n_init: int = 2,
        refine: str | None = "likelihood",
        resolution: float = 1.0,
        affinity: str | Callable[..., Any] = "auto",
        affinity_params: dict[str, Any] | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        callback: Callable[[Any], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.min_size = min_size
        self.balance = balance
        self.n_init = n_init
        self.refine = refine
        self.resolution = resolution
        self.affinity = affinity
        self.affinity_params = affinity_params
        self.time_limit = time_limit
        self.random_state = random_state
        self.callback = callback

    def fit(self, X: Any, y: Any = None) -> Self:
        """Split the graph top-down. Ctrl-C keeps the splits so far, and raises KeyboardInterrupt before any.

        Parameters
        ----------
        X : array-like, sparse, graph, AttributedGraph or Operator
            As in `SymNMF`.
        y : ignored
            For scikit-learn's conventions.
        """
        self._check_options()
        ending = Growing(self.time_limit, self.callback)
        similarity = self._read(X)
        A = similarity.operator
        wanted = None if self.n_clusters is None else check_n_clusters(self.n_clusters, A.n)
        check_similarity(A)
        smallest = self.min_size or (max(1, A.n // (10 * wanted)) if wanted else 1)
        seed = int(check_random_state(self.random_state).randint(2**31))
        growth: CutGrowth | CommunityGrowth
        if self.refine is None:
            how = (smallest, wanted is None, self.n_init, seed)
            growth = CutGrowth(A, self.balance, *how, resolution=self.resolution)
            tree = growth.grow(wanted or A.n, ending.is_over, ending.after)
        else:
            # Similarities by edges and features together are smooth, not edges that are there or not.
            has_model = wanted is not None and not isinstance(similarity.rule, Attributed)
            refine = "both" if self.refine == "likelihood" and not has_model else self.refine
            moves = REFINEMENTS[refine](smallest)
            growth = CommunityGrowth(A, self.balance, self.n_init, seed, moves, self.resolution)
            tree = growth.grow(wanted, ending.is_over, ending.after)
        self._store_tree(similarity, tree, growth.history)
        self._store_end(tree, np.inf if wanted is None else wanted, ending)
        return self

    def _check_options(self) -> None:
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters)
        if self.min_size is not None:
            check_number("min_size", self.min_size, least=1, whole=True)
        check_number("balance", self.balance, least=0)
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("resolution", self.resolution, least=0, exclusive=True)
        if self.refine is not None:
            check_known("refine", self.refine, tuple(REFINEMENTS), ", or None")

    def _store_tree(self, similarity: Similarity, tree: Tree, history: list[tuple[float, float]]) -> None:
        A = similarity.operator
        self.tree_, self.affinity_matrix_, self.node_names_ = tree, A.matrix, similarity.names
        self._dtype = A.dtype
        labels = leave_out_isolated(tree.cut(self.n_clusters_), A)
        self.labels_ = similarity.share(labels)
        rows = [(number, *row, np.nan) for number, row in enumerate(history)]
        self.history_ = np.array(rows, dtype=HISTORY).view(np.recarray)
        self.objective_ = history[-1][1]
        self.n_iter_ = tree.n_splits
        self._keep(similarity)

    def _store_end(self, tree: Tree, wanted: float, ending: Growing) -> None:
        leaves, ended = f"stopped at {self.n_clusters_} clusters", ending.why(tree, wanted)
        self.converged_ = not ended and wanted in (np.inf, self.n_clusters_)
        if ended:
            self.stop_reason_ = ended
        elif wanted == np.inf:
            self.stop_reason_ = f"{leaves}: no further split raises the modularity"
        elif self.converged_:
            self.stop_reason_ = f"{leaves}, as many as wanted"
        else:
            self.stop_reason_ = (
                f"{leaves} of {wanted}: no other leaf can be split with min_size nodes in both parts"
            )
        if not self.converged_:
            ending.warn(type(self).__name__, tree, self.stop_reason_)
        self._warn_of_degenerate(self.n_clusters_)

    def _make_placer(self, similarity: Similarity) -> LabelPlacer:
        return LabelPlacer(similarity, self.labels_, self.n_clusters_)

    @property
    def membership_(self) -> Array:
        """Zeros and ones, n × k: for many leaves many more than there are edges, so made when asked for."""
        check_is_fitted(self)
        if "_training" not in vars(self):  # loaded without it
            return memberships_of(self.labels_, self.n_clusters_, self._dtype)
        return self._placer.H

    @property
    def _gives_degrees(self) -> bool:
        return False

    @property
    def _n_features_out(self) -> int:
        return self.tree_.n_splits + 1

    def flatten(self, max_iter: int = 5, **options: Any) -> SymNMF:
        """Return a fitted `SymNMF` of the whole graph, normalised, that starts from the leaves.

        Its memberships are degrees, and samples may leave the branch of the tree they were put on. Like the
        flat form of any tree it has `components_`, here the transposed memberships: A ≈ HHᵀ.

        Parameters
        ----------
        max_iter : int, default=5
            Iterations. Few improve on the leaves; with many the start is forgotten.
        **options
            Of `SymNMF`.

        Examples
        --------
        >>> import networkx as nx
        >>> from symclust import HierarchicalSymNMF
        >>> graph = nx.ring_of_cliques(4, 5)
        >>> flat = HierarchicalSymNMF(4, random_state=0).fit(graph).flatten()
        >>> sorted(len(members) for members in flat.communities()), flat.components_.shape
        ([5, 5, 5, 5], (4, 20))
        """
        check_is_fitted(self)
        A = normalized_cut(self.affinity_matrix_)
        H = _flat_start(self.affinity_matrix_, self.labels_, self.n_clusters_)
        start = H if H.sum() > 0 else "random"  # without an edge inside a leaf there is none from the leaves
        options = {"random_state": self.random_state, **options}
        model = SymNMF(self.n_clusters_, affinity="precomputed", init=start, max_iter=max_iter, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)  # it is not meant to converge
            warnings.simplefilter("always", InterruptedWarning)
            model.fit(A)
        model.node_names_ = self.node_names_
        model.components_ = model.membership_.T
        return model


def _flat_start(A: Any, labels: Array, n_clusters: int) -> Any:
    """H for the normalised cut of A: h_il goes with the root of the degree of i, largest at its label.

    The unit column that is (d_i / vol(C))^1/2 on the nodes i of a cluster C and zero elsewhere, times
    (assoc(C, C) / vol(C))^1/2, is the one of its direction that fits the normalised matrix best. The other
    entries are small, not zero, so that a sample can change its cluster by every solver; a large H is a
    `csr_array`, where they are zero.
    """
    placed = np.flatnonzero(labels >= 0)
    labels = labels[placed]
    Z = csr_array((np.ones(len(placed)), (placed, labels)), shape=(A.shape[0], n_clusters))
    blocks = np.asarray((Z.T @ (A @ Z).astype(np.float64)).diagonal())
    degrees = np.asarray(A @ np.ones(A.shape[0]), dtype=np.float64)
    volumes = np.bincount(labels, weights=degrees[placed], minlength=n_clusters)
    scale = np.divide(np.sqrt(blocks), volumes, out=np.zeros(n_clusters), where=volumes > 0)
    own = (np.sqrt(degrees[placed]) * scale[labels]).astype(A.dtype)
    if has_many_zeros(Z.shape):
        return csr_array((own, (placed, labels)), shape=Z.shape)
    H = (ELSEWHERE * np.sqrt(degrees)[:, np.newaxis] * scale).astype(A.dtype)
    H[placed, labels] = own
    return H
