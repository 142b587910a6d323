import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from symclust.datasets import lfr, overlapping_lfr
from symclust.exceptions import InputError, OptionError


def shared(A, memberships):
    """Which edges join nodes with a community in common."""
    i, j = A.nonzero()
    return np.asarray((memberships @ memberships.T).tocsr()[i, j]).ravel() > 0


def check_simple(A, n):
    assert isinstance(A, csr_array)
    assert A.shape == (n, n)
    assert A.dtype == np.float64
    assert abs(A - A.T).sum() == 0
    assert A.diagonal().sum() == 0
    assert set(A.data) <= {1.0}
    assert A.has_canonical_format
    assert A.indices.dtype == np.int32  # what scikit-learn takes


@settings(max_examples=40, deadline=None)
@given(
    st.integers(40, 120),
    st.floats(0, 0.7),
    st.floats(2, 5),
    st.floats(0, 3),
    st.floats(0, 3),
    st.integers(0, 100),
)
def test_is_a_simple_graph_within_its_limits(n, mixing, average, tau1, tau2, seed):
    options = {"average_degree": average, "max_degree": 6, "min_community": 8, "max_community": 16}
    exponents = {"degree_exponent": tau1, "community_exponent": tau2}
    if average < _least_average(6, tau1):
        with pytest.raises(InputError, match="is too low"):
            lfr(n, mixing, **options, **exponents, random_state=seed)
        return
    A, y = lfr(n, mixing, **options, **exponents, random_state=seed)
    check_simple(A, n)
    sizes = np.bincount(y)
    assert 8 <= sizes.min() <= sizes.max() <= 16
    degrees = np.diff(A.indptr)
    assert degrees.max() <= 6
    # One end a community and one in all may be odd; 2 % may be left out; quantiles of whole numbers
    assert abs(degrees.mean() - average) <= (len(sizes) + 3) / n + 0.02 * average + 6 / n


def _least_average(max_degree, tau):
    d = np.arange(1, max_degree + 1)
    return (d ** (1 - tau)).sum() / (d**-tau).sum()


@pytest.mark.parametrize("mixing", [0.0, 0.1, 0.35, 0.6, 0.9])
def test_degrees_and_mixing_come_out_as_asked(mixing):
    A, y = lfr(3000, mixing, average_degree=15, max_degree=45, random_state=1)
    i, j = A.nonzero()
    degrees = np.diff(A.indptr)
    outside = np.bincount(i, weights=y[i] != y[j], minlength=3000) / degrees
    assert degrees.mean() == pytest.approx(15, abs=0.1)
    assert degrees.max() <= 45
    assert np.mean(y[i] != y[j]) == pytest.approx(mixing, abs=0.01)
    assert outside.mean() == pytest.approx(mixing, abs=0.01)


def test_degrees_and_sizes_follow_their_power_laws():
    A, y = lfr(30_000, 0.4, average_degree=10, max_degree=40, degree_exponent=2.5, random_state=0)
    values, counts = np.unique(np.diff(A.indptr), return_counts=True)
    middle = (values >= 10) & (values <= 30)
    slope = np.polyfit(np.log(values[middle]), np.log(counts[middle]), 1)[0]
    assert slope == pytest.approx(-2.5, abs=0.25)
    # p(s) ~ 1/s: equally many communities on both sides of the geometric mean of the limits
    assert np.mean(np.bincount(y) < np.sqrt(20 * 100)) == pytest.approx(0.5, abs=0.1)


def test_mixing_zero_leaves_no_edge_between_communities():
    A, y = lfr(400, 0.0, average_degree=8, max_degree=15, random_state=0)
    i, j = A.nonzero()
    assert (y[i] == y[j]).all()


def test_communities_may_be_cliques():
    A, y = lfr(60, 0.0, 9, max_degree=9, min_community=10, max_community=10, random_state=0)
    assert np.array_equal(A.toarray(), (y[:, None] == y) - np.eye(60))


def test_pairs_of_a_community_are_equally_likely():
    """The orderly graph that the edges start from is shuffled well: no pair is preferred."""
    joined = np.zeros((12, 12))
    for seed in range(500):
        joined += lfr(12, 0, 4, max_degree=4, min_community=12, max_community=12, random_state=seed)[0]
    frequencies = joined[np.triu_indices(12, 1)] / 500
    assert np.abs(frequencies - 4 / 11).max() < 0.09  # four deviations; 0.12 without a shuffle


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 60), st.integers(1, 3), st.floats(0, 0.6), st.integers(0, 50))
def test_overlapping_nodes_have_the_memberships_asked_for(overlapping, m, mixing, seed):
    A, memberships = overlapping_lfr(
        120, mixing, overlapping, m, 6, max_degree=9, min_community=15, max_community=30, random_state=seed
    )
    check_simple(A, 120)
    assert isinstance(memberships, csr_array)
    assert memberships.dtype == np.float64
    assert set(memberships.data) == {1.0}
    count = np.asarray(memberships.sum(axis=1), dtype=int)
    assert sorted(count) == [1] * (120 - overlapping) + [m] * overlapping
    sizes = np.asarray(memberships.sum(axis=0))
    assert 15 <= sizes.min() <= sizes.max() <= 30


def test_mixing_of_overlapping_communities_counts_neighbours_without_a_common_one():
    A, memberships = overlapping_lfr(2000, 0.3, 600, 3, random_state=0)
    assert 1 - shared(A, memberships).mean() == pytest.approx(0.3, abs=0.01)
    assert A.nnz / 2000 == pytest.approx(20, abs=0.2)


def test_overlapping_nodes_divide_their_neighbours_evenly():
    A, memberships = overlapping_lfr(2000, 0.0, 300, 2, random_state=0)
    overlapping = np.flatnonzero(np.asarray(memberships.sum(axis=1)) == 2)
    inside = (A @ memberships).tocsr()[overlapping].multiply(memberships[overlapping]).toarray()
    shares = np.sort(inside, axis=1)[:, -2:] / inside.sum(axis=1, keepdims=True)
    assert shares.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.05)


def test_two_communities_that_all_share():
    """Every node has both: only exchanges can give that."""
    _, memberships = overlapping_lfr(
        30, 0.0, 30, 2, 6, max_degree=8, min_community=30, max_community=30, random_state=0
    )
    assert np.array_equal(memberships.toarray(), np.ones((30, 2)))


def test_seed_repeats():
    (A, y), (A2, y2) = (lfr(300, random_state=5) for _ in range(2))
    assert (A != A2).nnz == 0
    assert np.array_equal(y, y2)
    assert (lfr(300, random_state=6)[0] != A).nnz > 0
    (B, M), (B2, M2) = (overlapping_lfr(300, random_state=np.random.default_rng(1)) for _ in range(2))
    assert (B != B2).nnz == 0
    assert (M != M2).nnz == 0


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"n_nodes": 1}, OptionError, "n_nodes=1 must be"),
        ({"mixing": 1.5}, OptionError, "mixing=1.5"),
        ({"max_degree": 300}, OptionError, "max_degree=300 must be .* at most 299"),
        ({"average_degree": 60}, OptionError, "average_degree=60 must be .* at most 50"),
        ({"average_degree": 2}, InputError, "average_degree=2 is too low: degrees from 1 to 50"),
        ({"degree_exponent": -1}, OptionError, "degree_exponent=-1"),
        ({"community_exponent": "1"}, OptionError, "community_exponent='1'"),
        ({"min_community": 101}, OptionError, "min_community=101 must be .* at most 100"),
        ({"max_community": 400}, OptionError, "max_community=400"),
        ({"min_community": 70, "max_community": 72}, InputError, "300 memberships cannot be divided"),
        ({"mixing": 0, "max_community": 40}, InputError, "need up to 50 neighbours inside"),
        ({"mixing": 0.5, "min_community": 300, "max_community": 300}, InputError, r"Only \d+ of 2998 edges"),
    ],
)
def test_refuses_impossible_combinations(wrong, kind, message):
    with pytest.raises(kind, match=message):
        lfr(**{"n_nodes": 300, "random_state": 0, **wrong})


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"overlapping_nodes": 301}, OptionError, "overlapping_nodes=301"),
        ({"memberships_per_overlapping_node": 0}, OptionError, "memberships_per_overlapping_node=0"),
        (
            {"overlapping_nodes": 1, "memberships_per_overlapping_node": 5, "min_community": 76},
            InputError,
            "at most 4 communities of at least 76",
        ),
    ],
)
def test_refuses_impossible_overlaps(wrong, kind, message):
    with pytest.raises(kind, match=message):
        overlapping_lfr(**{"n_nodes": 300, "random_state": 0, **wrong})
