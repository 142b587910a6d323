import matplotlib.pyplot as plt
import numpy as np
import pytest

from symclust.exceptions import InputTypeError
from symclust.metrics import membership_calibration
from symclust.plotting import plot_calibration


def test_the_points_are_those_of_the_calibration():
    found = membership_calibration([0, 0, 1, 1], [[0.9, 0.1], [1, 0], [0.2, 0.8], [0.6, 0.4]])
    ax = plot_calibration(found)
    np.testing.assert_allclose(
        ax.collections[0].get_offsets(), np.column_stack([found.confidence, found.agreement])
    )
    plt.close(ax.figure)


def test_something_else_is_refused():
    with pytest.raises(InputTypeError, match="membership_calibration"):
        plot_calibration([1, 2])
