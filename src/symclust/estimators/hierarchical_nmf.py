"""HierarchicalNMF: trees of topics by rank-2 splits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from symclust import registry
from symclust._kernels import spmm
from symclust._labels import OF_FEATURES, labels_of, memberships_of, warn_of_degenerate
from symclust._threads import single_threaded_blas
from symclust._types import Array
from symclust.estimators._base import Clusterer
from symclust.estimators._fitted import Placement, PlacingAnswer
from symclust.estimators._growing import Growing
from symclust.exceptions import (
    CombinationError,
    DegenerateWarning,
    InputError,
    InputTypeError,
    NotConvergedWarning,
    OptionError,
    warn,
)
from symclust.hierarchy import AnySamples, BlockSamples, DeviceSamples, Samples, TopicGrowth, Trials
from symclust.inputs.placing import KnownRows
from symclust.nnls import block_pivoting
from symclust.operators import RowBlocks, dense_product, is_dask, is_tensor, read_csr, rows_of_tensor
from symclust.storage import data_are, is_recording
from symclust.validation import (
    check_features,
    check_known,
    check_n_clusters,
    check_nonnegative,
    check_number,
    check_range,
    sample_names,
)


class HierarchicalNMF(Clusterer):
    """Cluster samples × features top-down, by NMF with two columns: HierNMF2.

    The leaf is split next whose terms fall best into two rankings (mNDCG, thesis (58)-(63)), and of whose
    samples two topics explain most beyond one. If a split only cuts off a few samples, they are outliers and
    belong to no leaf. Cost is linear in the nonzeros of X for each level of the tree. X is nonnegative:
    counts, tf-idf weights, intensities; documents need tf-idf, unit length and the weights of the normalised
    cut first (docs/documents.md).

    Parameters
    ----------
    n_clusters : int, "auto" or None, default=8
        Number of leaves. None leaves it to `score_threshold`. "auto" chooses;
        `selection_` then says why (docs/how_many_clusters.md).
    score_threshold : float, default=None
        Leaves of a lower score are not split; 0 splits everything that can be. Scores by "mndcg" are between
        0 and 1, those by "energy" have the unit of X.
    outlier_trials : int, default=3
        T: a node is left whole when this many splits in a row only cut off outliers; 0 looks for none.
    outlier_ratio : float, default=30.0
        β: a part may be outliers if the other is at least this many times larger. With the thesis's 9, small
        subjects are taken for outliers, hundreds of documents of TDT2 for one (docs/evidence/documents.md).
    split : {"rank_two", "active_set", "k_means", "spherical_k_means"}, default="rank_two"
        How samples are divided; the others are for comparison.
    criterion : {"energy", "mndcg"}, default="energy"
        How the next leaf is found: by how well its parts would divide its terms and how much more of the
        samples they would explain, or by the former alone, as in the thesis, which does not count how many
        samples a leaf has.
    tol : float, default=5e-3
        A split stops when its projected gradient has fallen to this share of the first one.
    max_iter : int, default=500
        Largest number of iterations of a split.
    time_limit : float, default=None
        Seconds after which the tree is left as it is then, with one split at least.
    callback : callable, default=None
        Called after each split as in `NMF`: `iteration` is the number of splits so far, `objective` the score
        of the leaf that was split. Returning True stops. A `symclust.Checkpoint` keeps the work in a file.
    random_state : int, RandomState or None, default=None
        Where the searches for a start begin.

    Attributes
    ----------
    tree_ : Tree
        With each node's members, score and depth; ``data["terms"]`` are its features by falling weight,
        ``data["weights"]`` their weights.
    labels_ : ndarray of shape (n_samples,)
        Leaves from left to right; −1 for outliers and samples without features.
    membership_ : ndarray of shape (n_samples, n_clusters)
        A one at each sample's leaf; rows of outliers are zero.
    components_ : ndarray of shape (n_clusters, n_features)
        Term weights of the leaves, rows of unit length.
    outliers_ : ndarray of int
        Samples in no leaf.
    n_iter_ : int
        Iterations of all splits together.
    converged_ : bool
        Whether there are `n_clusters` leaves, or none that reaches the `score_threshold`.
    stop_reason_ : str
        Why it stopped.
    node_names_ : list or None
        Names of the samples: the index of a DataFrame, `obs_names` of an AnnData.
    timings_ : dict
        Seconds spent on ``"splits"``, ``"copies"`` of rows, ``"scores"``, added up over threads, and
        ``"total"``, by the clock.

    References
    ----------
    D. Kuang, Nonnegative matrix factorization for clustering (2014), chapters 5 and 6.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import HierarchicalNMF
    >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
    >>> model = HierarchicalNMF(3, random_state=0).fit(X)
    >>> len(set(model.labels_[::4])), model.outliers_.size
    (3, 0)
    >>> sorted(sorted(terms) for terms in model.top_terms(2))
    [[0, 1], [2, 3], [4, 5]]
    """

    _nonnegative: ClassVar[bool] = True
    _left_out: ClassVar[dict[str, str]] = {"_X": "flatten()"}

    def __init__(
        self,
        n_clusters: int | str | None = 8,
        *,
        score_threshold: float | None = None,
        outlier_trials: int = 3,
        outlier_ratio: float = 30.0,
        split: str = "rank_two",
        criterion: str = "energy",
        tol: float = 5e-3,
        max_iter: int = 500,
        time_limit: float | None = None,
        callback: Callable[[Any], object] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.score_threshold = score_threshold
        self.outlier_trials = outlier_trials
        self.outlier_ratio = outlier_ratio
        self.split = split
        self.criterion = criterion
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the tree. Ctrl-C keeps what has grown so far, and raises KeyboardInterrupt before that.

        Parameters
        ----------
        X : array-like, sparse, Dask array or tensor of shape (n_samples, n_features)
            Nonnegative. The blocks of a Dask array, dense or sparse, stay where they are while a node has
            many entries (docs/large_data.md). If X is a tensor of PyTorch, dense or sparse, nodes with many
            entries are split on its device.
        y : ignored
            For scikit-learn's conventions.
        """
        begun = time.perf_counter()
        self._check_options()
        ending = Growing(self.time_limit, self.callback)
        given, X = X, self._check_X(X, reset=True)
        wanted = np.inf if self.n_clusters is None else check_n_clusters(self.n_clusters, X.shape[0])
        if not isinstance(X, RowBlocks):
            data_are(X)
        elif is_recording():
            raise CombinationError("The samples lie with workers, and a checkpoint holds arrays in memory.")
        samples = self._read_samples(X, given)
        split = registry.resolve("hierarchy.topics.splits", self.split)
        score = registry.resolve("hierarchy.topics.scores", self.criterion)
        way = partial(split, tol=self.tol, max_iter=self.max_iter)
        trials = Trials(way, self.outlier_trials, self.outlier_ratio, score)
        random_state = check_random_state(self.random_state)
        growth = TopicGrowth(samples, X.shape[0], trials, random_state)
        with single_threaded_blas():
            growth.grow(
                wanted, self.score_threshold, lambda tree, node: ending.after(tree.n_splits, node.score)
            )
        self._store(growth, X.shape[1], X.dtype)
        self._X = given if isinstance(X, RowBlocks) else X  # flatten() explains all of it
        self._known = KnownRows(X)
        self._warn_of_degenerate(np.setdiff1d(np.arange(X.shape[0]), samples.members))
        self._store_end(wanted, ending)
        self.timings_["total"] = time.perf_counter() - begun
        return self

    def _check_X(self, X: Any, *, reset: bool) -> Any:
        X = rows_of_tensor(X) if is_tensor(X) else X
        if is_dask(X) or isinstance(X, RowBlocks):
            self._note_features(X, reset=reset)
            return X if isinstance(X, RowBlocks) else read_rows(X, type(self).__name__)
        checked = check_features(X, copy=reset)  # training samples are kept
        self._note_features(X, reset=reset)
        check_nonnegative(checked, type(self).__name__)
        return checked

    def _read_samples(self, X: Any, given: Any) -> AnySamples:
        if not isinstance(X, RowBlocks):
            check_range(X)
            return replace(DeviceSamples.of(X), device=given.device) if is_tensor(given) else Samples.of(X)
        check_range(np.array(X.gather(_largest)))
        samples = BlockSamples.of(X)
        if isinstance(samples, BlockSamples) and self.split != "rank_two":
            raise CombinationError(
                f"split={self.split!r} needs the samples of a node in one place, and this Dask array has "
                f"{int(samples.counts.sum()):,} entries, more than are gathered. Choose split='rank_two', or "
                "raise 'symclust.gathered-entries' in Dask's config if memory allows."
            )
        return samples

    def _check_options(self) -> None:
        check_known("split", self.split, registry.options("hierarchy.topics.splits"))
        check_known("criterion", self.criterion, registry.options("hierarchy.topics.scores"))
        check_number("outlier_trials", self.outlier_trials, least=0, whole=True)
        check_number("outlier_ratio", self.outlier_ratio, least=1)
        check_number("tol", self.tol, least=0)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        if self.score_threshold is not None:
            check_number("score_threshold", self.score_threshold, least=0)
        elif self.n_clusters is None:
            raise OptionError("n_clusters=None needs a score_threshold to stop at; give one of the two.")
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters)

    def _store(self, growth: TopicGrowth, n_features: int, dtype: Any) -> None:
        self.tree_ = growth.tree
        leaves = self.tree_.leaves()
        self.labels_ = self.tree_.cut(len(leaves))
        self.outliers_ = np.flatnonzero(self.labels_ < 0)
        self.components_ = np.zeros((len(leaves), n_features), dtype=dtype)
        for row, leaf in zip(self.components_, leaves, strict=True):
            row[leaf.data["terms"]] = leaf.data["weights"]
        clock = growth.clock
        self.n_iter_ = clock.n_iter
        self.timings_ = {"splits": clock.splits, "copies": clock.copies, "scores": clock.scores}

    def _store_end(self, wanted: float, ending: Growing) -> None:
        n_leaves, ended = self.tree_.n_splits + 1, ending.why(self.tree_, wanted)
        leaves = f"{n_leaves} {'leaf' if n_leaves == 1 else 'leaves'}"
        self.converged_ = not self.tree_.interrupted and n_leaves >= wanted
        if self.converged_:
            self.stop_reason_ = f"done: {leaves}"
        elif ended:
            self.stop_reason_ = ended
            ending.warn(type(self).__name__, self.tree_, ended)
        elif self.score_threshold is not None:
            self.converged_ = True
            self.stop_reason_ = f"done: no leaf reaches the threshold, at {leaves}"
        else:
            self.stop_reason_ = f"no leaf can be split further, at {leaves}"
            warn(
                f"{type(self).__name__} found only {leaves} of {wanted}: no leaf can be split further. This "
                "happens if samples are too similar, or if splits only cut off outliers (outlier_trials, "
                "outlier_ratio).",
                NotConvergedWarning,
            )

    def _warn_of_degenerate(self, empty: Array) -> None:
        if empty.size:
            first = empty[0] if self.node_names_ is None else self.node_names_[empty[0]]
            warn(
                f"{empty.size} of {len(self.labels_)} samples have no feature (the first: {first}) and "
                "belong to no leaf: their label is -1.",
                DegenerateWarning,
            )
        placed = self.labels_[self.labels_ >= 0]  # outliers are an answer, given in `outliers_`
        warn_of_degenerate(type(self).__name__, placed, len(self.components_), OF_FEATURES)

    def _saved_state(self, data: bool) -> dict[str, Any]:
        if data and "_X" in vars(self):
            refuse_to_save_blocks(self._X)
        return super()._saved_state(data)

    @property
    def membership_(self) -> Array:
        """Zeros and ones; made when asked for, since most of it is zero."""
        check_is_fitted(self, "tree_")
        return memberships_of(self.labels_, len(self.components_), self.components_.dtype)

    @property
    def _gives_degrees(self) -> bool:
        return False

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def snapshots(self) -> Iterator[Array]:
        """Yield the labels after every split, from two leaves on.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import HierarchicalNMF
        >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
        >>> [len(np.unique(labels)) for labels in HierarchicalNMF(3, random_state=0).fit(X).snapshots()]
        [2, 3]
        """
        check_is_fitted(self)
        for n_leaves in range(2, self.tree_.n_splits + 2):
            yield self.tree_.cut(n_leaves)

    def top_terms(self, n: int = 10, feature_names: Sequence[Any] | None = None) -> list[list[Any]]:
        """Return the features of largest weight of each leaf, from left to right.

        Parameters
        ----------
        n : int
            Features of a leaf at most.
        feature_names : sequence, optional
            Names of all features; by default those of the training data, or numbers.
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        known = getattr(self, "feature_names_in_", range(self.n_features_in_))
        names = known if feature_names is None else feature_names
        if len(names) != self.n_features_in_:
            raise InputError(f"feature_names has {len(names)} names; expected {self.n_features_in_}.")
        return [[names[j] for j in leaf.data["terms"][:n].tolist()] for leaf in self.tree_.leaves()]

    def flatten(self) -> FlatTopics:
        """Explain all training samples, outliers too, by the topics of all leaves at once: HierNMF2-flat.

        The topics are the leaves' `components_`; the memberships solve one nonnegative least squares problem
        for all samples (thesis, (95)).

        Returns
        -------
        FlatTopics
            With `labels_`, `membership_` and `components_`.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import HierarchicalNMF
        >>> X = np.kron(np.eye(3), np.ones((4, 2))) + 0.01
        >>> flat = HierarchicalNMF(3, random_state=0).fit(X).flatten()
        >>> flat.membership_.shape, np.bincount(flat.labels_).tolist()
        ((12, 3), [4, 4, 4])
        """
        check_is_fitted(self)
        X = self._check_X(self._X, reset=False) if is_dask(self._X) else self._X
        return FlatTopics.of(X, self.components_, self.node_names_)

    def transform(self, X: Any) -> Array:
        """Return the memberships of samples in the leaves' topics, as in `flatten`."""
        check_is_fitted(self)
        return memberships(self._check_X(X, reset=False), self.components_)

    def predict(self, X: Any) -> Array:
        """Return the topic of each sample.

        A sample seen in training keeps its label. An unseen one gets the topic of its largest membership in
        `transform`, −1 if no topic explains it.

        Parameters
        ----------
        X : array-like, sparse or Dask array of shape (n_samples, n_features)
            As in `fit`.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        labels = labels_of(memberships(X, self.components_))
        if "_known" in vars(self):  # not in files of older versions
            number = self._known.find(self._known.keys(X))
            labels = np.where(number < 0, labels, self.labels_[number])
        return labels

    def _restore(self) -> None:
        self.__dict__.pop("soft", None)  # a parameter of older versions


@dataclass(frozen=True, eq=False, repr=False)
class FlatTopics(PlacingAnswer):
    """Samples explained by all topics at once, HierNMF2-flat of the thesis.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The topic of the largest membership; −1 for a sample that no topic explains.
    membership_ : ndarray of shape (n_samples, n_topics)
        The memberships h ≥ 0 of each sample, min ‖x − Cᵀh‖² (95).
    components_ : ndarray of shape (n_topics, n_features)
        The topics C, rows of unit length.
    node_names_ : list or None
        Names of the samples.
    """

    labels_: Array
    membership_: Array
    components_: Array
    node_names_: list[Any] | None = None

    @classmethod
    def of(cls, X: Any, topics: Array, names: list[Any] | None = None) -> Self:
        """Explain the samples of X, dense or CSR, by topics of unit length."""
        membership = memberships(X, topics)
        return cls(labels_of(membership), membership, topics, names)

    def place(self, X: Any) -> Placement:
        """Return new samples explained by the topics.

        Parameters
        ----------
        X : array-like, sparse or Dask array of shape (n_samples, n_features)
            Nonnegative, with the features of the fit.
        """
        rows = read_rows(X, type(self).__name__) if is_dask(X) else check_features(X)
        if rows.shape[1] != self.components_.shape[1]:
            raise InputError(
                f"X has {rows.shape[1]} features, and the topics have {self.components_.shape[1]}: give the "
                "features of the fit, in the same order."
            )
        if not isinstance(rows, RowBlocks):
            check_nonnegative(rows, type(self).__name__)
        H = memberships(rows, self.components_)
        return Placement(labels_of(H), H, sample_names(X))


def memberships(X: Any, topics: Array) -> Array:
    """Solve (95) for all samples by one nonnegative least squares problem on the normal equations."""
    if isinstance(X, RowBlocks):
        return np.concatenate(X.gather(memberships, topics))
    C = np.ascontiguousarray(topics.T)
    with single_threaded_blas():
        G = C.T @ C
    if sparse.issparse(X):
        csr = read_csr(X)
        R = np.empty((csr.shape[0], C.shape[1]), dtype=csr.dtype)
        spmm(csr.indptr, csr.indices, csr.data, C.astype(csr.dtype, copy=False), R)
    else:
        R = dense_product(X, C.astype(X.dtype, copy=False))
    return block_pivoting(G.astype(R.dtype, copy=False), R)


def read_rows(X: Any, who: str) -> RowBlocks:
    """Return the rows of a Dask array of nonnegative numbers as blocks of CSR, without stored zeros."""
    blocks = RowBlocks.of(X)
    return blocks.numbered(_checked_rows, blocks.dtype, who)


def _checked_rows(rows: Any, start: int, dtype: np.dtype[Any], who: str) -> sparse.csr_array:
    try:
        checked = check_features(rows)
        check_nonnegative(checked, who)
    except (InputError, InputTypeError) as error:
        where = f"Rows are counted from row {start} of X on, where a block of the Dask array begins."
        raise type(error)(f"{error} {where}") from error
    csr = sparse.csr_array(checked, dtype=dtype, copy=True)  # what was given is not ours to change
    csr.eliminate_zeros()
    return csr


def refuse_to_save_blocks(X: Any) -> None:
    """Refuse to write training data to a file that are in blocks on other machines."""
    if is_dask(X) or isinstance(X, RowBlocks):
        raise CombinationError(
            "The training data are a Dask array, which a file cannot hold: save with data=False. The model "
            "then places samples as before, and only flatten() is missing."
        )


def _largest(rows: sparse.csr_array) -> float:
    return rows.data.max(initial=0)
