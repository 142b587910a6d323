"""Marker genes, which one subtype has more of than every other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import false_discovery_control, mannwhitneyu

from symclust._types import Array
from symclust.applications.expression._reading import gene_floor

BLOCK = 1 << 22  # entries of X that are ranked at a time: 32 MB


class Marker(NamedTuple):
    """A gene that sets a subtype apart.

    Attributes
    ----------
    gene : str
        Its name.
    subtype : int
        Where it is higher than in every other subtype.
    log2_fold_change : float
        Of its mean there against the highest mean of the other subtypes.
    auc : float
        The probability that a sample of the subtype has more of it than one of another subtype, for the other
        subtype with which that is smallest; 1 where the samples are separated.
    p_value : float
        Of the rank test against the samples of all other subtypes together.
    q_value : float
        The same after Benjamini and Hochberg, over all genes that vary.
    weakest_p_value : float
        The largest of the rank tests against each other subtype by itself.
    mean, next_mean : float
        Its mean in the subtype, and the highest among the others.
    score : float
        What markers are sorted by: log2_fold_change · (2 auc − 1).
    """

    gene: str
    subtype: int
    log2_fold_change: float
    auc: float
    p_value: float
    q_value: float
    weakest_p_value: float
    mean: float
    next_mean: float
    score: float


@dataclass(frozen=True, eq=False)
class MarkerTable:
    """Numbers about every gene."""

    means: Array  # n_subtypes × n_genes; all others have one entry for each gene, as `Marker`
    subtype: Array  # the one whose mean is highest
    next_mean: Array
    log2_fold_change: Array
    auc: Array
    p_value: Array
    q_value: Array
    weakest_p_value: Array
    score: Array

    def best(
        self, genes: Array, subtype: int, n: int | None, max_q: float, min_log2_fold_change: float
    ) -> list[Marker]:
        """The markers of a subtype, the highest score first."""
        is_marker = (
            (self.subtype == subtype)
            & (self.q_value <= max_q)
            & (self.weakest_p_value <= max_q)
            & (self.log2_fold_change >= min_log2_fold_change)
            & (self.score > 0)
        )
        found = np.flatnonzero(is_marker)
        order = found[np.lexsort((self.q_value[found], -self.score[found]))][:n]
        return [self._marker(str(genes[gene]), gene) for gene in order]

    def _marker(self, name: str, gene: int) -> Marker:
        subtype = int(self.subtype[gene])
        own = {
            f: float(getattr(self, f)[gene]) for f in Marker._fields if f not in ("gene", "subtype", "mean")
        }
        return Marker(gene=name, subtype=subtype, mean=float(self.means[subtype, gene]), **own)


def find_markers(X: Any, labels: Array, n_subtypes: int) -> MarkerTable:
    r"""Compare each gene in the subtype with its highest mean to every other subtype.

    The fold change is that of the mean μ₁ in this subtype against the highest μ₂ of the others,
    log₂((μ₁ + ε)/(μ₂ + ε)), with ε the `gene_floor`, so that silent genes have none. The rank tests are
    Mann and Whitney's, one-sided: against all other samples, and against each other subtype by itself, of
    which the largest p-value counts ("higher than in every other", an intersection-union test). Correcting
    the latter for thousands of genes would leave nothing where subtypes have ten samples, even genes that
    separate them completely; so Benjamini and Hochberg's correction is made of the former, for each subtype
    over all genes that vary. A gene can be a marker of one subtype only, and is tested for no other: its
    p-value there is 1. Time is O(n log n) for each gene, twice.

    X holds all genes; a sparse array is made dense a block of genes at a time. Samples with the label −1 take
    no part; a subtype without samples has no markers and is compared with none.
    """
    members = _members(labels, n_subtypes)
    means = subtype_means(X, labels, n_subtypes)
    there = [c for c, rows in enumerate(members) if len(rows)]
    ranked = np.argsort(-means[there], axis=0, kind="stable")
    subtype = np.asarray(there)[ranked[0]]
    columns = np.arange(X.shape[1])
    top, second = means[subtype, columns], means[np.asarray(there)[ranked[1]], columns]
    floor = gene_floor(_mean(X, np.arange(X.shape[0]))) or 1.0
    change = np.log2((top + floor) / (second + floor))
    varies = _varies(X)
    auc, p_value, weakest = _rank_tests(X, members, there, subtype, varies)
    return MarkerTable(
        means=means,
        subtype=subtype,
        next_mean=second,
        log2_fold_change=change,
        auc=auc,
        p_value=p_value,
        q_value=_corrected(p_value, subtype, varies),
        weakest_p_value=weakest,
        score=change * (2 * auc - 1),
    )


def subtype_means(X: Any, labels: Array, n_subtypes: int) -> Array:
    """The mean of each gene in each subtype, zeros for a subtype without samples."""
    return np.array([_mean(X, rows) for rows in _members(labels, n_subtypes)])


def _members(labels: Array, n_subtypes: int) -> list[Array]:
    return [np.flatnonzero(labels == c) for c in range(n_subtypes)]


def _mean(X: Any, rows: Array) -> Array:
    if not len(rows):
        return np.zeros(X.shape[1])
    return np.asarray(X[rows].sum(axis=0, dtype=np.float64)).ravel() / len(rows)


def _varies(X: Any) -> Array:
    """A mask of the genes that differ between any two samples."""
    if not sparse.issparse(X):
        return X.max(axis=0) > X.min(axis=0)
    return X.max(axis=0).toarray().ravel() > X.min(axis=0).toarray().ravel()


def _rank_tests(
    X: Any, members: list[Array], there: list[int], subtype: Array, varies: Array
) -> tuple[Array, Array, Array]:
    """Of each gene the smallest AUC, the p-value against all others, and the largest against one."""
    auc, p_value, weakest = np.full(X.shape[1], 0.5), np.ones(X.shape[1]), np.ones(X.shape[1])
    X = X.tocsc() if sparse.issparse(X) else X
    for c in there:
        others = [members[d] for d in there if d != c]
        for genes in _blocks(np.flatnonzero((subtype == c) & varies), X.shape[0]):
            values = X[:, genes].toarray() if sparse.issparse(X) else X[:, genes]
            tests = [_rank_test(values[members[c]], values[rows]) for rows in others]
            auc[genes] = np.min([found for found, _ in tests], axis=0)
            weakest[genes] = np.max([found for _, found in tests], axis=0)
            p_value[genes] = weakest[genes]
            if len(others) > 1:
                p_value[genes] = _rank_test(values[members[c]], values[np.concatenate(others)])[1]
    return auc, p_value, weakest


def _blocks(genes: Array, n_samples: int) -> Iterator[Array]:
    size = max(1, BLOCK // n_samples)
    for start in range(0, len(genes), size):
        yield genes[start : start + size]


def _rank_test(here: Array, elsewhere: Array) -> tuple[Array, Array]:
    """The AUC, U/(n₁n₂), and the p-value of "higher here" for each gene."""
    statistic, p_value = mannwhitneyu(here, elsewhere, alternative="greater", axis=0)
    # A gene that is constant over both has a p-value of 0/0.
    return statistic / (len(here) * len(elsewhere)), np.nan_to_num(p_value, nan=1.0)


def _corrected(p_value: Array, subtype: Array, varies: Array) -> Array:
    """Q-values, each gene's in the family of its subtype."""
    q_value = np.ones_like(p_value)
    tested = np.flatnonzero(varies)
    for c in np.unique(subtype[tested]):
        own = subtype[tested] == c
        q_value[tested[own]] = false_discovery_control(np.where(own, p_value[tested], 1.0))[own]
    return q_value
