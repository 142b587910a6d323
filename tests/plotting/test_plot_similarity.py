import networkx as nx
import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from symclust import SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import InputError, InputTypeError
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


def test_a_fitted_model_brings_its_similarities_and_labels():
    X = np.random.default_rng(0).random((30, 3))
    model = SymNMF(2, random_state=0).fit(X)
    drawn, wanted = plot_similarity(model), plot_similarity(model.affinity_matrix_, model.labels_)
    assert np.array_equal(drawn.images[0].get_array(), wanted.images[0].get_array())
    assert drawn.get_xlabel() == "30 samples in 2 clusters"
    assert plot_similarity(model, np.zeros(30)).get_xlabel() == "30 samples in 1 cluster"
    after = plot_before_after(model).axes[1]
    assert np.array_equal(after.images[0].get_array(), wanted.images[0].get_array())


def test_lists_are_similarities_too():
    assert np.array_equal(
        plot_similarity([[1.0, 0.5], [0.5, 1.0]]).images[0].get_array(), [[1, 0.5], [0.5, 1]]
    )


def test_what_is_no_similarity_is_refused_by_name():
    with pytest.raises(NotFittedError, match="SymNMF"):
        plot_similarity(SymNMF(2))
    with pytest.raises(InputTypeError, match=r"KMeans has no affinity_matrix_.*plot_similarity\(A, model"):
        plot_similarity(KMeans(1, n_init=1).fit(np.eye(3)))
    for wrong, name in [
        ("data.csv", "str"),
        (["data.csv"], "list"),
        (nx.path_graph(3), "Graph"),
        (None, "NoneType"),
    ]:
        with pytest.raises(InputTypeError, match=f"cannot be read from {name}: give a fitted model"):
            plot_similarity(wrong)
    with pytest.raises(InputError, match="needs clusters"):
        plot_before_after(np.eye(3))


def test_names_are_shown_as_they_are():
    ax = plot_similarity(np.eye(4), ["\ud800", "a\x00b", "$\\foo$", "<b>"])
    ax.figure.canvas.draw()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["$\\foo$", "<b>", r"a\x00b", r"\ud800"]


def test_samples_in_no_cluster_come_last_and_are_called_none():
    A = np.pad(np.kron(np.eye(2), np.ones((3, 3))), (2, 0))
    ax = plot_similarity(A, [-1, -1, 0, 0, 0, 1, 1, 1])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "none"]
    assert ax.get_xlabel() == "8 samples in 2 clusters"
    np.testing.assert_array_equal(ax.images[0].get_array()[:3, :3], np.ones((3, 3)))
    assert not ax.images[0].get_array()[6:].any()


def test_frames_are_few_however_many_clusters():
    """Each is an object of matplotlib's; 300,000 of them took minutes."""
    A, y = planted_partition(n_samples=4000, n_clusters=2, degree=5, random_state=0)
    labels = np.where(y == 0, 0, np.arange(4000))  # one large cluster and 2,000 of one sample
    ax = plot_similarity(A, labels, max_size=50)
    (frame,) = ax.lines
    assert frame.get_xdata().tolist() == [0, 2000, 2000, 0, 0]
    assert ax.get_xlabel() == "4,000 samples in 2,001 clusters"
    assert ax.images[0].get_array().shape == (50, 50)
    assert not plot_similarity(A, np.arange(4000), max_size=50).lines
