import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputError
from symclust.metrics import average_normalized_cut, within_cluster_similarity
from symclust.operators import as_operator


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_is_its_definition_for_every_form_of_a(n, seed):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    A = A + A.T
    labels = rng.integers(0, 4, n)
    shares = []
    for label in set(labels):
        own = labels == label
        volume = A[own].sum()
        shares.append(A[np.ix_(own, ~own)].sum() / volume if volume else 1.0)
    for form in (A, A.tolist(), sp.csr_array(A), as_operator(A)):
        assert average_normalized_cut(form, labels) == pytest.approx(np.mean(shares))


def test_pieces_cost_nothing_and_many_clusters_are_fine():
    A = sp.block_diag([np.ones((2, 2))] * 150).tocsr()
    assert average_normalized_cut(A, np.repeat(np.arange(150), 2)) == 0
    assert average_normalized_cut(A, np.arange(300)) == pytest.approx(0.5)


@pytest.mark.parametrize("measure", [average_normalized_cut, within_cluster_similarity])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64, np.float32])
def test_similarities_of_any_kind_of_number(measure, dtype):
    A, labels = np.ones((300, 300)) * (1 if dtype is bool else 100), np.arange(300) // 150
    kinds = [A.astype(dtype), sp.csr_array(A.astype(dtype)), pd.DataFrame(A.astype(dtype))]
    for kind in kinds:
        assert measure(kind, labels) == pytest.approx(measure(A, labels))


@pytest.mark.parametrize("measure", [average_normalized_cut, within_cluster_similarity])
def test_refuses_other_numbers_of_labels(measure):
    with pytest.raises(InputError, match=r"labels of shape \(3,\)"):
        measure(np.eye(2), [0, 1, 1])
    with pytest.raises(InputError, match=r"labels of shape \(2, 1\)"):
        measure(np.eye(2), [[0], [1]])
    with pytest.raises(InputError, match="at least one sample"):
        measure(np.zeros((0, 0)), [])
    with pytest.raises(InputError, match="Of a graph"):
        measure(nx.path_graph(3), [0, 1, 1])


def test_refuses_numbers_that_are_none():
    with pytest.raises(InputError, match="NaN"):
        average_normalized_cut(np.full((2, 2), np.nan), [0, 1])
