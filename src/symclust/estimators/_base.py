"""The base of all estimators: scikit-learn's conventions, input, names, placing of unseen samples."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from symclust import registry
from symclust._labels import (
    NOWHERE,
    OF_SIMILARITIES,
    leave_out_isolated,
    memberships_of,
    warn_of_degenerate,
)
from symclust._types import Array, Data, RandomState
from symclust.assign_labels import Argmax
from symclust.estimators._fitted import Fitted
from symclust.estimators._stability import Stability, by_parts
from symclust.exceptions import CombinationError, InputError, InputTypeError, warn
from symclust.inputs.annotated import part_of_annotated
from symclust.inputs.features import feature_table
from symclust.inputs.placing import Placed, Placer
from symclust.inputs.reading import input_tags, read_similarity
from symclust.inputs.similarity import Attributed, Similarity
from symclust.left_stochastic import negative_part
from symclust.operators import Operator, graph_names
from symclust.solvers import HISTORY, Result
from symclust.storage import Checkpoint, data_are, is_recording, recording
from symclust.validation import check_features, check_known, check_number, is_a, is_similarity, sample_names

MOSTLY_ZEROS = 0.5  # of the similarities: in a graph, unlike among all pairs, columns of H hardly overlap


class Clusterer(Fitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """A clustering method with scikit-learn's conventions.

    A fit that fails or is interrupted leaves the model as it was before. ``n_clusters="auto"`` is resolved
    here, for all of them: a model with the chosen number is fitted, and its attributes are taken over.
    """

    _nonnegative: ClassVar[bool] = False  # whether negative entries are refused
    # Whether a fit with a given number of clusters uses `random_state`; the choice of the number always does.
    _fits_by_chance: ClassVar[bool] = True
    # Models that have no such parameter, or whose file is older than it, read labels off the largest entry.
    _by_default: ClassVar[dict[str, Any]] = Fitted._by_default | {"assign_labels": "argmax"}
    assign_labels: str

    def __init_subclass__(cls, **options: Any) -> None:
        """Wrap `fit` and `partial_fit` of a subclass."""
        super().__init_subclass__(**options)
        if "fit" in cls.__dict__:
            cls.fit = _all_or_nothing(_with_checkpoints(_with_chosen_number(cls.fit)))
        if "partial_fit" in cls.__dict__:
            cls.partial_fit = _all_or_nothing(_without_checkpoints(cls.partial_fit))

    def _check_options(self) -> None:
        """Refuse what can be refused before anything is computed."""
        check_known("assign_labels", self.assign_labels, ("auto", *registry.options("assign_labels")))

    def _learn_assignment(self, H: Any, best: str) -> None:
        """Learn how labels are read off the memberships of training samples; "auto" is `best`."""
        name = best if self.assign_labels == "auto" else self.assign_labels
        seed = check_random_state(self.random_state).randint(2**31 - 1) if name == "kmeans" else 0
        self.assignment_ = registry.resolve("assign_labels", name)(H, seed)

    def _labels_of(self, H: Any) -> Array:
        """The cluster of each row of memberships."""
        return vars(self).get("assignment_", Argmax())(H)

    def _saved_state(self, data: bool) -> dict[str, Any]:
        """The attributes to save: no callback, and parameters given as arrays only with the data."""
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

    def _note_features(self, X: Any, *, reset: bool = True) -> None:
        """Keep or compare the number and names of features, by scikit-learn's rules.

        A fit also keeps the names of the samples. Values were checked before.
        """
        validate_data(self, feature_table(X), reset=reset, skip_check_array=True)
        if reset:
            self.node_names_ = sample_names(X)

    def _input_tags(self) -> dict[str, bool]:
        """The tags of X for scikit-learn."""
        return {"sparse": True, "positive_only": self._nonnegative}

    def _repr_html_inner(self) -> str:
        """The diagram of scikit-learn for notebooks, below a summary of a fitted model."""
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


# scikit-learn explains these at length: a third of what ``help(SymNMF)`` would show.
BRIEF = {
    "fit_predict": "Fit, and return `labels_`.",
    "get_feature_names_out": "Return the names of the columns of `transform`.",
    "get_metadata_routing": "Return scikit-learn's metadata routing of this object.",
    "get_params": "Return the parameters as a dict, with `deep` those of nested estimators, too.",
    "set_output": "Choose the container of `transform`: 'default', 'pandas' or 'polars'.",
    "set_params": "Set parameters by name, and return the estimator.",
}


def _briefly(name: str) -> Callable[..., Any]:
    method = getattr(Clusterer, name)

    @wraps(method)
    def brief(self: Any, *args: Any, **kwargs: Any) -> Any:
        return method(self, *args, **kwargs)

    brief.__doc__ = BRIEF[name]
    return brief


for _name in BRIEF:
    setattr(Clusterer, _name, _briefly(_name))


def _holds_data(value: Any) -> bool:
    """Whether a parameter is an array, a graph or an operator, or several of them."""
    if isinstance(value, tuple | list):
        return any(map(_holds_data, value))
    return hasattr(value, "shape") or graph_names(value) is not None


def _with_chosen_number(fit: Any) -> Any:
    @wraps(fit)
    def wrapped(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if not (isinstance(self.n_clusters, str) and self.n_clusters == "auto"):
            self.__dict__.pop("selection_", None)  # of an earlier fit
            return fit(self, X, y, **fit_params)
        # The choice is written with estimators, and so stands above this file.
        from symclust.selection import choose_for, fit_chosen

        return fit_chosen(self, X, choose_for(self, X), **fit_params)

    return wrapped


def _with_checkpoints(fit: Any) -> Any:
    @wraps(fit)
    def wrapped(self: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
        checkpoint = getattr(self, "callback", None)
        if not isinstance(checkpoint, Checkpoint) or is_recording():  # of the fit that this one is part of
            return fit(self, X, y, **fit_params)
        with recording(checkpoint, type(self), self.get_params(deep=False)):
            return fit(self, X, y, **fit_params)

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
    """A clustering method for pairwise similarities."""

    _nonnegative: ClassVar[bool] = True
    # Whether the method normalises for itself: graphs are then taken before the normalised cut.
    _normalizes: ClassVar[bool] = False
    _left_out: ClassVar[dict[str, str]] = {
        "_training": "placing samples",
        "_made": "placing samples",
        "affinity_matrix_": "their similarities",
    }

    @property
    def _nouns(self) -> tuple[str, str]:
        words = str(getattr(self, "affinity_", ""))
        is_network = "network" in words or words.startswith("edges and features")
        return "node" if is_network else "sample", "cluster"

    def _read(self, X: Any) -> Similarity:
        similarity = self.__dict__.pop("_already_read", None)  # for the choice of the number of clusters
        X, params = part_of_annotated(X, self.affinity_params)
        if similarity is None:
            similarity = read_similarity(X, self.affinity, params, self._normalizes)
        if isinstance(self.n_clusters, int | np.integer):
            similarity = similarity.for_clusters(int(self.n_clusters))
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
        """Keep the answer, and the similarities that place unseen samples."""
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
        """The cluster of each training sample."""
        self._learn_assignment(H, self._best_assignment(A))
        return self._labels_of(H)

    def _best_assignment(self, A: Operator) -> str:
        """The rule of "auto": if most similarities are 0, no column swallows the rest."""
        return "argmax" if A.share_of_zeros() >= MOSTLY_ZEROS else "scaled"

    def _keep(self, similarity: Similarity) -> None:
        """Keep the means of placing unseen samples; given similarities are read before they can change."""
        self._training = similarity.kept()
        self._made: dict[str, Placer] = {}
        if similarity.rule.samples is None:
            self._made["placer"] = self._make_placer(self._training)

    @property
    def _placer(self) -> Placer:
        """The placer of unseen samples, made at its first use."""
        if "placer" not in self._made:  # in a dict, since scikit-learn allows no new attribute after fit
            self._made["placer"] = self._make_placer(self._training)
        return self._made["placer"]

    def _make_placer(self, similarity: Similarity) -> Placer:
        return Placer(similarity, self.membership_)

    def stability(self, n_repeats: int = 10, random_state: RandomState = None) -> Stability:
        """How well the clusters hold if a third of the samples are left out, `n_repeats` times.

        It says how often `samples` and `clusters` come back, and which `pairs` of clusters run into each
        other, at the cost of about half as many fits as repeats.
        """
        check_is_fitted(self)
        check_number("n_repeats", n_repeats, least=1, whole=True)
        return by_parts(self, n_repeats, check_random_state(random_state))

    def _warn_of_degenerate(self, n_clusters: int) -> None:
        advice, distinct = OF_SIMILARITIES, self._training.n_distinct
        if distinct < n_clusters:
            advice = advice._replace(
                clusters=f"Only {distinct} samples are distinct, and copies have one label."
            )
        warn_of_degenerate(type(self).__name__, self.labels_, n_clusters, advice, self.node_names_)

    def fit_transform(self, X: Data, y: object = None, **fit_params: Any) -> Array:
        """Fit, and return `membership_` in the form of `transform`."""
        return self._as_output(self.fit(X, y, **fit_params).membership_, X)

    def transform(self, X: Data) -> Array:
        """Memberships of samples, sparse if `membership_` is; that of a training sample is its row there.

        X has the features of `fit`, or similarities to the training samples, weights of edges to their nodes,
        or new `AttributedNodes`. The row h of an unseen one explains its similarities a best: min ‖a − Hh‖².
        """
        return self._as_output(self._place(X).H, X)

    def _as_output(self, H: Any, X: Any) -> Any:
        """Sparse memberships in the container of `set_output`; scikit-learn does so for dense ones alone."""
        wanted = _get_output_config("transform", self)["dense"]
        if not sparse.issparse(H) or wanted == "default":
            return H
        if wanted != "pandas":
            raise CombinationError(
                f"The memberships, {H.shape[0]} × {H.shape[1]}, are sparse, which {wanted} has no table for. "
                "Use set_output(transform='pandas') or 'default'."
            )
        import pandas

        index = X.index if is_a(X, "pandas", "DataFrame") else None
        return pandas.DataFrame.sparse.from_spmatrix(H, index, self.get_feature_names_out())

    def predict(self, X: Data) -> Array:
        """Cluster of each sample: its label in training, else by `transform`; −1 if it is similar to none."""
        placed = self._place(X)
        labels = self._labels_of(placed.H)
        labels[placed.is_isolated] = NOWHERE
        known = placed.known >= 0
        labels[known] = self.labels_[placed.known[known]]
        return labels

    def score(self, X: Data, y: object = None) -> float:
        """Agreement of clusters with similarities held out, for ``GridSearchCV``; 0 is chance, 1 the most."""
        X = self._check_new(X)
        return self._placer.score(X, self.labels_, self._labels_of)

    def _place(self, X: Any) -> Placed:
        X = self._check_new(X)
        return self._placer.place(X)

    def _check_new(self, X: Any) -> Any:
        """Samples to be placed as an array of the right width."""
        check_is_fitted(self)
        rule = self._training.rule
        if isinstance(rule, Attributed):
            return rule.read_nodes(X)
        self._refuse_similarity(X)
        X, _ = part_of_annotated(X, self.affinity_params)
        plan = self.__dict__.get("preparation_")
        X = plan.apply(X) if plan is not None and is_a(X, "pandas", "DataFrame") else X
        checked = check_features(X)
        if checked.shape[1] != self.n_features_in_:
            given = ": the similarities of each new sample to the training samples"
            given = "" if rule.origin == "samples" else given
            raise InputError(
                f"X has {checked.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input{given}."
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

    A sample that is similar to no other has label −1 and a row of zeros, unless it is a cluster by itself. An
    unseen one goes to the cluster whose samples it is most similar to on average; `transform` returns these
    averages.
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
    """The outcome of a method with a loop of its own in the form of the common one."""
    objectives = np.atleast_1d(np.asarray(objective if objectives is None else objectives, dtype=np.float64))
    history = np.zeros(len(objectives), dtype=HISTORY).view(np.recarray)
    history.iteration = np.arange(1, len(objectives) + 1)
    history.seconds = 0.0 if seconds is None else seconds
    history.objective = objectives
    return Result(H, float(objective), 0.0, 1.0, history, converged, stop_reason, interrupted)


def is_given(similarity: Similarity) -> bool:
    """Whether the similarity was given as numbers; graphs have zeros on their diagonals on purpose."""
    return similarity.rule.samples is None and similarity.rule.origin != "graph"


def warn_of_negative_part(similarity: Similarity, name: str) -> None:
    """Warn of the share of negative eigenvalues, which a method cuts, in a given similarity."""
    if not is_given(similarity):
        return
    lowest, share = negative_part(similarity.operator)
    if share > 0:
        warn(
            f"The similarity has negative eigenvalues (down to {lowest:.3g}), which {name} cuts: about "
            f"{100 * share:.2g} % of its squared norm."
        )
