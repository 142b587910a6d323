"""How many clusters? The question of a user, put to the methods of `symclust.selection`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from symclust import registry
from symclust._threads import raising_interrupts
from symclust._types import Data, RandomState
from symclust.estimators._base import Clusterer, SimilarityEstimator
from symclust.estimators.hierarchical_sym_nmf import HierarchicalSymNMF
from symclust.exceptions import InputTypeError, OptionError
from symclust.inputs.similarity import Similarity
from symclust.operators import Operator, is_dask
from symclust.selection import Features, Method, Pairs, Progress, Selection, Study
from symclust.selection.methods.auto import Auto
from symclust.storage import Checkpoint, data_are, is_recording, recording
from symclust.validation import (
    check_features,
    check_known,
    check_nonnegative,
    check_similarity,
    is_similarity,
)

__all__ = ["select_n_clusters"]

CANDIDATES = range(2, 11)  # of methods that fit each of them


def select_n_clusters(
    X: Data,
    estimator: BaseEstimator | None = None,
    candidates: Iterable[int] | None = None,
    method: str | Method = "auto",
    *,
    method_params: dict[str, Any] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    callback: Callable[[Progress], object] | None = None,
) -> Selection:
    """Return how many clusters there are, with the evidence.

    Parameters
    ----------
    X : array-like, sparse, graph, AttributedGraph or Operator
        What the estimator takes.
    estimator : estimator, default=None
        Any clusterer of symclust or scikit-learn with a parameter `n_clusters` or `n_components`. It is
        cloned, never fitted itself. None takes `HierarchicalSymNMF`, whose tree gives all candidates in one
        growth; X is then samples × features or a graph.
    candidates : iterable of int, default=None
        The numbers to try, each at least 2; 1 need not be given. By default "auto" compares all numbers, and
        the other methods try 2 to 10.
    method : str or object, default="auto"
        - "auto": by the graph that an estimator on similarities would cluster, without a fit, in seconds; the
          same as ``n_clusters="auto"`` of the estimators. Can answer 1.
        - "gps": gap of prediction strength (thesis, section 4.4). Halves of the samples predict each other's
          clusters better than halves of data without clusters do. Can answer 1.
        - "prediction_strength": the largest number whose prediction strength reaches 0.8. Can answer 1.
        - "gap": the gap statistic. Can answer 1.
        - "consensus": consensus clustering by resampling (Monti and others), the largest cophenetic
          correlation. "consensus_init": by random starts (Brunet and others), whose stability says nothing
          about clusters: for comparison.
        - "cross_validation": pairs of similarities are hidden and predicted. Can answer 1.
    method_params : dict, default=None
        Parameters of a method that is named, for example ``{"n_repeats": 50}``.
    random_state : int, RandomState or None, default=None
        Makes the answer repeatable, with any number of jobs.
    n_jobs : int, default=None
        Number of jobs that run at the same time, as in joblib, whose backends are honoured. A single job
        uses several threads, so that more than one job pays only for small data.
    callback : callable, default=None
        Called with an object that has `done`, `total`, `stage`, `seconds` and `so_far` as work goes on; the
        last is the answer by the evidence until then, or None. An exception it raises ends the work. A
        `symclust.Checkpoint` keeps the work in a file.

    Returns
    -------
    Selection
        `n_clusters`, `sentence`, `ranking`, `runner_up`, `curves`, `p_values`, `stability`, `plot()`,
        `to_dataframe()`.

    Notes
    -----
    Estimators on similarities: X is made into similarities once. Parts of the samples are fitted on their
    part of these, and other samples are placed by their similarities to the part. Data without clusters are
    made of samples × features by Algorithm 3 of the thesis and become similarities like X; networks and given
    similarities are shuffled, each node keeping its degree.

    `NMF` and `AffineNMF` with their solvers "bpp" and "hals" are fitted to all parts by one compiled kernel,
    from random starts whatever `init` names, and with at most 60 iterations: labels settle long before
    factors do.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from symclust import select_n_clusters
    >>> X, _ = make_blobs(150, centers=3, cluster_std=0.5, random_state=1)
    >>> answer = select_n_clusters(X, random_state=0)
    >>> answer.n_clusters
    3
    """
    began = time.perf_counter()
    rule = _method(method, method_params)
    numbers = () if isinstance(rule, Auto) and candidates is None else _candidates(candidates)
    params = {
        "estimator": estimator,
        "candidates": numbers,
        "method": method,
        "method_params": method_params,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    keeps = isinstance(callback, Checkpoint) and not is_recording()
    with recording(callback, select_n_clusters, params) if keeps else nullcontext():  # type: ignore[arg-type]
        study, _ = _study(X, HierarchicalSymNMF() if estimator is None else estimator, numbers)
        chance = check_random_state(random_state)
        study = replace(study, rng=chance, n_jobs=n_jobs, callback=callback, began=began)
        return replace(raising_interrupts(rule.choose, study), seconds=time.perf_counter() - began)


def choose_for(model: Any, X: Any, callback: Callable[[Progress], object] | None = None) -> Selection:
    """Return the answer behind ``n_clusters="auto"`` of a model; its similarity is kept for `fit_chosen`."""
    estimator = clone(model).set_params(n_clusters=2)
    study, similarity = _study(X, estimator, ())
    if similarity is not None:
        model._already_read = similarity
    began = time.perf_counter()
    rng = check_random_state(getattr(model, "random_state", None))
    study = replace(study, rng=rng, callback=callback, began=began)
    answer = raising_interrupts(Auto().choose, study)
    return replace(answer, seconds=time.perf_counter() - began)


def fit_chosen(model: Any, X: Any, selection: Selection, **fit_params: Any) -> Any:
    """Fit a model whose number of clusters is "auto" with the number that was chosen; return it."""
    params = model.get_params(deep=False)
    chosen = type(model)(**{**params, "n_clusters": selection.n_clusters})
    if "_already_read" in vars(model):
        chosen._already_read = vars(model).pop("_already_read")
    fitted = chosen.fit(X, **fit_params)
    model.__dict__.update({name: value for name, value in vars(fitted).items() if name not in params})
    model.selection_ = selection
    return model


def _method(method: Any, params: dict[str, Any] | None) -> Method:
    """Return the method that is named, with its parameters."""
    if isinstance(method, Method):
        if params:
            raise OptionError("method_params goes with the name of a method; an object has its own already.")
        return method
    check_known("method", method, registry.options("selection.methods"))
    kind, given = registry.resolve("selection.methods", method), params or {}
    known = tuple(signature(kind).parameters)
    if given and not known:
        raise OptionError(f"method={method!r} has no parameters; got method_params={params!r}.")
    for name in given:
        check_known("method_params", name, known, f", the parameters of method={method!r}")
    return kind(**given)


def _candidates(candidates: Any) -> tuple[int, ...]:
    try:
        numbers = tuple(sorted({int(k) for k in (CANDIDATES if candidates is None else candidates)}))
    except (TypeError, ValueError) as error:
        raise OptionError(
            f"candidates={candidates!r} must be whole numbers, such as range(2, 11)."
        ) from error
    if not numbers or numbers[0] < 2:
        raise OptionError(
            f"candidates={candidates!r} must be whole numbers of at least 2; one cluster is an answer that "
            "is not tried."
        )
    return numbers


# From X and an estimator to a study -------------------------------------------------------------------------


def _study(X: Any, estimator: Any, candidates: tuple[int, ...]) -> tuple[Study, Similarity | None]:
    """Return the study, and the similarity that was made of X if the estimator takes one."""
    if not isinstance(estimator, BaseEstimator):
        raise InputTypeError(
            f"estimator must be a clusterer of symclust or scikit-learn, got {estimator!r:.80}; the number "
            "of clusters is set by candidates."
        )
    rng = np.random.RandomState(0)  # replaced by the user's
    if isinstance(getattr(estimator, "callback", None), Checkpoint):  # of the whole, not of each fit
        estimator = clone(estimator).set_params(callback=None)
    data: Features | Pairs
    similarity = None
    if isinstance(estimator, SimilarityEstimator):
        data, fitter, similarity = _pairs(X, estimator)
    elif is_similarity(X):
        raise InputTypeError(
            f"{type(estimator).__name__} takes samples × features, not a {type(X).__name__}. Give an "
            "estimator on similarities, such as SymNMF or HierarchicalSymNMF."
        )
    else:
        data, fitter = _samples(X, clone(estimator)), estimator
        data_are(data.A if isinstance(data, Pairs) else data.X)
    if candidates and max(candidates) > data.n:
        raise OptionError(f"candidates reach {max(candidates)}, but there are only {data.n} samples.")
    return Study(data, fitter, candidates, rng), similarity


def _samples(X: Any, estimator: Any) -> Features | Pairs:
    if is_dask(X):
        raise InputTypeError(
            "X is a Dask array, and the number of clusters is chosen by fits to most of the samples in one "
            "place: give a part of them, for example X[:10_000].compute()."
        )
    params = estimator.get_params(deep=False)
    if "precomputed" in (params.get("affinity"), params.get("metric")):
        return Pairs(check_features(X))
    checked = check_features(X)
    if isinstance(estimator, Clusterer):
        estimator._check_options()
        if estimator._nonnegative:
            check_nonnegative(checked, type(estimator).__name__)
    return Features(checked)


def _pairs(X: Any, estimator: SimilarityEstimator) -> tuple[Pairs, Any, Similarity]:
    """Return the similarities of X, the estimator that is fitted to parts of them, and how they were read."""
    reader = clone(estimator).set_params(n_clusters=2)
    reader._check_options()
    similarity = reader.set_params(n_clusters="auto")._read(X)  # as it is for every number
    fitter = clone(estimator).set_params(affinity="precomputed", affinity_params=None)
    A, source = similarity.operator.matrix, similarity.source
    if source is None:
        return Pairs(A, is_network=similarity.rule.is_network), fitter, similarity
    if not isinstance(source, Operator):
        given = Features(source), similarity.again, lambda: similarity.graph().matrix
        return Pairs(A, *given), fitter, similarity
    if similarity.rule.origin != "graph":
        check_similarity(source)
    network = Pairs(sparse.csr_array(source.matrix))
    return Pairs(A, network, similarity.again, is_network=True), fitter, similarity
