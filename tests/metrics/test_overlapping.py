from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from symclust.exceptions import InputError, InputTypeError, OptionError
from symclust.metrics import overlapping_f1, overlapping_nmi

KNOWN = [[0, 1, 2, 3], [3, 4, 5, 6]]


def h(count, n):
    return -count * log2(count / n) if count else 0.0


def entropy(x, n):
    return h(len(x), n) + h(n - len(x), n)


def unknown(x, y, n):
    """H(X_i|Y_j) of McDaid, Greene and Hurley (2011), word by word."""
    both, only_x, only_y = len(x & y), len(x - y), len(y - x)
    neither = n - both - only_x - only_y
    parts = [h(count, n) for count in (neither, only_y, only_x, both)]
    if parts[0] + parts[3] >= parts[1] + parts[2]:
        return sum(parts) - h(both + only_y, n) - h(neither + only_x, n)
    return entropy(x, n)


def slow_nmi(X, Y, n):
    X, Y = ([set(members) for members in cover if members] for cover in (X, Y))
    H = [[entropy(x, n) for x in cover] for cover in (X, Y)]
    given = [[min(unknown(x, y, n) for y in B) for x in A] for A, B in ((X, Y), (Y, X))]
    return (sum(H[0]) - sum(given[0]) + sum(H[1]) - sum(given[1])) / (2 * max(sum(H[0]), sum(H[1])))


def slow_f1(X, Y):
    X, Y = ([set(members) for members in cover if members] for cover in (X, Y))
    scores = np.array([[2 * len(x & y) / (len(x) + len(y)) for y in Y] for x in X])
    return (scores.max(axis=0).mean() + scores.max(axis=1).mean()) / 2


def covers(n, k=5):
    """Of sizes from nothing to everything: large communities say something of those they do not touch."""
    community = st.one_of(
        st.sets(st.integers(0, n - 1)),
        st.sets(st.integers(0, n - 1), max_size=2).map(lambda out: set(range(n)) - out),
    )
    return st.lists(community, min_size=1, max_size=k).filter(any)


pairs = st.integers(2, 30).flatmap(lambda n: st.tuples(st.just(n), covers(n), covers(n)))


@given(pairs)
def test_nmi_follows_its_definition(case):
    n, X, Y = case
    assume(any(0 < len(members) < n for members in X + Y))  # else there is no entropy to divide by
    found = overlapping_nmi(X, Y, n_nodes=n)
    assert found == pytest.approx(slow_nmi(X, Y, n), abs=1e-9)
    assert 0 <= found <= 1


@given(pairs)
def test_f1_follows_its_definition(case):
    _, X, Y = case
    assert overlapping_f1(X, Y) == pytest.approx(slow_f1(X, Y))


@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
@given(pairs, st.randoms(use_true_random=False))
def test_neither_order_nor_names_nor_direction_matter(measure, case, random):
    n, X, Y = case
    value = measure(X, Y, n_nodes=n)
    assert measure(Y, X, n_nodes=n) == pytest.approx(value)
    names = [f"node {i}" for i in random.sample(range(n), n)]
    renamed = [[[names[i] for i in members] for members in random.sample(c, len(c))] for c in (X, Y)]
    assert measure(*renamed, n_nodes=n) == pytest.approx(value)


@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
@given(pairs)
def test_equal_communities_have_the_value_one(measure, case):
    n, X, _ = case
    assert measure(X, X[::-1], n_nodes=n) == pytest.approx(1)


@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
@given(pairs)
def test_arrays_and_lists_are_the_same_thing(measure, case):
    n, X, Y = case
    tables = [np.array([[i in members for members in cover] for i in range(n)]) for cover in (X, Y)]
    value = measure(X, Y, n_nodes=n)
    assert measure(*tables) == pytest.approx(value)
    assert measure(csr_array(tables[0] * 0.3), pd.DataFrame(tables[1])) == pytest.approx(value)
    assert measure(X, tables[1]) == pytest.approx(value)
    assert measure(tables[0], Y) == pytest.approx(value)


def test_values_by_hand():
    # Halves against halves across: each says nothing of the other
    assert overlapping_nmi([[0, 1], [2, 3]], [[0, 2], [1, 3]]) == 0
    assert overlapping_f1([[0, 1], [2, 3]], [[0, 2], [1, 3]]) == 0.5
    # One of two halves is found; being the complement of the other does not count as a match
    assert overlapping_nmi([[0, 1], [2, 3]], [[0, 1]], n_nodes=4) == pytest.approx(0.5)
    # Best matches of the known ones 6/7 and 1, of the found ones the same
    assert overlapping_f1(KNOWN, [[0, 1, 2], [3, 4, 5, 6]]) == pytest.approx((6 / 7 + 1) / 2)


def test_the_published_program_gives_the_same():
    """Value of cdlib 0.4.1, overlapping_normalized_mutual_information_MGH."""
    assert overlapping_nmi(KNOWN, [[0, 1, 2], [3, 4, 5, 6]]) == pytest.approx(0.7647308868192857)


def test_everything_in_one_community_says_nothing():
    assert overlapping_nmi(KNOWN, [range(7)]) == 0
    assert overlapping_nmi([range(7)], [range(7)]) == 1


@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
def test_no_communities_found_is_worth_nothing(measure):
    assert measure(KNOWN, [[], []]) == 0
    assert measure(KNOWN, []) == 0
    assert measure(KNOWN, np.zeros((7, 2))) == 0


@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
def test_empty_communities_do_not_count(measure):
    assert measure(KNOWN, [*KNOWN, []]) == pytest.approx(1)


def test_nodes_in_no_community_count_only_where_they_are_known():
    found = [[0, 1, 2], [4, 5, 6]]
    few, many = (slow_nmi(KNOWN, found, n) for n in (7, 700))
    assert few != pytest.approx(many, rel=0.01)
    assert overlapping_nmi(KNOWN, found) == pytest.approx(few)
    assert overlapping_nmi(KNOWN, found, n_nodes=700) == pytest.approx(many)


@pytest.mark.parametrize(
    ("true", "pred", "options", "kind", "message"),
    [
        (np.array([0, 0, 1]), KNOWN, {}, InputError, r"shape \(3,\).*normalized_mutual_info_score"),
        ([0, 0, 1], KNOWN, {}, InputTypeError, "Community 0 of memberships_true is 0"),
        (KNOWN, ["ab", "cd"], {}, InputTypeError, "Community 0 of memberships_pred is 'ab'"),
        (KNOWN, "abcd", {}, InputTypeError, "memberships_pred is a str"),
        (KNOWN, {0: [1]}, {}, InputTypeError, "memberships_pred is a dict"),
        ([[], []], KNOWN, {}, InputError, "memberships_true has no community with members"),
        (np.eye(3), np.eye(4), {}, InputError, r"\(3, 3\), memberships_pred has shape \(4, 4\)"),
        (np.eye(3), np.eye(3), {"n_nodes": 4}, InputError, "n_nodes=4"),
        (np.eye(3), [[0, 3]], {}, InputError, "member 3, but .* rows 0 to 2"),
        (np.eye(3), [[0.0, 1.0]], {}, InputError, "has the member"),
        (KNOWN, KNOWN, {"n_nodes": 6}, InputError, "n_nodes=6, but .* 7 different members"),
        (KNOWN, KNOWN, {"n_nodes": 0}, OptionError, "n_nodes=0"),
    ],
)
@pytest.mark.parametrize("measure", [overlapping_nmi, overlapping_f1])
def test_refuses_what_is_not_communities(measure, true, pred, options, kind, message):
    with pytest.raises(kind, match=message):
        measure(true, pred, **options)
