"""The weights behind `graphs.edge_strength`: a logistic regression on boundaries that people drew.

Trained on all images, and on each half to be judged on the other, which shows what holds for unseen images.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage
from sklearn.linear_model import LogisticRegression

from benchmarks._images import Drawn, drawn_images
from benchmarks._tools import table
from symclust.applications.images._regions import borders, join_small, merge_order, ultrametric
from symclust.graphs import _cues, find_barriers, read_image
from symclust.metrics import boundary_precision_recall

NAMES = ("brightness", "a", "b", "texture")
ROUNDS = 4  # the orientation of each pixel depends on the weights, and these on it
NEAR, FAR = 1.0, 2.5  # pixels from a drawn boundary: on it, and off it; nothing is said of those in between


def main() -> None:
    """Train and print the weights, with the best F of the borders alone on images not trained on."""
    images = list(drawn_images())
    if not images:
        return
    gradients = {one.number: _gradients(one.image) for one in images}
    rows = []
    for name, train, test in (
        ("all", images, images),
        ("even", images[::2], images[1::2]),
        ("odd", images[1::2], images[::2]),
    ):
        weights, intercept = _train(train, gradients)
        rows.append({
            "trained on": name, **dict(zip(NAMES, weights.tolist(), strict=True)), "intercept": intercept,
            "best F": _judge(test, gradients, weights, intercept),
            "on": "the same" if train is test else "the others",
        })  # fmt: skip
    table("Weights of the cues of edges", rows)


def _gradients(image: np.ndarray) -> np.ndarray:
    """Return cues × orientations × rows × columns."""
    picture = read_image(image)
    channels = _cues.lab_channels(picture)
    cues = zip((_cues.BRIGHTNESS, *_cues.COLOUR), np.moveaxis(channels, 2, 0), strict=True)
    found = [_cues._gradient(_cues._binned(channel), _cues.BINS, cue, picture.valid) for cue, channel in cues]
    textons = _cues._textons(channels[:, :, 0], picture.valid)
    return np.stack([*found, _cues._gradient(textons, _cues.TEXTONS, _cues.TEXTURE, picture.valid)])


def _train(images: list[Drawn], gradients: dict) -> tuple[np.ndarray, float]:
    weights = np.ones(len(NAMES))
    for _ in range(ROUNDS):
        parts = [_examples(one, gradients[one.number], weights) for one in images]
        X, y, sample_weight = (np.concatenate(column) for column in zip(*parts, strict=True))
        model = LogisticRegression(C=1e6).fit(X, y, sample_weight)
        weights = np.maximum(model.coef_[0], 0)
    return weights, float(model.intercept_[0])


def _examples(one: Drawn, gradients: np.ndarray, weights: np.ndarray) -> tuple:
    best = np.tensordot(weights, gradients, (0, 0)).argmax(axis=0)
    X = np.take_along_axis(gradients, best[None, None], axis=1)[:, 0].reshape(len(NAMES), -1).T
    distance = np.stack([ndimage.distance_transform_edt(~drawn) for drawn in one.boundaries])
    on, off = (distance <= NEAR).mean(axis=0).ravel(), (distance > FAR).mean(axis=0).ravel()
    return (
        np.concatenate([X[on > 0], X[off > 0]]),
        np.repeat([1, 0], [np.count_nonzero(on), np.count_nonzero(off)]),
        np.concatenate([on[on > 0], off[off > 0]]),
    )


def _judge(images: list[Drawn], gradients: dict, weights: np.ndarray, intercept: float) -> float:
    """Return the best F of borders by edge strength alone, without any clustering."""
    curves = []
    for one in images:
        edges = 1 / (1 + np.exp(-np.tensordot(weights, gradients[one.number], (0, 0)) - intercept))
        barriers = find_barriers(edges.astype(np.float32), np.ones(edges.shape[1:], dtype=bool))
        leaves = join_small(barriers.basins, barriers.across, barriers.down, 20)
        border = borders(leaves, barriers.across, barriers.down)
        strength = ultrametric(leaves, border, merge_order(border, int(leaves.max()) + 1))
        curves.append(boundary_precision_recall(one.boundaries, np.minimum(strength, 1)))
    return sum(curves).best_f
