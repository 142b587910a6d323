"""An image of 240 × 160 pixels, k = 16: our way beside scikit-learn's and scikit-image's, for time and F."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import spectral_clustering

from benchmarks._images import Drawn, drawn_images
from benchmarks._tools import table, timed
from symclust import segment_image
from symclust.applications.images._segmentations import PixelGraph, clusters_of_factor, factor
from symclust.graphs import as_picture, compare_basins, compare_pixels, find_barriers, pixel_edges
from symclust.metrics import boundary_map, boundary_precision_recall

K = 16
IMAGES = 5  # for F; times are those of the first


def main() -> None:
    """Run everything on every fourth image; spectral clustering on the first alone."""
    warnings.simplefilter("ignore")
    images = list(drawn_images(step=4))[:IMAGES]
    if not images:
        return
    rows = _on_one_affinity(images[0])
    for name, work in _others().items():
        took, labels = zip(
            *(timed(lambda work=work, one=one: work(one.image)) for one in images), strict=True
        )
        curve = sum(_curve(one, label) for one, label in zip(images, labels, strict=True))
        found = float(np.mean([len(np.unique(label)) for label in labels]))
        rows.append({"way": name, "seconds": took[0], "F": curve.best_f, "regions": found})
    table("Segmentation of an image of 240 x 160 pixels", rows)


def _on_one_affinity(one: Drawn) -> list[dict[str, Any]]:
    """Compare factoring with eigenvectors on the same similarities, 44 million of them."""
    picture = as_picture(one.image)
    barriers = find_barriers(pixel_edges(picture), picture.valid)
    summing, basins = timed(lambda: compare_basins(picture, barriers, 20.0, 0.05))
    building, E = timed(lambda: compare_pixels(picture, barriers, 20.0, 0.05))
    rows = []
    for unit, built in (("basins", summing), ("pixels", summing + building)):
        graph = PixelGraph(barriers.basins.ravel(), *basins, E if unit == "pixels" else None)
        took, labels = timed(lambda graph=graph: clusters_of_factor(graph, factor(graph, K, 0)))
        way = f"similarities and SymNMF(16), unit={unit!r}"
        rows.append({"way": way, "seconds": built + took, "F": _f(one, labels)})
    spectral, labels = timed(
        lambda: spectral_clustering(
            E, n_clusters=K, eigen_solver="lobpcg", assign_labels="cluster_qr", random_state=0
        )
    )
    way = "scikit-learn spectral_clustering (lobpcg), graph given"
    rows.append({"way": way, "seconds": spectral, "F": _f(one, labels)})
    ours, answer = timed(lambda: segment_image(one.image, K, random_state=0))
    rows.append({"way": "segment_image(image, 16), all of it", "seconds": ours, "F": _f(one, answer.labels)})
    return [row | {"nonzeros": E.nnz, "spectral / this": spectral / row["seconds"]} for row in rows]


def _others() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    from skimage.graph import cut_normalized, rag_mean_color
    from skimage.segmentation import felzenszwalb, slic

    def normalized(image: np.ndarray) -> np.ndarray:
        superpixels = slic(image, compactness=30, n_segments=400, start_label=1)
        return cut_normalized(superpixels, rag_mean_color(image, superpixels, mode="similarity"))

    return {
        "segment_image, fast preset": lambda image: (
            segment_image(image, preset="fast", random_state=0).labels
        ),
        "segment_image": lambda image: segment_image(image, random_state=0).labels,
        "scikit-image normalised cut of 400 superpixels": normalized,
        "scikit-image SLIC, 16": lambda image: slic(image, n_segments=K, start_label=0),
        "scikit-image Felzenszwalb, scale 100": lambda image: felzenszwalb(image, scale=100, min_size=50),
    }


def _f(one: Drawn, labels: np.ndarray) -> float:
    return _curve(one, np.reshape(labels, one.image.shape[:2])).best_f


def _curve(one: Drawn, labels: np.ndarray):
    return boundary_precision_recall(one.boundaries, boundary_map(labels), thresholds=1)
