import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from symclust.datasets import adversarial_cliques
from symclust.exceptions import InputError, OptionError


@settings(max_examples=40)
@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 6), st.integers(0, 8), st.integers(0, 100))
def test_links_go_from_every_node_outside_to_every_clique(size, n_cliques, n_isolated, n_links, seed):
    n_links = min(n_links, size)
    A, H_true = adversarial_cliques(size, n_cliques, n_isolated, n_links, random_state=seed)
    members = size * n_cliques
    assert isinstance(A, csr_array)
    assert A.shape == (members + n_isolated,) * 2
    assert (A != A.T).nnz == 0
    assert set(A.data) == {1.0}  # no pair drawn twice
    blocks = np.kron(np.eye(n_cliques), np.ones((size, size)))
    A = A.toarray()
    np.testing.assert_array_equal(A[:members, :members], blocks)
    np.testing.assert_array_equal(A[members:, members:], np.eye(n_isolated))
    np.testing.assert_array_equal(A[members:] @ H_true, np.full((n_isolated, n_cliques), n_links))
    np.testing.assert_array_equal((H_true @ H_true.T)[:members, :members], blocks)
    assert not H_true[members:].any()


def test_members_are_drawn_alike():
    total = sum(
        adversarial_cliques(5, 2, 1, 2, random_state=seed)[0].toarray()[10, :10] for seed in range(2000)
    )
    assert np.abs(total / 2000 - 0.4).max() < 0.05  # more than four deviations of 0.011


def test_seed_repeats():
    A, A2, A3 = (adversarial_cliques(n_links=4, random_state=seed)[0] for seed in (3, 3, 4))
    assert (A != A2).nnz == 0
    assert (A != A3).nnz > 0


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"size": 0}, OptionError, "size=0"),
        ({"n_cliques": 0}, OptionError, "n_cliques=0"),
        ({"n_isolated": -1}, OptionError, "n_isolated=-1"),
        ({"n_links": 1.5}, OptionError, "n_links=1.5 must be a whole number"),
        ({"n_links": 11}, InputError, "n_links=11 with size=10"),
    ],
)
def test_refuses_impossible_numbers(wrong, kind, message):
    with pytest.raises(kind, match=message):
        adversarial_cliques(**wrong)
