"""Typical and doubtful samples, and overlaps, out of how firmly each sample stands in its cluster."""

import numpy as np
import pytest

from symclust.estimators import by_shares
from symclust.report._belonging import Belonging


def belonging(H, labels):
    return Belonging(by_shares(np.array(H), np.array(labels)), is_calibrated=False)


def test_typical_are_clear_and_doubtful_are_torn():
    H = [[9.0, 8.0], [2.0, 0.0], [1.0, 0.1], [5.0, 0.0], [0.0, 1.0]]
    found = belonging(H, [0, 0, 0, 0, 1])
    members = np.arange(4)
    assert found.is_clear.tolist() == [False, True, True, True, True]
    assert found.rivalry.tolist() == pytest.approx([8 / 9, 0, 0.1, 0, 0])
    assert found.typical(members, 3).tolist() == [3, 1, 2]
    assert found.doubtful(members, 3).tolist() == [0]
    assert found.typical(np.array([0]), 1).tolist() == [0]  # where none is clear


def test_overlaps_count_both_sides():
    H = [[3.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    labels = np.array([0, 1, 1, 0])
    assert belonging(H, labels).overlaps(labels, 3) == {(0, 1): 2, (1, 2): 1}


@pytest.mark.parametrize("labels", [[-1, -1], [0, 0]])
def test_nothing_to_compare(labels):
    found = belonging(np.zeros((2, 2)), labels)
    assert not found.is_clear.any()
    assert not found.confidence.any()
    assert found.overlaps(np.array(labels), 2) == {}
