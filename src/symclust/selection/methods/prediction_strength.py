"""Prediction strength: how well halves of the samples predict each other's clusters, beyond chance."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from symclust._types import Array
from symclust.selection._answer import Curve, Selection
from symclust.selection._method import Method
from symclust.selection._study import Study
from symclust.validation import check_known, check_number

__all__ = ["GPS", "PredictionStrength"]

AVERAGES: dict[str, Callable[..., Array]] = {"mean": np.mean, "median": np.median}


def agreement(own: Array, predicted: Array, n_clusters: int) -> float:
    r"""Return the prediction strength of one half for the other (Tibshirani and Walther 2005).

    .. math:: \min_{1 \le j \le k} \frac{1}{n_j (n_j - 1)} \sum_{i \ne i' \in C_j} [\hat l_i = \hat l_{i'}]

    with :math:`C_j` the clusters found in the test half (`own`) and :math:`\hat l` the labels that the
    training half predicts there. A cluster with fewer than two samples counts 0, and samples that are
    predicted to belong to no cluster (−1) are alike to none.
    """
    sizes, together = _pairs_together(own, predicted, n_clusters)
    if sizes.min() < 2:
        return 0.0
    return float((together / (sizes * (sizes - 1))).min())


def _pairs_together(own: Array, predicted: Array, n_clusters: int) -> tuple[Array, Array]:
    """Return the size of each cluster, and how many of its ordered pairs are predicted to be together."""
    table = _contingency(own, predicted, n_clusters)
    return table.sum(axis=1), (table[:, 1:] * (table[:, 1:] - 1)).sum(axis=1)


def _contingency(own: Array, predicted: Array, n_clusters: int) -> Array:
    """Return how many samples of each cluster have each predicted label; the first column is that of −1."""
    width = max(int(predicted.max(initial=-1)), n_clusters - 1) + 2
    placed = own >= 0
    cells = own[placed].astype(np.int64) * width + predicted[placed] + 1
    return np.bincount(cells, minlength=n_clusters * width).reshape(n_clusters, width)


def _company_kept(own: Array, predicted: Array, n_clusters: int) -> Array:
    """Return for each test sample the share of its cluster's others that are predicted to be with it."""
    table = _contingency(own, predicted, n_clusters)
    others = np.maximum(table.sum(axis=1)[own] - 1, 1)
    kept = (table[own, predicted + 1] - 1) / others
    return np.where((own >= 0) & (predicted >= 0), kept, 0.0)


class HalvedData:
    """Labels of all samples by either half of many random splits, under each candidate.

    `strengths` (n_repeats × n_candidates) has the prediction strength of each split, averaged over its two
    directions.
    """

    def __init__(self, study: Study, n_repeats: int, stage: str) -> None:
        self.candidates, self.n = study.candidates, study.data.n
        self.parts = [half for _ in range(n_repeats) for half in _random_halves(self.n, study.rng)]
        self.labels = study.label_parts(self.parts, stage)
        columns = [self._strengths(place, k) for place, k in enumerate(self.candidates)]
        self.strengths = np.stack(columns, axis=1)

    def _strengths(self, place: int, k: int) -> Array:
        both = [agreement(own, predicted, k) for _, own, predicted in self._tests(place)]
        return np.reshape(both, (-1, 2)).mean(axis=1)

    def _tests(self, place: int) -> list[tuple[Array, Array, Array]]:
        """Return for each half its samples, their own labels, and those that the other half predicts."""
        labels = self.labels[:, place]
        other = np.arange(len(self.parts)) ^ 1  # halves stand side by side
        return [(part, labels[p][part], labels[other[p]][part]) for p, part in enumerate(self.parts)]

    def stability(self, place: int) -> Array:
        """Return how much of its company each sample keeps on average, under one candidate."""
        kept = np.zeros(self.n)
        for part, own, predicted in self._tests(place):
            kept[part] += _company_kept(own, predicted, self.candidates[place])
        return kept / (len(self.parts) // 2)  # every sample is in one half of each split


def _random_halves(n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


class PredictionStrength(Method):
    """The largest number of clusters whose prediction strength reaches a threshold.

    Parameters
    ----------
    n_repeats : int, default=20
        Random splits into two halves.
    average : {"mean", "median"}, default="mean"
        Over the splits.
    threshold : float, default=0.8
        The least strength of a prediction; Tibshirani and Walther recommend 0.8 to 0.9. If no candidate
        reaches it, the answer is one cluster, whose prediction strength is always 1.
    """

    def __init__(self, n_repeats: int = 20, average: str = "mean", threshold: float = 0.8) -> None:
        check_number("n_repeats", n_repeats, least=1, whole=True)
        check_known("average", average, tuple(AVERAGES))
        check_number("threshold", threshold, least=0, most=1)
        self.n_repeats, self.average, self.threshold = n_repeats, average, threshold

    def choose(self, study: Study) -> Selection:
        """Return the answer."""
        halves = HalvedData(study, self.n_repeats, "halves")
        curve = _summary(halves.strengths, self.average)
        reached = np.flatnonzero(curve.values >= self.threshold)
        place = int(reached[-1]) if reached.size else int(curve.values.argmax())
        k = study.candidates[place] if reached.size else 1
        return Selection(
            n_clusters=k,
            method="prediction_strength",
            candidates=np.array(study.candidates),
            score="prediction strength",
            curves={"prediction strength": curve},
            sentence=self._sentence(study.candidates[place], k, float(curve.values[place])),
            stability=halves.stability(place),
        )

    def _sentence(self, best: int, k: int, strength: float) -> str:
        if k == 1:
            return (
                f"One cluster: no number tried reaches a prediction strength of {self.threshold:g} (the "
                f"highest is {strength:.2f}, for {best})."
            )
        return (
            f"{k} clusters: the largest number with a prediction strength of {self.threshold:g} or more "
            f"({strength:.2f})."
        )


class GPS(Method):
    r"""The number of clusters whose prediction strength is farthest above that of data without clusters.

    .. math:: \mathrm{GPS}(k) = \mathrm{PS}(k) - E[\mathrm{PS}(k)_{null}]

    (thesis (40)). The candidate with the largest gap is taken if its prediction strength lies above the mean
    plus one standard deviation of the null's, (41)-(42); otherwise there is one cluster. The null
    distribution is that of single splits of data without clusters, all of them pooled.

    Parameters
    ----------
    n_repeats : int, default=20
        Random splits of the samples into two halves. The thesis takes 50.
    n_nulls : int, default=20
        Data sets without clusters.
    n_null_repeats : int, default=5
        Random splits of each of these.
    average : {"mean", "median"}, default="mean"
        Over the splits.
    """

    def __init__(
        self, n_repeats: int = 20, n_nulls: int = 20, n_null_repeats: int = 5, average: str = "mean"
    ) -> None:
        check_number("n_repeats", n_repeats, least=1, whole=True)
        check_number("n_nulls", n_nulls, least=2, whole=True)
        check_number("n_null_repeats", n_null_repeats, least=1, whole=True)
        check_known("average", average, tuple(AVERAGES))
        self.n_repeats, self.average = n_repeats, average
        self.n_nulls, self.n_null_repeats = n_nulls, n_null_repeats

    def choose(self, study: Study) -> Selection:
        """Return the answer."""
        halves = HalvedData(study, self.n_repeats, "halves of the samples")
        measure = partial(_strengths, self.n_null_repeats)
        return study.over_nulls(measure, self.n_nulls, partial(self._answer, study, halves))

    def _answer(self, study: Study, halves: HalvedData, found: list[Array]) -> Selection:
        strength, nulls = _summary(halves.strengths, self.average), np.concatenate(found)
        null = Curve(
            AVERAGES[self.average](nulls, axis=0), nulls.std(axis=0, ddof=1), "standard deviation over splits"
        )
        assert null.spread is not None
        gap = Curve(strength.values - null.values, null.spread, null.meaning)  # (40)
        place = int(gap.values.argmax())
        has_clusters = gap.values[place] > null.spread[place]  # (41), (42)
        p_values = (1 + (nulls >= strength.values).sum(axis=0)) / (1 + len(nulls))
        k = study.candidates[place] if has_clusters else 1
        return Selection(
            n_clusters=k,
            method="gps",
            candidates=np.array(study.candidates),
            score="gap of prediction strength",
            curves={
                "prediction strength": strength,
                "prediction strength (null)": null,
                "gap of prediction strength": gap,
            },
            sentence=_gps_sentence(study.candidates[place], k, strength.values[place], null, place, p_values),
            p_values=p_values,
            stability=halves.stability(place),
        )


def _strengths(n_repeats: int, study: Study) -> Array:
    return HalvedData(study, n_repeats, "halves of a null").strengths


def _summary(strengths: Array, average: str) -> Curve:
    error = strengths.std(axis=0, ddof=1) / np.sqrt(len(strengths)) if len(strengths) > 1 else None
    return Curve(AVERAGES[average](strengths, axis=0), error, "standard error over the splits")


def _gps_sentence(best: int, k: int, strength: float, null: Curve, place: int, p_values: Array) -> str:
    assert null.spread is not None
    expected = f"{null.values[place]:.2f} ± {null.spread[place]:.2f}"
    if k == 1:
        return (
            f"One cluster: the most promising number, {best}, has a prediction strength of {strength:.2f}, "
            f"no more than data without clusters ({expected}; p = {p_values[place]:.2f})."
        )
    return (
        f"{k} clusters: halves of the samples predict each other's clusters with a strength of "
        f"{strength:.2f}, where data without clusters have {expected} (p = {p_values[place]:.2f})."
    )
