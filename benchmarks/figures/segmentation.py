"""Figure 9 of symnmf: precision and recall of four ways to regions, against the boundaries that people drew.

SEGMENTATION_UNIT=pixels lets every pixel go its own way, as in the paper, and takes an hour instead of
minutes; SEGMENTATION_STEP=4 takes every fourth image.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
from sklearn.metrics import rand_score

from benchmarks._images import drawn_images
from benchmarks._tools import RESULTS, table
from symclust import segment_image
from symclust.metrics import (
    boundary_precision_recall,
    human_boundary_agreement,
    region_covering,
    variation_of_information,
)

WAYS = {
    "SymNMF-Clust": "clusters",
    "SymNMF-Embed": "embedding",
    "Spectral-NJW": "spectral_clusters",
    "Spectral-Embed": "spectral_embedding",
}
OURS = "segment_image"
THRESHOLDS = 50


def main() -> None:
    """Segment the images in all ways; print best F and draw the curves."""
    unit = os.environ.get("SEGMENTATION_UNIT", "basins")
    curves: dict[str, list] = {name: [] for name in (*WAYS, OURS, "people")}
    regions: list[dict] = []
    answers = []
    for drawn in drawn_images(int(os.environ.get("SEGMENTATION_STEP", "1"))):
        curves["people"].append(human_boundary_agreement(drawn.boundaries))
        for name, way in WAYS.items():
            answer = _segment(drawn.image, way, unit)
            curves[name].append(_curve(drawn.boundaries, answer.boundary_probability))
            if name == "SymNMF-Clust":
                curves[OURS].append(_curve(drawn.boundaries, answer.border_strength))
                regions.append({"image": drawn.number, **_agreement(answer.labels, drawn.regions)})
                answers.append((answer, drawn))
        print(drawn.number, {name: round(c[-1].best_f, 3) for name, c in curves.items()}, flush=True)
    if not regions:
        return
    table(f"Boundaries, {len(regions)} images, unit={unit!r}", _summary(curves))
    table("Regions of segment_image with its defaults", [*regions, _mean(regions)])
    table("Regions where borders are kept from a strength on", _by_threshold(answers))
    _draw(curves, unit)


def _by_threshold(answers: list) -> list[dict]:
    rows = []
    for threshold in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5):
        found = []
        for answer, drawn in answers:
            k = 1 + sum(node.score >= threshold for node in answer.tree.nodes if node.children)
            found.append(_agreement(answer.cut(k), drawn.regions))
        rows.append(
            {"strength": threshold, **{name: float(np.mean([f[name] for f in found])) for name in found[0]}}
        )
    return rows


def _segment(image: np.ndarray, way: str, unit: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return segment_image(image, way=way, unit=unit, random_state=0)


def _curve(drawn: list[np.ndarray], probability: np.ndarray):
    return boundary_precision_recall(drawn, np.minimum(probability, 1), thresholds=THRESHOLDS)


def _agreement(labels: np.ndarray, drawn: list[np.ndarray]) -> dict[str, float]:
    return {
        "regions": int(labels.max()) + 1,
        "regions people drew": float(np.mean([len(np.unique(one)) for one in drawn])),
        "covering": float(np.mean([region_covering(one, labels) for one in drawn])),
        "variation of information": float(np.mean([variation_of_information(one, labels) for one in drawn])),
        "Rand index": float(np.mean([rand_score(one.ravel(), labels.ravel()) for one in drawn])),
    }


def _mean(regions: list[dict]) -> dict:
    return {"image": "mean"} | {
        name: float(np.mean([row[name] for row in regions])) for name in regions[0] if name != "image"
    }


def _summary(curves: dict[str, list]) -> list[dict]:
    rows = []
    for name, found in curves.items():
        pooled, best = sum(found), sum(one.at_best() for one in found)
        at = int(pooled.f.argmax())
        rows.append({
            "way": name, "best F": pooled.best_f, "F, each image its threshold": best.best_f,
            "precision": float(pooled.precision[at]), "recall": float(pooled.recall[at]),
            "threshold": pooled.best_threshold,
        })  # fmt: skip
    return rows


def _draw(curves: dict[str, list], unit: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
    for name, found in curves.items():
        pooled = sum(found)
        if name == "people":
            axes.plot(pooled.recall, pooled.precision, "*", ms=12, label=f"people, F = {pooled.best_f:.3f}")
            continue
        shown = pooled.found > 0
        style = "-" if name.startswith("S") else "--"
        axes.plot(
            pooled.recall[shown],
            pooled.precision[shown],
            style,
            label=f"{name}, best F = {pooled.best_f:.3f}",
        )
    _draw_levels(axes)
    axes.set(
        xlabel="recall",
        ylabel="precision",
        xlim=(0, 1),
        ylim=(0, 1),
        title=f"Boundaries of images, unit={unit!r}",
    )
    axes.legend(loc="lower left", fontsize=8)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / f"segmentation_{unit}.png", dpi=120)


def _draw_levels(axes) -> None:
    """Draw lines of equal F."""
    for F in np.arange(0.1, 1, 0.1):
        recall = np.linspace(F / 2 + 0.01, 1, 100)
        axes.plot(recall, F * recall / (2 * recall - F), color="0.9", lw=0.6, zorder=0)
