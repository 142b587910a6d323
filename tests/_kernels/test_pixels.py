"""The kernels of images, against plain loops."""

import numpy as np
import pytest
from scipy import sparse

from symclust import _kernels
from symclust.graphs._cues import ORIENTATIONS, Barriers, _bell, _disk
from symclust.graphs._image import Picture
from symclust.graphs.normalized_cut import normalized_cut
from symclust.graphs.pixels import _rays, compare_basins, compare_pixels


def half_disk_twin(bins, offsets, wedges, smoothing, n_bins):
    out = np.zeros((ORIENTATIONS, *bins.shape))
    for y, x in np.ndindex(bins.shape):
        counts = np.zeros((2 * ORIENTATIONS, n_bins))
        for (v, u), wedge in zip(offsets, wedges, strict=True):
            inside = 0 <= y + v < bins.shape[0] and 0 <= x + u < bins.shape[1]
            if inside and bins[y + v, x + u] >= 0:
                counts[wedge, bins[y + v, x + u]] += 1
        reach = len(smoothing) // 2
        smooth = np.array([np.convolve(row, smoothing)[reach : reach + n_bins] for row in counts])
        for o in range(ORIENTATIONS):
            left = smooth[[(o + w) % (2 * ORIENTATIONS) for w in range(ORIENTATIONS)]].sum(axis=0)
            right = smooth.sum(axis=0) - left
            if left.sum() > 0.5 and right.sum() > 0.5:
                g, h = left / left.sum(), right / right.sum()
                both = g + h > 1e-6
                out[o, y, x] = 0.5 * np.sum((g - h)[both] ** 2 / (g + h)[both])
    return out


@pytest.mark.parametrize(("radius", "width"), [(2.0, 0.0), (3.5, 1.5)])
def test_half_disks_as_the_twin(radius, width):
    bins = np.random.RandomState(0).randint(-1, 6, (9, 11)).astype(np.int32)
    offsets, wedges = _disk(radius)
    out = np.empty((ORIENTATIONS, 9, 11), dtype=np.float32)
    _kernels.half_disk_differences(bins, offsets, wedges, _bell(width), 6, out)
    np.testing.assert_allclose(out, half_disk_twin(bins, offsets, wedges, _bell(width), 6), atol=2e-5)


def test_both_halves_of_a_disk_are_equally_large():
    _, wedges = _disk(8.0)
    counts = np.bincount(wedges, minlength=2 * ORIENTATIONS)
    np.testing.assert_array_equal(counts[:ORIENTATIONS], counts[ORIENTATIONS:])


def highest_on_the_way(across, down, start, end):
    """What stands between two pixels, by walking the ray step by step."""
    (y, x), (v, u) = start, end
    steps = max(abs(v - y), abs(u - x))
    path, here = [(v, u)], (v - y, u - x)
    for left in range(steps, 1, -1):  # the pixel before the one `left` steps away
        here = tuple(int(np.sign(c)) * int(np.floor(abs(c) * (left - 1) / left + 0.5)) for c in here)
        path.append((y + here[0], x + here[1]))
    path.append((y, x))
    return max(one_step(across, down, a, b) for a, b in zip(path[1:], path[:-1], strict=True))


def one_step(across, down, a, b):
    (y, x), (v, u) = a, b
    if y == v:
        return across[y, min(x, u)]
    if x == u:
        return down[min(y, v), x]
    first = max(across[y, min(x, u)], down[min(y, v), u])
    return min(first, max(down[min(y, v), x], across[v, min(x, u)]))


@pytest.mark.parametrize("radius", [1.0, 1.5, 3.0, 4.5])
@pytest.mark.parametrize("colour_scale", [None, 20.0])
def test_affinity_as_the_twin(radius, colour_scale):
    rng = np.random.RandomState(1)
    rows, columns = 7, 9
    valid = rng.uniform(size=(rows, columns)) > 0.15
    picture = Picture(rng.uniform(size=(rows, columns, 3)).astype(np.float32), valid)
    across, down = rng.uniform(size=(2, rows, columns)).astype(np.float32)
    A = compare_pixels(picture, Barriers(across, down, valid), radius, 0.3, colour_scale)
    from symclust.graphs.pixels import _colours

    colours = _colours(picture, colour_scale)
    expected = np.zeros((rows * columns, rows * columns))
    for (y, x), (v, u) in ((a, b) for a in np.ndindex(rows, columns) for b in np.ndindex(rows, columns)):
        below = v > y or (v == y and u > x)
        if below and valid[y, x] and valid[v, u] and (v - y) ** 2 + (u - x) ** 2 <= radius**2:
            height = highest_on_the_way(across, down, (y, x), (v, u))
            apart = np.sum((colours[y, x] - colours[v, u]) ** 2)
            i, j = y * columns + x, v * columns + u
            expected[i, j] = expected[j, i] = np.exp(-height / 0.3 - apart)
    np.testing.assert_allclose(A.toarray(), expected, rtol=1e-5, atol=1e-12)
    assert abs(A - A.T).max() == 0
    assert A.has_canonical_format


@pytest.fixture
def masked():
    """A picture of 40 × 300 pixels with gaps, wider than a strip, and random barriers and basins."""
    rng = np.random.RandomState(2)
    valid = rng.uniform(size=(40, 300)) > 0.1
    basins = np.kron(rng.permutation(8 * 60).reshape(8, 60), np.ones((5, 5), int)).astype(np.int32)
    across, down = rng.uniform(size=(2, 40, 300)).astype(np.float32)
    picture = Picture(rng.uniform(size=(40, 300, 1)).astype(np.float32), valid)
    return picture, Barriers(across, down, np.where(valid, basins, np.int32(-1)))


@pytest.mark.parametrize(("radius", "density"), [(1.0, 1.0), (6.5, 1.0), (20.0, 0.1)])
def test_sums_of_basins_are_those_of_their_pixels(masked, radius, density):
    picture, barriers = masked
    E = compare_pixels(*masked, radius, 0.3, density=density).astype(float)
    inside = picture.valid.ravel()
    ones, pixels = np.ones(inside.sum()), np.flatnonzero(inside)
    S = sparse.csr_array((ones, (pixels, barriers.basins.ravel()[inside])), shape=(inside.size, 480))
    plain, normalized = compare_basins(*masked, radius, 0.3, density)
    np.testing.assert_allclose(plain.toarray(), (S.T @ (E @ S)).toarray(), rtol=1e-12)
    np.testing.assert_allclose(normalized.toarray(), (S.T @ (normalized_cut(E) @ S)).toarray(), rtol=1e-12)


def test_rays_lead_outwards_one_step_at_a_time():
    rays = _rays(20.0)
    start = np.array([[0, 0]])
    before = np.where(rays.before[:, None] >= 0, rays.offsets[rays.before], start)
    assert np.abs(rays.offsets - before).max() == 1
    assert (np.abs(rays.offsets).max(axis=1) == np.abs(before).max(axis=1) + 1).all()
    assert (rays.before < np.arange(len(rays.before))).all()


def test_same_bits_on_any_number_of_threads(masked):
    from threadpoolctl import threadpool_limits

    many = [compare_pixels(*masked, 8.0, 0.1), *compare_basins(*masked, 8.0, 0.1)]
    with threadpool_limits(1):
        one = [compare_pixels(*masked, 8.0, 0.1), *compare_basins(*masked, 8.0, 0.1)]
    for ours, theirs in zip(many, one, strict=True):
        np.testing.assert_array_equal(ours.data, theirs.data)
