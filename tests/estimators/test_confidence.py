"""How sure the cluster of each sample is, against sums written out one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from symclust import HierarchicalSymNMF, SymNMF, datasets, load
from symclust.estimators import _confidence
from symclust.estimators._confidence import SUREST, Walk, by_shares, by_walks


@st.composite
def memberships(draw):
    n, k = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    entries = st.floats(0, 10).map(lambda value: round(value, 2))
    H = draw(hnp.arrays(np.float64, (n, k), elements=st.one_of(st.just(0.0), entries)))
    labels = np.where(H.any(axis=1), H.argmax(axis=1), -1)
    return H, np.where(draw(hnp.arrays(bool, n)), labels, -1)


def check(found, scores, labels, factor=1.0):
    """Compare with the scores of each sample in each cluster, by loops."""
    for i, (row, label) in enumerate(zip(scores.tolist(), labels.tolist(), strict=True)):
        others = [(-value, c) for c, value in enumerate(row) if c != label and value > 0]
        if label < 0 or not sum(row):
            assert np.isnan(found.confidence[i])
            assert found.second[i] == -1
            continue
        second, number = min(others, default=(0.0, -1))
        assert found.confidence[i] == pytest.approx(factor * row[label] / sum(row))
        assert found.second_share[i] == pytest.approx(-factor * second / sum(row))
        assert -second <= row[found.second[i]] * (1 + 1e-9) if others else found.second[i] == number == -1


@given(memberships(), st.booleans())
def test_shares_dense_and_sparse(drawn, is_sparse):
    H, labels = drawn
    check(by_shares(csr_array(H) if is_sparse else H, labels), H, labels)


@settings(max_examples=60)
@given(
    hnp.arrays(np.float64, (9, 9), elements=st.integers(0, 3)),
    hnp.arrays(np.int64, 9, elements=st.integers(-1, 2)),
    st.integers(1, 3),
    st.sampled_from([1.0, 2.0]),
    st.booleans(),
)
def test_walks_are_powers_of_the_transition_matrix(A, labels, steps, power, many):
    A = A + A.T
    own = A - np.diag(np.diag(A))
    degrees = own.sum(axis=1)
    P = np.divide(own, degrees[:, None], out=np.zeros_like(own), where=degrees[:, None] > 0)
    Z = (labels[:, None] == np.arange(3)).astype(float)
    volumes = Z.T @ degrees
    ends = np.linalg.matrix_power(P, steps) @ Z
    scores = np.divide(ends, np.sqrt(volumes), out=np.zeros_like(ends), where=volumes > 0) ** power
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_confidence, "FEW", 2 if many else 64)  # sparse ends, dense ends
        patch.setattr(_confidence, "ENTRIES", 6)  # two rows at a time
        found = by_walks(csr_array(A), labels, 3, Walk(steps, power))
    check(found, scores, labels, SUREST)
    inside = (own * (labels[:, None] == labels) * (labels >= 0)).sum(axis=1)
    placed = labels >= 0
    assert_allclose(found.strength[placed], inside[placed])


def test_a_model_saved_without_its_data_is_as_sure(tmp_path):
    A, _ = datasets.planted_partition(n_samples=80, n_clusters=4, degree=12, random_state=0)
    model = HierarchicalSymNMF(4, affinity="network", random_state=0).fit(A)
    for data in (True, False):
        model.save(tmp_path / "model", data=data)
        assert_array_equal(load(tmp_path / "model").confidence, model.confidence)


def test_samples_between_clusters_are_less_sure():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[100:, 0] += 4
    model = SymNMF(2, random_state=0).fit(X)
    between = np.abs(X[:, 0] - 2) < 0.5
    assert model.confidence[between].mean() < model.confidence[~between].mean() - 0.05


def test_one_link_says_less_than_many():
    A, _ = datasets.planted_partition(200, 2, degree=12, mixing=0.1, random_state=0)
    A = A.tolil()
    A.resize((201, 201))
    A[200, 0] = A[0, 200] = 1
    model = SymNMF(2, affinity="network", random_state=0).fit(csr_array(A))
    inside = [set(model.labels_[csr_array(A)[[i]].indices]) == {model.labels_[i]} for i in range(200)]
    assert model.confidence[200] < model.confidence[:200][inside].min()
