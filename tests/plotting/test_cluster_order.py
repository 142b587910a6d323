import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symclust.exceptions import InputError
from symclust.plotting import cluster_order


@given(st.lists(st.sampled_from("abcd"), max_size=40))
def test_groups_clusters_and_keeps_order_inside(labels):
    order = cluster_order(labels)
    assert sorted(order) == list(range(len(labels)))
    assert [(labels[i], i) for i in order] == sorted((label, i) for i, label in enumerate(labels))


def test_refuses_a_table():
    with pytest.raises(InputError, match=r"shape \(2, 2\)"):
        cluster_order(np.zeros((2, 2)))
