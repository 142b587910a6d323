from types import SimpleNamespace

import numpy as np
import pytest

from symclust import SymNMF
from symclust.datasets import planted_partition
from symclust.exceptions import InputTypeError, OptionError
from symclust.plotting import plot_history

NAMES = "iteration,seconds,objective,stationarity"


@pytest.fixture
def history():
    steps = np.arange(5)
    return np.rec.fromarrays([steps, 0.5 * steps, 10.0 ** (3 - steps), 10.0**-steps], names=NAMES)


def curves(ax):
    (left,) = ax.lines
    (other,) = [axes for axes in ax.figure.axes if axes is not ax]
    (right,) = other.lines
    return left.get_xydata(), right.get_xydata()


def test_draws_both_curves_on_log_scales(history):
    ax = plot_history(history)
    objective, stationarity = curves(ax)
    assert np.array_equal(objective, np.c_[history.iteration, history.objective])
    assert np.array_equal(stationarity, np.c_[history.iteration, history.stationarity])
    assert {axes.get_yscale() for axes in ax.figure.axes} == {"log"}


def test_takes_a_model_and_seconds(history):
    ax = plot_history(SimpleNamespace(history_=history), against="seconds")
    assert np.array_equal(curves(ax)[0][:, 0], history.seconds)
    assert ax.get_xlabel() == "seconds"


def test_leaves_out_what_no_log_scale_can_show(history):
    history.objective[:] = [5, 2, 0, -1e-16, np.nan]
    ax = plot_history(history)
    assert curves(ax)[0][:, 1].tolist() == [5, 2]
    history.objective[:] = 0
    assert len(curves(plot_history(history))[0]) == 0


@pytest.mark.parametrize("none", [0.0, np.nan])
def test_without_stationarity_there_is_one_axis(history, none):
    history.stationarity[:] = none
    ax = plot_history(history)
    assert ax.figure.axes == [ax]


def test_iterations_are_whole_numbers(history):
    ax = plot_history(history[:3])
    assert all(tick == int(tick) for tick in ax.get_xticks())


def test_small_ranges_have_plain_numbers(history):
    history.objective[:] = [210, 190, 170, 160, 150]
    ax = plot_history(history)
    ax.figure.canvas.draw()
    assert "160" in [text.get_text() for text in ax.get_yticklabels()]


def test_refuses_what_is_no_history(history):
    with pytest.raises(InputTypeError, match="cannot be read from list: give a fitted model"):
        plot_history([1, 2, 3])
    with pytest.raises(InputTypeError, match="fields iteration, seconds, objective, stationarity"):
        plot_history(np.zeros(3, dtype=[("iteration", int), ("seconds", float)]))
    with pytest.raises(OptionError, match="against='time'"):
        plot_history(history, against="time")


def test_draws_a_real_run():
    A, _ = planted_partition(120, 3, random_state=0)
    model = SymNMF(3, affinity="precomputed", tol=1e-2, random_state=0).fit(A)
    objective, stationarity = curves(plot_history(model))
    assert objective[:, 0].tolist() == list(range(model.n_iter_ + 1))
    assert objective[-1, 1] == model.objective_
    assert stationarity[-1, 1] <= model.tol
