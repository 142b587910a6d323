"""How clearly samples belong to their clusters, against sums written out one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from symclust.operators import as_operator
from symclust.report._belonging import by_connections, by_memberships


@st.composite
def memberships(draw):
    n, k = draw(st.integers(1, 12)), draw(st.integers(2, 5))
    entries = st.floats(0, 10).map(lambda value: round(value, 2))
    H = draw(hnp.arrays(np.float64, (n, k), elements=st.one_of(st.just(0.0), entries)))
    return H, draw(hnp.arrays(np.int64, n, elements=st.integers(-1, k - 1)))


def plain(scores, labels, limit):
    """Return share, rivalry, rival and clearness of each sample, by loops."""
    for row, label in zip(scores, labels, strict=True):
        others = [(-value, c) for c, value in enumerate(row) if c != label and value > 0]
        if label < 0:
            yield 0.0, 0.0, -1, False
            continue
        second, rival = min(others, default=(0.0, -1))
        own = row[label]
        rivalry = -second / own if own else (np.inf if others else 0.0)
        yield own / sum(row) if sum(row) else 0.0, rivalry, rival, own > 0 and rivalry < limit


def check(found, scores, labels, limit):
    expected = list(zip(*plain(scores.tolist(), labels.tolist(), limit), strict=True))
    assert np.allclose(found.share, expected[0])
    assert np.allclose(found.rivalry, expected[1])
    assert found.rival.tolist() == list(expected[2])
    assert found.is_clear.tolist() == list(expected[3])


@settings(max_examples=80)
@given(memberships(), st.booleans())
def test_memberships_dense_and_sparse(given_pair, is_sparse):
    H, labels = given_pair
    check(by_memberships(csr_array(H) if is_sparse else H, labels), H, labels, 0.5)


@settings(max_examples=50)
@given(
    hnp.arrays(np.float64, (8, 8), elements=st.integers(0, 4)),
    hnp.arrays(np.int64, 8, elements=st.integers(-1, 2)),
)
def test_links_count_in_a_graph(A, labels):
    A = A + A.T
    scores = np.zeros((8, 3))
    for i in range(8):
        for j in range(8):
            if i != j and labels[j] >= 0:
                scores[i, labels[j]] += A[i, j]
    check(by_connections(csr_array(A), labels, 3), scores, labels, 0.5)


@settings(max_examples=50)
@given(
    hnp.arrays(np.float64, (8, 8), elements=st.integers(-2, 4)),
    hnp.arrays(np.int64, 8, elements=st.integers(-1, 2)),
)
def test_means_count_where_all_pairs_have_a_similarity(A, labels):
    A = A + A.T
    scores = np.zeros((8, 3))
    for i in range(8):
        for c in range(3):
            others = [A[i, j] for j in range(8) if j != i and labels[j] == c]
            scores[i, c] = max(0.0, np.mean(others)) if others else 0.0
    check(by_connections(A, labels, 3), scores, labels, 0.9)


def test_an_operator_is_read_like_its_matrix_but_for_the_diagonal():
    X = np.random.default_rng(0).random((30, 4))
    labels = np.arange(30) % 3
    found = by_connections(as_operator(X @ X.T), labels, 3)
    means = np.array([[(X[i] @ X[labels == c].T).mean() for c in range(3)] for i in range(30)])
    check(found, means, labels, 0.9)


def test_typical_are_clear_and_doubtful_are_torn():
    H = np.array([[9.0, 8.0], [2.0, 0.0], [1.0, 0.1], [5.0, 0.0], [0.0, 1.0]])
    found = by_memberships(H, np.array([0, 0, 0, 0, 1]))
    members = np.arange(4)
    assert found.typical(members, 3).tolist() == [3, 1, 2]
    assert found.doubtful(members, 3).tolist() == [0]
    assert found.typical(np.array([0]), 1).tolist() == [0]  # where none is clear


def test_overlaps_count_both_sides():
    H = np.array([[3.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    labels = np.array([0, 1, 1, 0])
    assert by_memberships(H, labels).overlaps(labels, 3) == {(0, 1): 2, (1, 2): 1}


@pytest.mark.parametrize("labels", [[-1, -1], [0, 0]])
def test_nothing_to_compare(labels):
    found = by_memberships(np.zeros((2, 2)), np.array(labels))
    assert not found.is_clear.any()
    assert found.overlaps(np.array(labels), 2) == {}
