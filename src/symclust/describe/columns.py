"""Clusters of samples × features: columns with their typical values inside and outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from symclust._types import Array
from symclust.describe._members import indicator
from symclust.describe.description import Trait
from symclust.describe.evidence import Evidence
from symclust.exceptions import InputError
from symclust.inputs.table_plan import TablePlan
from symclust.validation import check_features, is_a

__all__ = ["Columns", "Weights"]

TRAITS = 8  # of a cluster
LOOKED_AT = 16  # columns of a cluster whose ranks are compared: those of the largest standardised difference
MOST_ROWS = 100_000
LEAST, CLEAR = 0.15, 0.33  # Cliff's δ: a small effect; from a medium one a column is part of the name
LACK = 0.95
BINS = 12
Called = tuple[str, str | None]  # a column, and the category that a column of zeros and ones stands for


@dataclass(frozen=True, eq=False)
class Columns(Evidence):
    """Samples × features in their own units, dense or CSR, and what the columns are called."""

    X: Any
    columns: Sequence[Called]
    are_brightness: bool = False
    key = "Typical values inside, and in brackets those of all others."

    @classmethod
    def find(cls, model: Any, feature_names: Sequence[object] | None) -> Columns | None:
        """The features that a model was fitted to; None if it was fitted to none, or has not kept them."""
        X, names = model._training.rule.features, feature_names
        if X is None:
            return None
        plan = getattr(model, "preparation_", None)
        if plan is not None:
            return cls(_in_own_units(plan, X), _columns_of(plan))
        names = getattr(model, "feature_names_in_", None) if names is None else names
        return cls(X, _called(names, X.shape[1]))

    @classmethod
    def of(cls, data: Any, feature_names: Sequence[object] | None) -> Columns:
        """The columns of data that are given: a table, an AnnData, an array or a sparse matrix."""
        if is_a(data, "pandas", "DataFrame") and not any(hasattr(d, "fill_value") for d in data.dtypes):
            plan = TablePlan.of(data, log=False, scale=None)
            return cls(plan.apply(data).to_numpy(), _columns_of(plan))
        names = feature_names
        if names is None and is_a(data, "anndata", "AnnData"):
            names = data.var_names
        names = getattr(data, "columns", None) if names is None else names
        X = check_features(data, name="data")
        return cls(X, _called(names, X.shape[1]))

    def traits(self, labels: Array, n_clusters: int) -> list[list[Trait]]:
        """The columns in which each cluster differs most from all others, by Cliff's δ."""
        rows = np.flatnonzero(labels >= 0)
        if len(rows) > MOST_ROWS:
            rows = rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(np.intp)]
        X, labels = self.X[rows], labels[rows]
        looked_at = _most_different(X, labels, n_clusters)
        numbers = np.unique(np.concatenate(looked_at)) if looked_at else np.empty(0, np.intp)
        values = X[:, numbers].toarray() if sparse.issparse(X) else np.asarray(X[:, numbers])
        effects = _effects(values, labels, n_clusters)
        place = np.full(X.shape[1], -1)
        place[numbers] = np.arange(len(numbers))
        return [
            self._of_cluster(labels == c, values, effects[c], numbers, place[looked_at[c]])
            for c in range(n_clusters)
        ]

    def _of_cluster(
        self, own: Array, values: Array, effects: Array, numbers: Array, looked_at: Array
    ) -> list[Trait]:
        if not own.any() or own.all():
            return []
        # Of the values of a category, one that a cluster has says more than another that it lacks.
        strength = np.where(effects > 0, effects, -LACK * effects)
        order = looked_at[np.argsort(-strength[looked_at], kind="stable")]
        found: dict[str, Trait] = {}
        for j in order.tolist():
            name = self.columns[numbers[j]][0]
            if abs(effects[j]) >= LEAST and name not in found and len(found) < TRAITS:
                parts = values[own, j], values[~own, j]
                found[name] = self._trait(self.columns[numbers[j]], *parts, effects[j])
        traits = list(found.values())
        if any(trait.short for trait in traits) or not order.size:
            return traits
        return [_narrow(self.columns, numbers, values, own), *traits]

    def _trait(self, called: Called, own: Array, others: Array, effect: float) -> Trait:
        """A column in words: the share that has it if it mostly is zero, else the typical value.

        A term, of sparse columns, is high wherever it counts.
        """
        name, value = called
        n_filled = np.count_nonzero(own) + np.count_nonzero(others)
        is_rare = n_filled < (len(own) + len(others)) / 2 and not self.are_brightness
        is_share = value is not None or bool(is_rare)
        if is_share:
            parts = [part if value is not None else part != 0 for part in (own, others)]
            inside, outside = (float(np.mean(part)) for part in parts)
            short = (f"{name} {value}" if value is not None else name) if effect > 0 else ""
            full = f"{name} {value}" if value is not None else f"{name} in"
            words = f"{full} {inside:.0%} ({outside:.0%})"
        else:
            inside, outside = float(np.median(own)), float(np.median(others))
            extremes = ("dark", "bright") if self.are_brightness else ("low", "high")
            short = name if sparse.issparse(self.X) else f"{extremes[int(effect > 0)]} {name}"
            words = f"{name} {_figure(inside)} ({_figure(outside)})"
        short = short if abs(effect) >= (LEAST if is_share else CLEAR) else ""
        bins = _bins(own, others, is_share)
        return Trait(words, short, name, value or "", inside, outside, float(effect), bins)


@dataclass(frozen=True, eq=False)
class Weights(Evidence):
    """The weights of features in clusters, clusters × features, of a model that has not kept its samples."""

    components: Array
    columns: Sequence[Called]
    key = "Weights as multiples of those in all clusters."

    @classmethod
    def find(cls, model: Any, feature_names: Sequence[object] | None, n_clusters: int) -> Weights | None:
        """The components of a model; None if it has none of its clusters."""
        C = np.asarray(getattr(model, "components_", np.empty((0, 0))), dtype=np.float64)
        if C.ndim != 2 or len(C) != n_clusters or not C.size or C.min() < 0:
            return None
        names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
        return cls(C, _called(names, C.shape[1]))

    def traits(self, labels: Array, n_clusters: int) -> list[list[Trait]]:
        """The features that each component has more of than all of them together, by p log(p/q)."""
        P = self.components / np.maximum(self.components.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        sizes = np.bincount(labels[labels >= 0], minlength=n_clusters)
        q = sizes @ P / max(sizes.sum(), 1)
        telling = P * np.log(np.divide(P, q, out=np.ones_like(P), where=(P > 0) & (q > 0)))
        return [[self._trait(j, p, q) for j in _largest(t, TRAITS)] for t, p in zip(telling, P, strict=True)]

    def _trait(self, j: int, p: Array, q: Array) -> Trait:
        name = self.columns[j][0]
        return Trait(f"{name} {p[j] / q[j]:.1f}×", name, name, "", float(p[j]), float(q[j]))


# Which columns ----------------------------------------------------------------------------------------------


def _called(names: Sequence[object] | None, count: int) -> list[Called]:
    if names is None:
        return [(f"x{j}", None) for j in range(count)]
    if len(names) != count:
        raise InputError(f"feature_names has length {len(names)}; the data have {count} features.")
    return [(str(name), None) for name in names]


def _columns_of(plan: TablePlan) -> list[Called]:
    numbers: list[Called] = [(str(name), None) for name in plan.numbers]
    return numbers + [(str(name), value) for name, values in plan.categories for value in values]


def _in_own_units(plan: TablePlan, rows: Any) -> Array:
    """Rows that a plan has made of a table, as they were before; gaps stay filled."""
    values = np.asarray(rows, dtype=np.float64) * np.asarray(plan.unit) + np.asarray(plan.offset)
    places = np.flatnonzero(plan.is_log)
    values[:, places] = np.expm1(values[:, places]) * np.asarray(plan.middle)[places]
    return values


def _largest(scores: Array, count: int) -> list[int]:
    """The places of the largest positive scores, the largest first."""
    return [j for j in np.argsort(-scores, kind="stable")[:count].tolist() if scores[j] > 0]


def _most_different(X: Any, labels: Array, n_clusters: int) -> list[Array]:
    """For each cluster the columns whose mean inside is farthest from that outside, in standard deviations.

    Of sparse columns, which are mostly zero, only those count that a cluster has more of.
    """
    Z = indicator(labels, n_clusters)
    sizes = np.maximum(np.asarray(Z.sum(axis=0)).ravel(), 1)[:, np.newaxis]
    sums = Z.T @ X
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    squares = X.multiply(X).sum(axis=0) if sparse.issparse(X) else np.einsum("ij,ij->j", X, X)
    total, n = sums.sum(axis=0), max(len(labels), 1)
    spread = np.sqrt(np.maximum(np.asarray(squares).ravel() / n - (total / n) ** 2, 0))
    outside = (total - sums) / np.maximum(n - sizes, 1)
    difference = np.divide(sums / sizes - outside, spread, out=np.zeros_like(sums), where=spread > 0)
    difference = difference if sparse.issparse(X) else np.abs(difference)
    return [np.array(_largest(row, LOOKED_AT), dtype=np.intp) for row in difference]


def _effects(values: Array, labels: Array, n_clusters: int) -> Array:
    """Cliff's δ of each cluster against all others for each column: 2 AUC − 1, from ranks."""
    effects = np.zeros((n_clusters, values.shape[1]))
    sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    pairs = np.maximum(sizes * (len(labels) - sizes), 1)
    for j, column in enumerate(values.T):
        sums = np.bincount(labels, rankdata(column), minlength=n_clusters)
        effects[:, j] = 2 * (sums - sizes * (sizes + 1) / 2) / pairs - 1
    return np.where((sizes > 0) & (sizes < len(labels)), effects.T, 0).T


# In words ---------------------------------------------------------------------------------------------------


def _narrow(columns: Sequence[Called], numbers: Array, values: Array, own: Array) -> Trait:
    """The column in which a cluster that is high or low in none is most of one kind: about its median."""
    middle = np.median(values[own], axis=0)
    near = -np.abs(values - middle)
    j = int(_effects(near, own.astype(np.intp), 2)[1].argmax())
    inside, outside = float(middle[j]), float(np.median(values[~own, j]))
    name, value = columns[numbers[j]]
    words = (
        f"{name} about {_figure(inside)}"
        if value is None
        else f"{name} {value} {np.mean(values[own, j]):.0%}"
    )
    return Trait(
        words, words, name, value or "", inside, outside, 0.0, _bins(values[own, j], values[~own, j])
    )


def _bins(own: Array, others: Array, is_share: bool = False) -> tuple[Array, Array] | None:
    if is_share:
        return None
    low, high = np.quantile(np.concatenate([own, others]), [0.01, 0.99])
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    inside, outside = (np.histogram(np.clip(part, low, high), edges)[0] / len(part) for part in (own, others))
    return inside, outside


def _figure(value: float) -> str:
    """A number with three digits that count."""
    if value == 0 or not np.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    shown = f"{value:,.{digits}f}" if digits < 6 else f"{value:.3g}"
    return shown.rstrip("0").rstrip(".") if "." in shown and "e" not in shown else shown
