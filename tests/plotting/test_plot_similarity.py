import numpy as np
from matplotlib import pyplot as plt

from symclust.datasets import planted_partition
from symclust.plotting import plot_before_after, plot_similarity


def test_borders_lie_between_clusters():
    A, y = planted_partition(n_samples=90, n_clusters=3, random_state=0)
    ax = plot_similarity(A, y, max_size=30)
    starts = [line.get_xdata()[0] for line in ax.lines]
    ends = [line.get_xdata()[1] for line in ax.lines]
    assert (starts, ends) == ([0, 30, 60], [30, 60, 90])
    assert ax.images[0].get_array().shape == (30, 30)


def test_tiles_on_the_diagonal_are_the_strong_ones():
    A, y = planted_partition(n_samples=90, n_clusters=3, mixing=0.1, random_state=0)
    tiles = plot_similarity(A, y, max_size=3).images[0].get_array()
    assert tiles.diagonal().min() > 3 * (tiles - np.diag(tiles.diagonal())).max()


def test_without_labels_keeps_the_order_and_draws_no_borders():
    A = np.diag([3.0, 1.0, 2.0])
    ax = plot_similarity(A)
    assert np.array_equal(ax.images[0].get_array(), A)
    assert not ax.lines


def test_draws_where_it_is_told():
    axes = plt.subplots(1, 2)[1]
    assert plot_similarity(np.eye(4), [0, 0, 1, 1], axes[1]) is axes[1]
    assert not axes[0].images


def test_negative_similarities_are_centred_on_zero():
    image = plot_similarity(np.array([[1.0, -3.0], [-3.0, 2.0]])).images[0]
    low, high = image.get_clim()
    assert low == -high < 0


def test_all_zero_matrix_and_many_clusters():
    ax = plot_similarity(np.zeros((40, 40)), np.arange(40))
    assert len(ax.lines) == 40
    assert not ax.get_yticklabels()  # forty names would run into each other


def test_before_is_shuffled_and_after_is_ordered():
    A, y = planted_partition(n_samples=60, n_clusters=2, random_state=0)
    before, after = plot_before_after(A, y).axes
    order = np.argsort(y, kind="stable")
    assert np.array_equal(after.images[0].get_array(), A.toarray()[np.ix_(order, order)])
    first = before.images[0].get_array()
    assert not np.array_equal(first, after.images[0].get_array())
    assert first.sum() == A.sum()
    again = plot_before_after(A, y, random_state=0).axes[0].images[0].get_array()
    assert np.array_equal(first, again)
