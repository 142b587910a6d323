from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from symclust.exceptions import InputError, InputTypeError
from symclust.plotting import picture, plot_consensus
from symclust.selection import ConsensusMatrix, Selection


def runs(n, k, seed=0):
    rng = np.random.RandomState(seed)
    return np.where(rng.uniform(size=(9, n)) < 0.9, np.arange(n) % k, rng.randint(k, size=(9, n)))


def selection(**options):
    matrices = {k: ConsensusMatrix(runs(30, k)) for k in (2, 3)}
    return Selection(3, "consensus", np.array([2, 3]), "", {}, "", consensus=matrices, **options)


def test_clusters_are_blocks_with_frames():
    ax = plot_consensus(ConsensusMatrix([[0, 1, 0, 1, 1], [1, 0, 1, 0, 0]]))
    tiles = np.asarray(ax.images[0].get_array())
    sizes = [line.get_xdata()[1] - line.get_xdata()[0] for line in ax.lines]
    assert sorted(sizes) == [2, 3]
    cut = int(sizes[0])
    assert tiles[:cut, :cut].min() == tiles[cut:, cut:].min() == 1
    assert tiles[:cut, cut:].max() == 0


def test_colours_run_from_zero_to_one_and_are_explained():
    ax = plot_consensus(ConsensusMatrix(runs(40, 2)))
    assert ax.images[0].get_clim() == (0, 1)
    bar = [other for other in ax.figure.axes if other is not ax]
    assert [other.get_ylabel() for other in bar] == ["share of runs together"]


def test_large_matrices_are_averaged():
    matrix = ConsensusMatrix(runs(120, 3))
    tiles = np.asarray(plot_consensus(matrix, max_size=40).images[0].get_array())
    order = matrix.order()
    C = matrix.values[np.ix_(order, order)]
    np.testing.assert_allclose(tiles, C.reshape(40, 3, 40, 3).mean(axis=(1, 3)))


def test_a_set_of_samples_is_called_one():
    ax = plot_consensus(ConsensusMatrix(runs(120, 3), max_samples=60), 3)
    assert ax.get_xlabel() == "60 of 120 samples in 3 clusters"


def test_a_selection_has_its_matrix_chosen():
    assert plot_consensus(selection()).get_xlabel() == "30 samples in 3 clusters"
    assert plot_consensus(selection(), 2).get_xlabel() == "30 samples in 2 clusters"
    with pytest.raises(InputError, match=r"no consensus matrix for k=7. Choose one of 2, 3"):
        plot_consensus(selection(), 7)
    other = Selection(2, "gap", np.array([2]), "gap", {}, "")
    with pytest.raises(InputError, match="'gap' keeps no consensus matrices"):
        plot_consensus(other)


def test_draws_where_it_is_told_on_light_and_dark():
    axes = plt.subplots(1, 2)[1]
    assert plot_consensus(selection(), None, axes[1]) is axes[1]
    assert not axes[0].images
    pages = [picture(lambda ax: plot_consensus(selection(), ax=ax), dark=dark) for dark in (False, True)]
    assert pages[0] != pages[1]


def test_nothing_has_the_colour_of_the_page():
    for page in ("white", "black"):
        ax = plt.subplots()[1]
        ax.set_facecolor(page)
        image = plot_consensus(selection(), ax=ax).images[0]
        assert image.get_cmap()(0.0)[:3] == ((1, 1, 1) if page == "white" else (0, 0, 0))


def test_refuses_what_is_no_consensus():
    for wrong in (np.eye(3), SimpleNamespace(values=1), None):
        with pytest.raises(InputTypeError, match=f"cannot be read from {type(wrong).__name__}, which has no"):
            plot_consensus(wrong)


def test_a_fitted_model_shows_its_consensus():
    model = SimpleNamespace(selection_=selection())
    assert plot_consensus(model).get_xlabel() == plot_consensus(selection()).get_xlabel()
