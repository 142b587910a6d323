from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from symclust.exceptions import InputTypeError
from symclust.plotting import picture, plot_selection
from symclust.selection import Curve, Selection

K = np.array([2, 3, 4, 5])


def choice(p_values=None, candidates=K, **curves):
    return Selection(3, "any", candidates, "score", curves, "A sentence.", p_values=p_values)


def plain():
    return choice(score=Curve(np.array([0.5, 0.9, 0.7, 0.6]), np.full(4, 0.1), "standard error"))


def with_null(score="prediction strength", n_clusters=3, p_values=None):
    curves = {
        "gap": Curve(np.array([0.1, 0.4, 0.2, 0.1])),
        "prediction strength": Curve(np.array([0.9, 0.95, 0.7, 0.6]), np.full(4, 0.05), "standard deviation"),
        "prediction strength (null)": Curve(
            np.array([0.8, 0.6, 0.5, 0.5]), np.full(4, 0.1), "standard deviation"
        ),
    }
    return Selection(n_clusters, "gps", K, score, curves, "", p_values=p_values)


def named(ax):
    return {line.get_label(): line for line in ax.lines}


def test_the_score_its_band_and_the_choice():
    ax = plot_selection(plain())
    lines = named(ax)
    np.testing.assert_array_equal(lines["score"].get_xydata(), np.c_[K, [0.5, 0.9, 0.7, 0.6]])
    assert lines["chosen: 3 clusters"].get_xydata().tolist() == [[3, 0.9]]
    (band,) = ax.collections
    assert band.get_label() == "± standard error"
    edges = band.get_paths()[0].vertices
    assert edges[:, 1].min() == pytest.approx(0.4)
    assert edges[:, 1].max() == pytest.approx(1.0)
    assert ax.get_ylabel() == "score"
    assert ax.get_xticks().tolist() == [2, 3, 4, 5]


def test_without_a_spread_there_is_no_band():
    assert not plot_selection(choice(score=Curve(np.arange(4.0)))).collections


@pytest.mark.parametrize("score", ["prediction strength", "gap"])
def test_a_null_is_drawn_with_the_curve_it_belongs_to(score):
    ax = plot_selection(with_null(score))
    lines = named(ax)
    assert lines["prediction strength"].get_ydata().tolist() == [0.9, 0.95, 0.7, 0.6]
    assert lines["without clusters"].get_ydata().tolist() == [0.8, 0.6, 0.5, 0.5]
    assert lines["prediction strength"].get_color() != lines["without clusters"].get_color()
    assert lines["chosen: 3 clusters"].get_ydata().tolist() == [0.95]
    assert len(ax.collections) == 2
    assert ax.get_ylabel() == "prediction strength"


def test_a_curve_called_null_belongs_to_the_score():
    ax = plot_selection(choice(score=Curve(np.ones(4)), null=Curve(np.zeros(4))))
    assert named(ax)["score"].get_ydata().tolist() == [1] * 4
    assert named(ax)["without clusters"].get_ydata().tolist() == [0] * 4


def test_p_values_stand_above_the_axis_and_below_the_curves():
    ax = plot_selection(with_null(p_values=np.array([0.05, 0.0123, 1.0, np.nan])))
    assert [(text.get_position()[0], text.get_text()) for text in ax.texts] == [
        (2, "0.05"),
        (3, "0.012"),
        (4, "1"),
    ]
    ax.figure.canvas.draw()
    top = max(text.get_window_extent().ymax for text in ax.texts)
    lowest = ax.transData.transform((0, 0.4))[1]  # of the lowest band
    assert top < lowest
    assert "p-values" in ax.get_xlabel()


def test_one_cluster_is_a_line_beside_the_candidates():
    ax = plot_selection(with_null(n_clusters=1))
    line = named(ax)["chosen: one cluster"]
    assert set(line.get_xdata()) == {1}
    assert ax.get_xticks().tolist() == [1, 2, 3, 4, 5]
    assert ax.get_xlim()[0] < 1


def test_many_candidates_have_whole_numbers_too():
    k = np.arange(2, 60)
    ax = plot_selection(choice(candidates=k, score=Curve(np.sin(k)), p_values=np.ones(58)))
    assert len(ax.get_xticks()) < 20
    assert all(tick == int(tick) for tick in ax.get_xticks())
    assert not ax.texts


def test_what_is_not_defined_leaves_a_gap():
    ax = plot_selection(
        choice(score=Curve(np.array([np.nan, 0.9, 0.7, 0.6]), np.array([np.nan, 0.1, 0.1, 0.1])))
    )
    ax.figure.canvas.draw()
    assert np.isfinite(ax.get_ylim()).all()


def test_draws_where_it_is_told_on_light_and_dark():
    axes = plt.subplots(1, 2)[1]
    assert plot_selection(plain(), axes[1]) is axes[1]
    assert plain().plot(axes[0]) is axes[0]
    pages = [picture(lambda ax: plot_selection(plain(), ax), dark=dark) for dark in (False, True)]
    assert pages[0] != pages[1]


def test_refuses_what_is_no_choice():
    with pytest.raises(InputTypeError, match="cannot be read from dict, which has no n_clusters, candidates"):
        plot_selection({})


def test_a_fitted_model_shows_its_choice():
    model = SimpleNamespace(selection_=plain())
    assert named(plot_selection(model)).keys() == named(plot_selection(plain())).keys()
