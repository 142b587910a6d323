"""Agreement with every level of a tree of classes, and sparseness of factors."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import normalized_mutual_info_score

from symclust.exceptions import InputError
from symclust.metrics import factor_sparseness, nmi_by_level

PATHS = [("rec", "sport", "hockey"), ("rec", "sport", "baseball"), ("rec", "autos"), ("sci", "med"), ("sci",)]


@given(places=st.lists(st.integers(0, 4), min_size=1, max_size=30), data=st.data())
@settings(max_examples=40)
def test_each_level_is_scikit_learns_measure_on_the_shortened_paths(places, data):
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(places), max_size=len(places)))
    paths = [PATHS[place] for place in places]
    found = nmi_by_level(paths, labels)
    assert len(found) == max(len(path) for path in paths)
    for level, value in enumerate(found, start=1):
        names = [".".join(path[:level]) for path in paths]
        assert value == pytest.approx(normalized_mutual_info_score(names, labels))


def test_the_true_classes_agree_with_their_own_level():
    paths = PATHS * 4
    for level in (1, 2, 3):
        labels = np.unique([".".join(path[:level]) for path in paths], return_inverse=True)[1]
        assert nmi_by_level(paths, labels)[level - 1] == pytest.approx(1)


def test_equal_names_below_different_classes_are_different():
    paths = [("rec", "misc"), ("talk", "misc")] * 3
    assert nmi_by_level(paths, [0, 1] * 3)[1] == pytest.approx(1)


def test_arrays_and_paths_filled_up_with_none():
    array = np.array([[0, 0], [0, 1], [1, 2], [1, 2]])
    labels, paths = [0, 1, 2, 2], [tuple(row) for row in array]
    np.testing.assert_allclose(nmi_by_level(array, labels), nmi_by_level(paths, labels))
    ragged = [("a", "b"), ("c",), ("c",)]
    filled = np.array([["a", "b"], ["c", None], ["c", None]], dtype=object)
    np.testing.assert_array_equal(nmi_by_level(ragged, [0, 1, 0]), nmi_by_level(filled, [0, 1, 0]))


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA])
def test_a_table_has_a_row_a_sample(gap):
    table = pd.DataFrame({"top": ["a", "c", "c"], "below": ["b", gap, gap]})
    expected = nmi_by_level([("a", "b"), ("c",), ("c",)], [0, 1, 0])
    np.testing.assert_array_equal(nmi_by_level(table, [0, 1, 0]), expected)


def test_paths_that_cannot_be_read_are_refused():
    with pytest.raises(InputError, match=r"'rec.sport', must be a sequence"):
        nmi_by_level(["rec.sport"], [0])
    with pytest.raises(InputError, match="no gaps"):
        nmi_by_level([("rec", None, "hockey")], [0])
    with pytest.raises(InputError, match="needs a class at the top"):
        nmi_by_level([()], [0])
    with pytest.raises(InputError, match="There are 1 paths"):
        nmi_by_level([("rec",)], [0, 1])


def test_sparseness_is_the_share_of_zeros():
    H = np.array([[0.0, -0.1, 2.0], [0.0, 0.0, 1e-9]])
    assert factor_sparseness(H) == factor_sparseness(sparse.csr_array(H)) == 0.5
    assert factor_sparseness(H, threshold=0.1) == pytest.approx(5 / 6)
    stored = sparse.csr_array((np.zeros(2), np.array([0, 1]), np.array([0, 2])), shape=(1, 4))
    assert factor_sparseness(stored) == 1
    for form in (sparse.lil_array, sparse.dok_array, sparse.coo_array, sparse.csc_matrix):
        assert factor_sparseness(form(H)) == 0.5
    cancelled = sparse.coo_array(([1.0, -1.0, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert factor_sparseness(cancelled) == 0.75
    assert factor_sparseness([[np.nan, 0.0]]) == 0.5
    with pytest.raises(InputError, match="has no entries"):
        factor_sparseness(np.empty((0, 3)))
