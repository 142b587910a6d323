"""Factors of parts of a data matrix, against the same algorithm in NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.optimize import nnls

from symclust import NMF, _kernels
from symclust.datasets import simulated_expression
from symclust.exceptions import InputError

MASK = (1 << 64) - 1


def label_parts(X, parts, counts, seeds, *, has_offset, n_init=1, max_iter=60, inner=8, tol=1e-3, place=True):
    labels = np.full((len(parts), len(counts), len(X)), -7, dtype=np.int32)
    _kernels.label_parts(
        X,
        np.cumsum([0, *map(len, parts)], dtype=np.int64),
        np.concatenate(parts).astype(np.int64),
        np.array(counts, dtype=np.int64),
        np.array(seeds, dtype=np.uint64),
        has_offset,
        n_init,
        max_iter,
        inner,
        tol,
        place,
        labels,
    )
    return labels


class Twin:
    """One part in plain NumPy; factors have one row per column, the first the offset's where there is one."""

    def __init__(self, X, k, seed, has_offset, inner=8, tol=1e-3):
        self.X, self.k, self.first, self.inner, self.tol = X, k, int(has_offset), inner, tol
        self.state = int(seed)
        self.begin()

    def uniform(self, size):
        found = []
        for _ in range(size):
            self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
            z = self.state
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            found.append(((z ^ (z >> 31)) >> 11) * 2.0**-53)
        return np.array(found)

    def begin(self):
        (n, m), k = self.X.shape, self.k + self.first
        least = self.X.min(axis=0) if self.first else np.zeros(m)
        mean = (self.X - least).mean()
        self.level = np.sqrt(mean) if self.first else 1.0
        self.W, self.C = np.zeros((k, n)), np.zeros((k, m))
        if self.first:
            self.W[0], self.C[0] = self.level, least / self.level
        for l in range(self.first, k):
            scale = 2 * np.sqrt(mean / self.k)
            self.W[l] = scale * self.uniform(n)
            self.C[l] = scale * self.uniform(m)

    def sweep(self, G, R, Y, first):
        squared = 0.0
        for l in range(first, len(Y)):
            slope = R[l] - G[l] @ Y
            squared += np.square(slope[(Y[l] > 0) | (slope > 0)]).sum()
            Y[l] = np.maximum(Y[l] + slope / G[l, l], 0)
        return squared

    def improve(self, G, R, Y, first):
        squared, *_ = (self.sweep(G, R, Y, first) for _ in range(self.inner))
        return squared

    def descend(self, max_iter=60):
        share, most, last, reference = 0.5, 1.0, np.inf, 0.0
        Wy = self.W.copy()
        for iteration in range(max_iter):
            product, G = Wy @ self.X, Wy @ Wy.T
            before = self.C.copy()
            squared = self.improve(G, product, self.C, 0)
            value = np.square(self.X).sum() - 2 * (self.C * product).sum() + (G * (self.C @ self.C.T)).sum()
            Cy = self.C if iteration < 10 else np.maximum(self.C + share * (self.C - before), 0)
            before = self.W.copy()
            squared += self.improve(Cy @ Cy.T, Cy @ self.X.T, self.W, self.first)
            reference = reference or squared
            if squared <= self.tol**2 * reference:
                break
            if iteration < 10:
                Wy = self.W.copy()
            elif value > last:
                Wy, most, share = self.W.copy(), share, share / 1.5
            else:
                Wy = np.maximum(self.W + share * (self.W - before), 0)
                share, most = min(most, 1.05 * share), min(1.0, 1.01 * most)
            last = value
        return self

    def memberships(self, X):
        offset = self.level * self.C[0] if self.first else 0.0
        return np.array([nnls(self.C[self.first :].T, x)[0] for x in X - offset])

    def labels(self, X):
        own = self.memberships(self.X)
        scaled = self.memberships(X) * (own.sum(axis=0) / np.square(own).sum(axis=0))
        return np.where(scaled.any(axis=1), scaled.argmax(axis=1), -1)


@pytest.mark.parametrize("has_offset", [False, True])
@pytest.mark.parametrize("k", [2, 4, 9])
def test_labels_are_those_of_the_twin(has_offset, k):
    X, _ = simulated_expression(3, 0.25, n_samples=60, n_features=40, n_nuisance=10, random_state=k)
    part = np.sort(np.random.RandomState(0).permutation(60)[:37])
    found = label_parts(X, [part], [k], [5], has_offset=has_offset)[0, 0]
    twin = Twin(X[part], k, 5, has_offset).descend().labels(X)
    assert np.mean(found != twin) < 0.05  # a sample between two clusters may be rounded to either


@pytest.mark.parametrize("has_offset", [False, True])
def test_single_precision_gives_the_same_clusters(has_offset):
    X, _ = simulated_expression(3, 0.25, random_state=0)
    parts = [np.arange(0, 180, 2), np.arange(1, 180, 2)]
    double = label_parts(X, parts, [3], [1, 2], has_offset=has_offset)
    single = label_parts(X.astype(np.float32), parts, [3], [1, 2], has_offset=has_offset)
    assert np.mean(double != single) < 0.02


def test_known_clusters_are_found_and_others_placed():
    X, y = simulated_expression(4, 0.25, random_state=0)
    part = np.arange(0, 240, 2)
    found = label_parts(X.astype(np.float32), [part], [4], [0], has_offset=True)[0, 0]
    table = np.histogram2d(found, y, bins=(4, 4))[0]
    assert table.max(axis=0).sum() == 240  # each class has a cluster to itself


def test_samples_outside_a_part_are_left_alone_unless_asked_for():
    X, _ = simulated_expression(2, random_state=0)
    part = np.arange(0, 120, 3)
    found = label_parts(X, [part], [2], [0], has_offset=True, place=False)[0, 0]
    assert (found[part] >= 0).all() and (np.delete(found, part) == -7).all()


def test_more_clusters_than_samples_are_left_out():
    X, _ = simulated_expression(2, n_samples=20, random_state=0)
    found = label_parts(X, [np.arange(3)], [2, 5], [0], has_offset=False)
    assert (found[0, 0] >= 0).all() and (found[0, 1] == -7).all()


def test_the_best_of_several_starts_is_kept():
    X, _ = simulated_expression(5, 0.3, random_state=3)
    everything = [np.arange(len(X))] * 8

    def objectives(n_init):
        labels = label_parts(X, everything, [5], range(8), has_offset=True, n_init=n_init, tol=1e-4)[:, 0]
        means = [np.array([X[row == c].mean(axis=0) for c in range(5)]) for row in labels]
        return [np.square(X - mean[row]).sum() for row, mean in zip(labels, means, strict=True)]

    assert np.mean(objectives(6)) < np.mean(objectives(1))


def test_empty_rows_belong_nowhere_and_bits_do_not_depend_on_threads():
    X, _ = simulated_expression(2, n_samples=50, random_state=0)
    X[7] = 0
    first = label_parts(X, [np.arange(50)] * 6, [2, 3], range(6), has_offset=False)
    again = label_parts(X, [np.arange(50)], [2, 3], [0], has_offset=False)
    assert (first[:, :, 7] == -1).all()
    assert_array_equal(first[0], again[0])


@pytest.mark.parametrize("has_offset", [False, True])
@pytest.mark.parametrize("damage", [1e200, np.inf, np.nan])
def test_no_start_with_a_finite_misfit_is_an_error(has_offset, damage):
    X = np.random.default_rng(0).uniform(1, 2, size=(20, 6)) * damage
    with pytest.raises(ValueError, match=r"^label_parts: X is too large or not finite"):
        label_parts(X, [np.arange(20)], [2, 3], [0], has_offset=has_offset)


@pytest.mark.parametrize("damage", [np.inf, np.nan])
def test_estimators_say_that_it_overflows(damage):
    X = np.ones((20, 6))
    X[3, 2] = damage
    with pytest.raises(InputError, match="Rescale the features"):
        NMF()._label_parts(X, [np.arange(20)], [2], [0], place=True)


def test_huge_numbers_are_scaled_before():
    X = np.random.default_rng(0).uniform(size=(20, 6))
    same = [NMF()._label_parts(X * scale, [np.arange(20)], [2, 3], [0], True) for scale in (1, 2.0**600)]
    assert_array_equal(*same)
