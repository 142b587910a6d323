import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from symclust.exceptions import InputError
from symclust.metrics import normalized_cut
from symclust.operators import as_operator


@settings(max_examples=30, deadline=None)
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
        assert normalized_cut(form, labels) == pytest.approx(np.mean(shares))


def test_pieces_cost_nothing_and_many_clusters_are_fine():
    A = sp.block_diag([np.ones((2, 2))] * 150).tocsr()
    assert normalized_cut(A, np.repeat(np.arange(150), 2)) == 0
    assert normalized_cut(A, np.arange(300)) == pytest.approx(0.5)


def test_refuses_other_numbers_of_labels():
    with pytest.raises(InputError, match="there are 3 labels"):
        normalized_cut(np.eye(2), [0, 1, 1])
