from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symclust.exceptions import InputError
from symclust.metrics import clustering_accuracy


def brute_force(y, z):
    """Try every one-to-one map of clusters to classes, padded to equal numbers."""
    k = max(*y, *z) + 1
    return max(np.mean([p[b] == a for a, b in zip(y, z, strict=True)]) for p in permutations(range(k)))


partitions = st.integers(1, 15).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
    )
)


@given(partitions)
def test_equals_the_best_of_all_renamings(pair):
    y, z = pair
    assert clustering_accuracy(y, z) == pytest.approx(brute_force(y, z))
    assert clustering_accuracy(y, z) == clustering_accuracy(z, y)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.permutations(list("abcdef")))
def test_names_do_not_matter(y, names):
    assert clustering_accuracy(y, [names[c] for c in y]) == 1.0


def test_surplus_clusters_are_errors():
    assert clustering_accuracy(["a"] * 4, [0, 0, 0, 1]) == 0.75
    assert clustering_accuracy(np.arange(4), np.zeros(4)) == 0.25


def test_refuses_what_is_no_pair_of_labellings():
    with pytest.raises(InputError, match=r"shape \(3,\) and labels_pred \(2,\)"):
        clustering_accuracy([0, 1, 2], [0, 1])
    with pytest.raises(InputError, match=r"labels_true has shape \(0,\)"):
        clustering_accuracy([], [])
    with pytest.raises(InputError, match=r"labels_pred \(2, 1\)"):
        clustering_accuracy([0, 1], [[0], [1]])
