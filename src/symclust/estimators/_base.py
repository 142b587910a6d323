"""What all estimators share: scikit-learn's conventions, input, naming, placing unseen samples."""

from __future__ import annotations

from contextlib import suppress
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from symclust._labels import (
    NOWHERE,
    OF_SIMILARITIES,
    labels_of,
    leave_out_isolated,
    memberships_of,
    warn_of_degenerate,
)
from symclust._reporting import Reporting
from symclust._types import Array
from symclust.estimators._communities import (
    Communities,
    communities,
    members_by_label,
    members_by_share,
    sample_table,
)
from symclust.exceptions import CombinationError, InputError, InputTypeError, SymclustError, warn
from symclust.inputs.features import feature_table
from symclust.inputs.placing import Placed, Placer
from symclust.inputs.reading import input_tags, read_similarity
from symclust.inputs.similarity import Attributed, Similarity
from symclust.left_stochastic import negative_part
from symclust.operators import Operator, graph_names
from symclust.solvers import HISTORY, Result
from symclust.storage import Checkpoint, Savable, data_are, is_recording, recording
from symclust.validation import check_features, check_number, is_a, is_similarity, sample_names

REHEARSED = 1 << 22  # memberships of a loaded model up to which its methods are tried: 0.1 s


class Clusterer(
    Savable, Reporting, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """A clustering method as scikit-learn knows them.

    A fit that fails or is interrupted leaves the model as it was before. ``n_clusters="auto"`` is resolved
    here, for all of them: the number is chosen, a model with that number is fitted, and what it has learned
    is taken over.
    """

    _nonnegative: ClassVar[bool] = False  # whether negative entries are refused
    # Whether a fit with a given number of clusters uses `random_state`; the choice of the number always does.
    _fits_by_chance: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "fit" in cls.__dict__:
            cls.fit = _all_or_nothing(_with_checkpoints(_with_chosen_number(cls.fit)))
        if "partial_fit" in cls.__dict__:
            cls.partial_fit = _all_or_nothing(_without_checkpoints(cls.partial_fit))

    def _check_options(self) -> None:
        """Refuse what can be refused before anything is computed."""

    def _saved_state(self, data: bool) -> dict[str, Any]:
        """Return what is saved: no callback, and parameters given as arrays only with the data."""
        state = super()._saved_state(data)
        if not data and state.get("preparation_") is not None:
            state["preparation_"] = state["preparation_"].without_rows()
        for name, parameter in signature(type(self)).parameters.items():
            if name == "callback" or (not data and _holds_data(state[name])):
                state[name] = None if name == "callback" else parameter.default
            elif callable(state[name]):
                raise InputTypeError(
                    f"{name} is a function, and files of models hold no code. Fit the model with what the "
                    "function returns, for example with affinity='precomputed', to save it."
                )
        return state

    def _check_restored(self) -> None:
        labels, names = self.labels_, self.__dict__.get("node_names_")
        membership = self.__dict__.get("membership_")
        n_clusters = labels.size if membership is None else membership.shape[1]
        are_numbers = labels.ndim == 1 and labels.dtype.kind == "i" and labels.size > 0
        if not are_numbers or labels.min() < NOWHERE or labels.max() >= n_clusters:
            raise ValueError(f"labels that are not numbers of {n_clusters} clusters")
        if names is not None and len(names) != labels.size:
            raise ValueError(f"{len(names)} names of {labels.size} samples")
        if membership is not None and membership.shape[0] != labels.size:
            raise ValueError(f"memberships of shape {membership.shape} of {labels.size} samples")
        if labels.size * (int(labels.max()) + 1) > REHEARSED:
            return
        super()._check_restored()
        for name in ("predict", "score"):
            if hasattr(type(self), name):
                with suppress(SymclustError):  # saved without data, or of attributed graphs
                    getattr(self, name)(np.ones((1, self.n_features_in_)))

    def _note_features(self, X: Any, *, reset: bool = True) -> None:
        """Keep or compare the number and names of features, by scikit-learn's rules.

        A fit also keeps the names of the samples. Values were checked before.
        """
        validate_data(self, feature_table(X), reset=reset, skip_check_array=True)
        if reset:
            self.node_names_ = sample_names(X)

    @property
    def _gives_degrees(self) -> bool:
        """Whether memberships are degrees, and not the labels written as zeros and ones."""
        return True

    def communities(self, threshold: float | None = None) -> Communities:
        """Return the members of each cluster, by name where samples have names and by number otherwise.

        Parameters
        ----------
        threshold : float above 0 and at most 1, default=None
            None puts each sample into the cluster of its label. A number t lets clusters overlap: sample i
            belongs to every cluster l with h_il > 0 and h_il ≥ t max_m h_im. A sample with label −1 is in
            none either way. Estimators that give labels without degrees return the same clusters for every
            threshold.

        Returns
        -------
        Communities
            One list of members per cluster. It also knows the clusters of each node:
            ``clusters_of(node)`` is the set of their numbers, and ``by_node`` the dict of all these sets.

        Examples
        --------
        Two circles of friends who share one:

        >>> import networkx as nx
        >>> from symclust import SymNMF
        >>> graph = nx.Graph(["ab", "ac", "bc", "cd", "ce", "de"])
        >>> model = SymNMF(2, affinity="precomputed", tol=1e-6, random_state=0).fit(graph)
        >>> sorted(len(members) for members in model.communities())
        [2, 3]
        >>> shared = model.communities(threshold=0.5)
        >>> sorted(shared)
        [['a', 'b', 'c'], ['c', 'd', 'e']]
        >>> {node: len(clusters) for node, clusters in shared.by_node.items()}
        {'a': 1, 'b': 1, 'c': 2, 'd': 1, 'e': 1}
        >>> shared.clusters_of("c")
        {0, 1}
        """
        check_is_fitted(self)
        nodes = self.node_names_ if self.node_names_ is not None else range(len(self.labels_))
        if threshold is None:
            return communities(members_by_label(self.labels_, self._n_features_out), nodes)
        check_number("threshold", threshold, least=0, most=1, exclusive=True)
        return communities(members_by_share(self.membership_, self.labels_, threshold), nodes)

    def to_dataframe(self) -> Any:
        """Return what was found as a table with one row per sample.

        Returns
        -------
        DataFrame
            The index holds the names of the samples, or their numbers. The columns are `label`, −1 for a
            sample in no cluster; `confidence`, the largest membership of the sample divided by the sum of its
            memberships, from 1/k for one that belongs equally to k clusters to 1 for one that belongs to a
            single cluster; and `cluster_0`, `cluster_1`, ..., the columns of `membership_`. The confidence is
            NaN for samples in no cluster, and for methods that give labels without degrees.

        Examples
        --------
        >>> import pandas as pd
        >>> from symclust import NMF
        >>> X = pd.DataFrame({"x": [4, 3, 0], "y": [0, 1, 2]}, index=["ann", "bob", "cem"])
        >>> print(NMF(2).fit(X).to_dataframe().round(2).to_string(index_names=False))
             label  confidence  cluster_0  cluster_1
        ann      0        1.00        4.0        0.0
        bob      0        0.75        3.0        1.0
        cem      1        1.00        0.0        2.0
        """
        check_is_fitted(self)
        return sample_table(self.labels_, self.membership_, self.node_names_, self._gives_degrees)

    def _input_tags(self) -> dict[str, bool]:
        """Return what scikit-learn asks about X."""
        return {"sparse": True, "positive_only": self._nonnegative}

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram for notebooks, below what was found once the model is fitted."""
        return self._with_summary(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._with_summary(bundle["text/html"])
        return bundle

    def _with_summary(self, diagram: str) -> str:
        return self._summary_html() + diagram if hasattr(self, "labels_") else diagram

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._input_tags().items():
            setattr(tags.input_tags, name, value)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _holds_data(value: Any) -> bool:
    """Whether a parameter is an array, a graph or an operator, or several of them."""
    if isinstance(value, tuple | list):
        return any(map(_holds_data, value))
    return hasattr(value, "shape") or graph_names(value) is not None


def _with_chosen_number(fit: Any) -> Any:
    @wraps(fit)
    def wrapped(self: Any, X: Any, y: Any = None) -> Any:
        if not (isinstance(self.n_clusters, str) and self.n_clusters == "auto"):
            self.__dict__.pop("selection_", None)  # of an earlier fit
            return fit(self, X, y)
        # What chooses is written with estimators, and so stands above this file.
        from symclust.selection import choose_for, fit_chosen

        return fit_chosen(self, X, choose_for(self, X))

    return wrapped


def _with_checkpoints(fit: Any) -> Any:
    @wraps(fit)
    def wrapped(self: Any, X: Any, y: Any = None) -> Any:
        checkpoint = getattr(self, "callback", None)
        if not isinstance(checkpoint, Checkpoint) or is_recording():  # of the fit that this one is part of
            return fit(self, X, y)
        with recording(checkpoint, type(self), self.get_params(deep=False)):
            return fit(self, X, y)

    return wrapped


def _without_checkpoints(partial_fit: Any) -> Any:
    @wraps(partial_fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(getattr(self, "callback", None), Checkpoint):
            raise CombinationError(
                "partial_fit keeps no checkpoints: a file would hold one batch of many. Set callback=None, "
                "and save the model between batches."
            )
        return partial_fit(self, *args, **kwargs)

    return wrapped


def _all_or_nothing(fit: Any) -> Any:
    @wraps(fit)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return wrapped


class SimilarityEstimator(Clusterer):
    """A clustering method that sees its samples through pairwise similarities."""

    _nonnegative: ClassVar[bool] = True
    # Whether the method normalises for itself: graphs are then taken before the normalised cut.
    _normalizes: ClassVar[bool] = False
    _left_out: ClassVar[dict[str, str]] = {
        "_training": "placing samples",
        "_made": "placing samples",
        "affinity_matrix_": "their similarities",
    }

    def _read(self, X: Any) -> Similarity:
        similarity = self.__dict__.pop("_already_read", None)  # for the choice of the number of clusters
        if similarity is None:
            similarity = read_similarity(X, self.affinity, self.affinity_params, self._normalizes)
        data_are(similarity.operator)
        self.affinity_ = similarity.words
        if is_similarity(X):
            self.n_features_in_ = similarity.operator.n
            self.__dict__.pop("feature_names_in_", None)
        else:
            self._note_features(X)
        self.preparation_ = plan = similarity.preparation
        if plan is not None:  # features are those that the plan makes
            validate_data(self, plan.header(), reset=True, skip_check_array=True)
        return similarity

    def _store(self, similarity: Similarity, best: Result) -> None:
        """Keep the answer, and what is needed to place unseen samples."""
        self.affinity_matrix_ = similarity.operator.matrix
        self.node_names_ = similarity.names
        self.membership_ = best.H
        self.labels_ = similarity.share(self._fit_labels(best.H, similarity.operator))
        self.objective_ = best.objective
        self.history_ = best.history
        self.n_iter_ = best.n_iter
        self.converged_ = best.converged
        self.stop_reason_ = best.stop_reason
        self._keep(similarity)
        best.warn(type(self).__name__)
        self._warn_of_degenerate(self._n_features_out)

    def _fit_labels(self, H: Array, A: Operator) -> Array:
        """Return the cluster of each training sample."""
        return self._labels_of(H)

    def _labels_of(self, H: Array) -> Array:
        """Return the cluster of each row of memberships."""
        return labels_of(H)

    def _keep(self, similarity: Similarity) -> None:
        """Keep what places unseen samples; similarities that were given are read before they can change."""
        self._training = similarity.kept()
        self._made: dict[str, Placer] = {}
        if similarity.rule.samples is None:
            self._made["placer"] = self._make_placer(self._training)

    @property
    def _placer(self) -> Placer:
        """What finds the memberships of unseen samples, made when it is first asked for."""
        if "placer" not in self._made:  # in a dict, since scikit-learn allows no new attribute after fit
            self._made["placer"] = self._make_placer(self._training)
        return self._made["placer"]

    def _make_placer(self, similarity: Similarity) -> Placer:
        return Placer(similarity, self.membership_)

    @property
    def network_(self) -> Any:
        """The weights of the edges of the network that was fitted, as a csr_array.

        None if the model was fitted to samples or similarities, or was loaded without its data.
        """
        check_is_fitted(self)
        return self._training.network if "_training" in vars(self) else None

    def _warn_of_degenerate(self, n_clusters: int) -> None:
        advice, distinct = OF_SIMILARITIES, self._training.n_distinct
        if distinct < n_clusters:
            advice = advice._replace(
                clusters=f"Only {distinct} samples are distinct, and copies have one label."
            )
        warn_of_degenerate(type(self).__name__, self.labels_, n_clusters, advice, self.node_names_)

    @property
    def _n_features_out(self) -> int:
        return self.membership_.shape[1]

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit and return the memberships of the samples, `membership_`."""
        return self.fit(X).membership_

    def transform(self, X: Any) -> Array:
        """Return the memberships of samples, n_samples × n_clusters.

        A sample seen in training keeps its row of `membership_`. An unseen one gets the row h that explains
        its similarities a to the training samples best: min ‖a − Hh‖² over h ≥ 0, or over the rows that the
        constraint of the model allows.

        Parameters
        ----------
        X : array-like or sparse
            Samples × features as in `fit`; with ``affinity="precomputed"``, or after fitting an operator, the
            similarities of the samples to the training samples; after fitting a graph, the weights of the
            edges between new nodes and the graph's nodes; after fitting an `AttributedGraph`, its new nodes
            as `AttributedNodes`.
        """
        return self._place(X).H

    def predict(self, X: Any) -> Array:
        """Return the cluster of each sample, read off its row of `transform` like `labels_`.

        A sample seen in training keeps its label. One without any similarity to the training samples belongs
        to no cluster: its label is −1.
        """
        placed = self._place(X)
        labels = self._labels_of(placed.H)
        labels[placed.is_isolated] = NOWHERE
        known = placed.known >= 0
        labels[known] = self.labels_[placed.known[known]]
        return labels

    def score(self, X: Any, y: Any = None) -> float:
        r"""Return how well clusters predict similarities that were held out; larger is better.

        The training samples are divided into two fixed halves. Each sample of X is placed by its similarities
        to one half, as `predict` does, and its similarities to the other half are compared with that, both
        ways:

        .. math:: \frac{Q}{\sqrt{M}}, \qquad
                  Q = \frac{\sum_i \left(a_i(C_i) - p(C_i) \, a_i\right)}{\sum_i a_i}, \qquad
                  M = \frac{\sum_i \left(1 - p(C_i)\right) a_i}{\sum_i a_i}

        with :math:`a_i(C_i)` the similarity of sample i to the held-out samples of its cluster, :math:`a_i`
        that to all of them, and :math:`p(C)` the share of a cluster in their degrees. Q is the modularity of
        what was held out, and M the largest value it can have. The score is the geometric mean of Q, which
        falls where clusters are merged, and Q/M, which falls where they are split: it does not grow with the
        number of clusters by itself, and ``GridSearchCV`` without `scoring` finds a number that the data
        support.

        The score of k clusters of one size without a similarity between them is √(1 − 1/k), that of one
        cluster or of labels by chance 0. Samples seen in training are treated like unseen ones.

        Parameters
        ----------
        X : array-like or sparse
            As in `transform`.
        y : ignored
            For scikit-learn's conventions.

        Examples
        --------
        >>> import numpy as np
        >>> from symclust import SymNMF
        >>> A = np.kron(np.eye(3), np.ones((8, 8)))
        >>> scores = [SymNMF(k, affinity="precomputed", random_state=0).fit(A).score(A) for k in (1, 2, 3)]
        >>> np.round(scores, 2).tolist()
        [0.0, 0.66, 0.79]
        """
        X = self._check_new(X)
        return self._placer.score(X, self.labels_, self._labels_of)

    def _place(self, X: Any) -> Placed:
        X = self._check_new(X)
        return self._placer.place(X)

    def _check_new(self, X: Any) -> Any:
        """Return samples to be placed as an array of the right width."""
        check_is_fitted(self)
        rule = self._training.rule
        if isinstance(rule, Attributed):
            return rule.read_nodes(X)
        self._refuse_similarity(X)
        plan = self.__dict__.get("preparation_")
        X = plan.apply(X) if plan is not None and is_a(X, "pandas", "DataFrame") else X
        checked = check_features(X)
        if checked.shape[1] != self.n_features_in_:
            pairs = ": the similarities of each new sample to the training samples" * rule.takes_pairs
            raise InputError(
                f"X has {checked.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input{pairs}."
            )
        self._note_features(X, reset=False)
        return checked

    def _refuse_similarity(self, X: Any) -> None:
        if is_similarity(X):
            raise InputTypeError(
                f"New samples cannot be read from a {type(X).__name__}: give an array or sparse matrix with "
                f"one row per sample and its similarities to the {self.n_features_in_} training samples."
            )

    def _input_tags(self) -> dict[str, bool]:
        tags = input_tags(self.affinity, self.affinity_params)
        return {**tags, "positive_only": tags["positive_only"] and self._nonnegative}


class HardEstimator(SimilarityEstimator):
    """A clustering method that gives labels; `membership_` has a one in each row.

    A sample that is similar to no other gives such a method nothing to place it by: it has label −1 and a row
    of zeros, unless it is a cluster by itself.

    An unseen sample goes to the cluster whose samples it is most similar to on average; `transform` returns
    these averages for unseen samples.
    """

    _nonnegative: ClassVar[bool] = False

    @property
    def _gives_degrees(self) -> bool:
        return False

    def _store_labels(self, similarity: Similarity, labels: Array, n_clusters: int, **outcome: Any) -> None:
        labels = similarity.share(leave_out_isolated(labels, similarity.operator))
        H = memberships_of(labels, n_clusters, similarity.operator.dtype)
        self._store(similarity, as_result(H, **outcome))


def as_result(
    H: Array,
    objective: float,
    objectives: Any = None,
    seconds: Any = None,
    converged: bool = True,
    stop_reason: str = "done: the method has no iterations of its own",
    interrupted: bool = False,
) -> Result:
    """Return an outcome in the words of the loop, for methods that it does not run."""
    objectives = np.atleast_1d(np.asarray(objective if objectives is None else objectives, dtype=np.float64))
    history = np.zeros(len(objectives), dtype=HISTORY).view(np.recarray)
    history.iteration = np.arange(1, len(objectives) + 1)
    history.seconds = 0.0 if seconds is None else seconds
    history.objective = objectives
    return Result(H, float(objective), 0.0, 1.0, history, converged, stop_reason, interrupted)


def is_given(similarity: Similarity) -> bool:
    """Whether the user gave the similarity as numbers.

    Others have zeros on their diagonals on purpose: that they have negative eigenvalues is no news.
    """
    return similarity.rule.samples is None and not similarity.rule.is_graph


def warn_of_negative_part(similarity: Similarity, name: str) -> None:
    """Say how much of a given similarity lies in negative eigenvalues, which a method cuts."""
    if not is_given(similarity):
        return
    lowest, share = negative_part(similarity.operator)
    if share > 0:
        warn(
            f"The similarity has negative eigenvalues (down to {lowest:.3g}), which {name} cuts: about "
            f"{100 * share:.2g} % of its squared norm."
        )
