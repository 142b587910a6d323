"""From gene expression to subtypes with their markers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from symclust._types import Array, Data, Names, RandomState
from symclust.applications._checks import check_model_params
from symclust.applications.expression._markers import find_markers, subtype_means
from symclust.applications.expression._reading import Expression, GeneTable, read_expression, select_genes
from symclust.applications.expression.answer import Subtypes, prepared
from symclust.estimators import AffineNMF
from symclust.exceptions import (
    CombinationError,
    DegenerateWarning,
    InputError,
    OptionError,
    warn,
)
from symclust.selection import ConsensusMatrix, Features, Method, Selection, Study, select_n_clusters
from symclust.storage import refuse_checkpoint
from symclust.validation import check_known, check_number

__all__ = ["subtypes"]

SHARE = 0.8  # of the samples in each resample: thesis 4.5
DENSE = 1 << 25  # entries, 256 MB
SEED = np.iinfo(np.int32).max


def subtypes(
    expression: Data,
    n_subtypes: int | str = "auto",
    *,
    orientation: str = "auto",
    n_genes: int | None = 5000,
    genes: Names = None,
    samples: Names = None,
    layer: str | None = None,
    transform: str | None = "sqrt",
    candidates: Iterable[int] = range(2, 8),
    method: str | Method = "gps",
    method_params: dict[str, Any] | None = None,
    n_resamples: int = 50,
    model_params: dict[str, Any] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    callback: Callable[[Any], object] | None = None,
) -> Subtypes:
    """Find subtypes of samples by their gene expression, and the genes that mark them.

    As in Kuang (2014, chapter 4): genes with the largest coefficients of variation; affine NMF, so that
    what all samples share is separated from what makes them differ; the number of subtypes by the gap of
    prediction strength, which may answer "one"; a consensus matrix from samples drawn again. Markers are then
    looked for among all genes.

    Parameters
    ----------
    expression : DataFrame, AnnData, array or sparse matrix
        Samples × genes or genes × samples, without negative entries or gaps: counts, TPM, FPKM or
        intensities, not their logarithms. Sparse data stay sparse.
    n_subtypes : int or "auto", default="auto"
        The number, or how it is found: see `method`.
    orientation : {"auto", "samples", "genes"}, default="auto"
        What the rows are. "auto": samples in an AnnData; otherwise what the numbers of `genes` or `samples`
        say; otherwise samples if there are more columns than rows, and genes if there are fewer, since
        genes outnumber samples. The answer notes what was assumed. If one side is less than twice as
        long as the other, nothing is assumed and you have to say.
    n_genes : int or None, default=5000
        How many genes to cluster by: those with the largest σ/μ. Genes that are silent (zero, or with a mean
        below a hundredth of the median gene's, or found in fewer than three samples) or constant are left
        out: their σ/μ says nothing. Of whole numbers, σ² is the variance beyond that of counting, and genes
        without any are left out as well. None takes all others.
    genes, samples : sequence of str, default=None
        Names, by default those of the table. For an AnnData also the name of a column of `var` or `obs`.
    layer : str, default=None
        For an AnnData: a layer, or "raw" for ``adata.raw``; by default ``adata.X``.
    transform : {"sqrt", None}, default="sqrt"
        Factor square roots of the values, or with None the values themselves, as the thesis does. Of those, a
        single gene with very large values can decide everything (docs/evidence/quality.md). Markers are
        always those of the values.
    candidates : iterable of int, default=range(2, 8)
        Numbers of subtypes to choose from. Those above half of the number of samples are left out.
    method : str or object, default="gps"
        How to choose, as in `select_n_clusters`.
    method_params : dict, default=None
        Parameters of the method. ``{"average": "median"}`` makes GPS as robust as in thesis 4.7.
    n_resamples : int, default=50
        How often four fifths of the samples are clustered again for `consensus` and `stability`; 0 for never.
    model_params : dict, default=None
        Further parameters of `AffineNMF`, for example ``{"init": "random", "n_init": 10}``.
    random_state : int, RandomState or None, default=None
        Makes a run repeatable.
    n_jobs : int, default=None
        Processes or threads for the choice of the number and for resamples, as in joblib.
    callback : callable, default=None
        Called with an object that has `done`, `total`, `stage` and `seconds`.

    Returns
    -------
    Subtypes

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from symclust import subtypes
    >>> rng = np.random.RandomState(0)
    >>> kind = np.repeat([0, 1], 20)
    >>> table = pd.DataFrame(rng.poisson(50, (40, 100)), index=[f"patient{i}" for i in range(40)])
    >>> table.columns = [f"gene{j}" for j in range(100)]
    >>> table.iloc[:20, :5] *= 4  # the first half of the patients has five genes up, the others five others
    >>> table.iloc[20:, 5:10] *= 4
    >>> answer = subtypes(table, 2, random_state=0)
    >>> answer.labels_[0] != answer.labels_[39]
    np.True_
    >>> sorted(marker.gene for marker in answer.markers(answer.labels_[0]))
    ['gene0', 'gene1', 'gene2', 'gene3', 'gene4']
    """
    _check_options(n_subtypes, transform, n_resamples, model_params)
    for given in (callback, (model_params or {}).get("callback")):
        refuse_checkpoint(given, "subtypes")
    _check_method_params(n_subtypes, method_params)
    seeds = check_random_state(random_state).randint(SEED, size=3)  # the model's whatever is done before it
    data = read_expression(expression, GeneTable(orientation, genes, samples, layer))
    k = None if isinstance(n_subtypes, str) else int(n_subtypes)
    tried = _check_samples(data, k, candidates)
    if data.is_logged:
        warn(
            "The expression looks like logarithms; subtypes works on raw values: see the notes of the answer."
        )
    selected = select_genes(data.values, n_genes)
    X = prepared(data.values[:, selected], transform)
    model = AffineNMF(**{"random_state": int(seeds[0]), **(model_params or {})})
    selection = None
    if k is None:
        work: dict[str, Any] = {"method_params": method_params, "n_jobs": n_jobs, "callback": callback}
        dense, seed = _dense_where_small(X), int(seeds[1])
        selection = select_n_clusters(dense, model, tried, method, random_state=seed, **work)
        k = selection.n_clusters
    _fit(model.set_params(n_clusters=k), X)
    one_by_one, rng = OneByOne(**model.get_params()), np.random.RandomState(seeds[2])
    study = Study(Features(X), one_by_one, (k,), rng, n_jobs, callback, time.perf_counter())
    consensus = _consensus(study, selection, n_resamples)
    data.notes.extend(_note_of_genes(data, selected, n_genes))
    return _answer(data, selected, model, selection, consensus, transform)


# What was given ---------------------------------------------------------------------------------------------


def _check_options(n_subtypes: Any, transform: Any, n_resamples: Any, model_params: Any) -> None:
    if isinstance(n_subtypes, str):
        check_known("n_subtypes", n_subtypes, ("auto",), ", or give a whole number")
    else:
        check_number("n_subtypes", n_subtypes, least=1, whole=True)
    if transform is not None:
        check_known("transform", transform, ("sqrt",), ", or None for the values themselves")
    check_number("n_resamples", n_resamples, least=0, whole=True)
    check_model_params(AffineNMF, model_params, "The number of subtypes is n_subtypes.")


def _check_method_params(n_subtypes: Any, method_params: Any) -> None:
    if method_params is not None and not isinstance(n_subtypes, str):
        raise CombinationError(
            f"method_params={method_params!r} says how the number of subtypes is chosen, but it was given: "
            f"n_subtypes={n_subtypes!r}. Leave one of them out."
        )


def _check_samples(data: Expression, k: int | None, candidates: Iterable[int]) -> list[int]:
    """Refuse more subtypes than samples; return the candidates that half of the samples can have."""
    n = len(data.samples)
    if n < 2:
        raise InputError(
            f"There is {n} sample, with {len(data.genes):,} genes: subtypes need at least 2. If the rows are "
            f"not {data.rows}, say so by orientation=."
        )
    if k is not None and k > n:
        raise OptionError(f"n_subtypes={k} is not possible with {n} samples: give a number from 1 to {n}.")
    given = list(candidates)
    tried = [c for c in given if c <= n // 2]
    if k is None and not tried:
        raise InputError(
            f"{n} samples are too few to choose among {given} subtypes, since halves of the samples are "
            "compared. Give n_subtypes, or smaller candidates."
        )
    if k is None and len(tried) < len(given):
        left = ", ".join(str(c) for c in given if c > n // 2)
        data.notes.append(f"Numbers above half of the samples were not tried: {left}.")
    return tried


def _note_of_genes(data: Expression, selected: Array, n_genes: int | None) -> list[str]:
    """A sentence if no gene was left out for varying little, which raw values need."""
    if n_genes is None or len(selected) == n_genes:
        return []
    left = len(data.genes) - len(selected)
    but = f" but {left:,} that are silent or vary no more than by chance" if left else ""
    return [
        f"All {len(data.genes):,} genes{but} were used, since n_genes={n_genes} is not less. A smaller "
        "number leaves out genes that vary little for their size, whose noise can outweigh subtypes."
    ]


def _fit(model: AffineNMF, X: Any) -> None:
    """Fit; one subtype needs no warning of samples that have nothing beyond the baseline."""
    with warnings.catch_warnings():
        if model.n_clusters == 1:
            warnings.simplefilter("ignore", DegenerateWarning)
        model.fit(X)


# Samples drawn again ----------------------------------------------------------------------------------------


class OneByOne(AffineNMF):
    """Fits each resample from its own start, as the model itself is fitted.

    The kernel that takes all parts at once begins with random numbers. A single such start often ends in
    another minimum, and the consensus would show that instead of how sure subtypes are: on the raw values of
    Golub's leukaemias a mean stability of 0.85 instead of 0.91. The choice of the number needs thousands of
    fits, this fifty.
    """

    _takes_parts = False


def _dense_where_small(X: Any) -> Any:
    """X for the choice of the number: dense if that is small, since a kernel then takes all parts.

    Data without clusters, to compare with, are dense in any case.
    """
    return X.toarray() if sparse.issparse(X) and X.shape[0] * X.shape[1] <= DENSE else X


def _consensus(study: Study, selection: Selection | None, n_resamples: int) -> ConsensusMatrix | None:
    """The consensus of clusterings of four fifths of the samples (Monti et al. 2003)."""
    (k,) = study.candidates
    if selection is not None and k in selection.consensus:
        return selection.consensus[k]
    if k == 1 or not n_resamples:
        return None
    n, size = study.data.n, max(k, round(SHARE * study.data.n))
    parts = [np.sort(study.rng.permutation(n)[:size]) for _ in range(n_resamples)]
    return ConsensusMatrix(study.label_parts(parts, "consensus", place=False)[:, 0])


# The answer -------------------------------------------------------------------------------------------------


def _answer(
    data: Expression,
    selected: Array,
    model: AffineNMF,
    selection: Selection | None,
    consensus: ConsensusMatrix | None,
    transform: str | None,
) -> Subtypes:
    k = model.membership_.shape[1]
    labels = model.labels_ if k > 1 else np.zeros(len(data.samples), dtype=model.labels_.dtype)
    markers = find_markers(data.values, labels, k) if len(np.unique(labels[labels >= 0])) > 1 else None
    return Subtypes(
        samples=data.samples,
        labels_=labels,
        membership_=model.membership_,
        genes=data.genes,
        selected_genes=data.genes[selected],
        model=model,
        selection_=selection,
        consensus=consensus,
        stability=None if consensus is None else consensus.stability(labels),
        orientation=data.rows,
        notes=data.notes,
        _markers=markers,
        _means=subtype_means(data.values, labels, k) if markers is None else markers.means,
        _selected=selected,
        _has_names=data.named_genes,
        _transform=transform,
    )
