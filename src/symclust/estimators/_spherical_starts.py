"""Where spherical k-means starts."""

from __future__ import annotations

import numpy as np

from symclust._types import Array
from symclust.estimators._spherical_runs import SphericalRuns


def scattered_samples(runs: SphericalRuns, n_init: int, rng: np.random.RandomState) -> list[Array]:
    """Return k samples for each start, chosen as k-means++ does (Arthur and Vassilvitskii 2007).

    The next sample is drawn with probability proportional to 1 − cos with the nearest one so far, which on
    the sphere is half the squared distance. One product a sample serves all starts.
    """
    chosen = np.empty((n_init, runs.k), dtype=np.intp)
    far = np.repeat(np.where(runs.is_empty, 0.0, 1.0)[:, None], n_init, axis=1)
    for place in range(runs.k):
        chosen[:, place] = [_draw(column, runs.is_empty, rng) for column in far.T]
        for part in runs.parts(n_init, 1):
            cosines = runs.cosines([runs.rows(chosen[part, place]).T])[:, 0]
            far[:, part] = np.minimum(far[:, part], np.maximum(0, 1 - cosines))
            far[runs.is_empty, part] = 0
        far[chosen[:, place], np.arange(n_init)] = 0
    return list(chosen)


def _draw(weights: Array, is_empty: Array, rng: np.random.RandomState) -> int:
    total = np.cumsum(weights)
    if total[-1] > 0:
        return int(np.searchsorted(total, rng.uniform(0, total[-1]), side="right").clip(max=len(total) - 1))
    # Every direction is taken: a sample twice, whose cluster will be given the farthest sample instead.
    rest = np.flatnonzero(~is_empty)
    return int(rng.choice(rest if rest.size else len(weights)))
