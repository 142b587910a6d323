from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from symclust.exceptions import InputError, InputTypeError
from symclust.metrics import average_entropy, cophenetic_correlation


def plain_tree_distances(D):
    """Average linkage by looking at all pairs of clusters at each step."""
    n = len(D)
    clusters, heights = [[i] for i in range(n)], np.zeros((n, n))
    while len(clusters) > 1:
        a, b = min(combinations(clusters, 2), key=lambda pair: D[np.ix_(*pair)].mean())
        for i in a:
            for j in b:
                heights[i, j] = heights[j, i] = D[np.ix_(a, b)].mean()
        clusters = [c for c in clusters if c is not a and c is not b] + [a + b]
    return heights


@given(st.integers(3, 9), st.integers(0, 10_000))
def test_is_the_correlation_with_the_heights_of_average_linkage(n, seed):
    C = np.random.RandomState(seed).uniform(size=(n, n))
    C = (C + C.T) / 2
    above = np.triu_indices(n, 1)
    expected = np.corrcoef((1 - C)[above], plain_tree_distances(1 - C)[above])[0, 1]
    assert cophenetic_correlation(C) == pytest.approx(expected)
    assert cophenetic_correlation(1000 * C - 3) == pytest.approx(expected)  # other units
    np.fill_diagonal(C, 0)
    assert cophenetic_correlation(C) == pytest.approx(expected)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5).filter(lambda sizes: max(sizes) > 1))
def test_perfect_blocks_give_exactly_one(sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    C = np.equal.outer(y, y)
    assert cophenetic_correlation(C) == 1.0
    assert cophenetic_correlation(0.1 + 0.7 * C) == 1.0  # any two levels make a tree


@pytest.mark.parametrize("C", [np.ones((4, 4)), np.eye(4), np.full((3, 3), 0.3), [[1.0]], np.zeros((2, 2))])
def test_nothing_that_varies_gives_no_number(C):
    assert np.isnan(cophenetic_correlation(C))


def test_refuses_what_is_no_consensus_matrix():
    for wrong, error, words in [
        (np.ones((2, 3)), InputError, r"shape \(2, 3\)"),
        ([[1.0, 0.2], [0.4, 1.0]], InputError, "not symmetric"),
        ([[1.0, np.nan], [np.nan, 1.0]], InputError, "NaN"),
        ([["a"]], InputTypeError, "numbers"),
        (csr_array(np.eye(3)), InputTypeError, "sparse"),
    ]:
        with pytest.raises(error, match=words):
            cophenetic_correlation(wrong)


memberships = st.tuples(st.integers(1, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.floats(0, 8, width=16))
)


@given(memberships.filter(lambda H: H.any()), st.floats(0.01, 100))
def test_entropy_as_it_is_written(H, unit):
    found = []
    for row in H[H.any(axis=1)]:
        P = row / row.sum()
        found.append(-sum(p * np.log(p) for p in P if p > 0))
    expected = pytest.approx(np.mean(found), abs=1e-12)
    assert average_entropy(H) == expected
    assert average_entropy(csr_array(H)) == expected
    assert average_entropy(unit * H) == pytest.approx(np.mean(found), abs=1e-9)
    assert 0 <= average_entropy(H) <= np.log(H.shape[1]) + 1e-12


def test_entropy_of_the_extremes():
    assert str(average_entropy(np.eye(4))) == "0.0"
    assert average_entropy(np.ones((3, 5))) == pytest.approx(np.log(5))


def test_explicit_zeros_are_zeros():
    H = csr_array((np.array([1.0, 0.0, 2.0, 2.0, 0.0]), ([0, 0, 1, 1, 2], [0, 1, 0, 1, 0])), shape=(3, 2))
    assert average_entropy(H) == pytest.approx(np.log(2) / 2)


def test_refuses_what_are_no_memberships():
    with pytest.raises(InputError, match="A membership is -1"):
        average_entropy([[1.0, -1.0]])
    with pytest.raises(InputError, match="All memberships are zero"):
        average_entropy(np.zeros((2, 2)))
    with pytest.raises(InputError, match="NaN"):
        average_entropy([[np.nan, 1.0]])
