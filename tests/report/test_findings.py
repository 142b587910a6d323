"""The sentences with which a page begins."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from symclust import HierarchicalSymNMF
from symclust.report._findings import find, inside_share, percent, purity
from symclust.report._reading import read_clustering


def model(labels, membership=None, **others):
    return SimpleNamespace(
        labels_=np.asarray(labels), **({} if membership is None else {"membership_": membership}), **others
    )


def doubts(source, **options):
    return [doubt.text for doubt in find(read_clustering(source, **options)).doubts]


def facts(source, **options):
    return " ".join(find(read_clustering(source, **options)).facts)


def soft(sharpness, n=100):
    """Two clusters of which a share of the samples belongs clearly to one."""
    labels = np.arange(n) % 2
    other = np.where(np.arange(n) < sharpness * n, 0.1, 0.8)
    return model(labels, np.where(labels[:, np.newaxis] == np.arange(2), 1.0, other[:, np.newaxis]))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "91% of the memberships of a sample are in its own cluster; 0% are in doubt between two"),
        (0.8, "84% of the memberships of a sample are in its own cluster; 20% are in doubt between two"),
        (0.2, "63% of the memberships of a sample are in its own cluster. They are blurred: only 20% of"),
    ],
)
def test_how_sharp(share, words):
    assert f"On average {words}" in facts(soft(share))


def test_which_run_into_each_other():
    assert doubts(soft(0.88)) == [
        "Clusters 0 and 1 run into each other: 12% of their members may as well belong to the other."
    ]
    assert doubts(soft(0.97)) == []


def test_further_pairs_follow_in_one_sentence():
    labels = np.repeat(np.arange(4), 25)
    H = np.eye(4)[labels]
    H[:20, 1] = H[25:30, 2] = H[75:80, 2] = 0.7
    first, second, third = doubts(model(labels, H))
    assert first.startswith("Clusters 0 and 1 run into each other: 40% of their members")
    assert second == "To a lesser degree, so do 1 and 2 (10%); 2 and 3 (10%)."
    assert third == "Cluster 0 has a weak core: 20% of its members belong clearly to it."


@pytest.mark.parametrize(
    ("sizes", "is_said"),
    [([61, 10, 10, 10, 9], False), ([70, 10, 10, 10], True), ([80, 20], False), ([92, 8], True)],
)
def test_a_cluster_that_is_nearly_everything(sizes, is_said):
    said = doubts(model(np.repeat(np.arange(len(sizes)), sizes)))
    assert (
        any(
            f"Cluster 0 holds {sizes[0]}% of all samples: look at it before you trust" in text
            for text in said
        )
        == is_said
    )


def test_many_clusters_and_one_with_most():
    assert (
        "Cluster 0 holds 61% of all samples" in doubts(model(np.repeat(np.arange(11), [61, *[4] * 9, 3])))[0]
    )


def test_a_cluster_that_mixes_classes():
    classes = ["a"] * 6 + ["b"] * 4 + ["c"] * 10
    labels = [0] * 10 + [1] * 10
    assert doubts(model(labels), labels_true=classes) == [
        "Cluster 0 mixes classes: 60% are \u2068a\u2069 and 40% are \u2068b\u2069."
    ]


def test_classes_are_matched_where_they_are_as_many():
    labels = np.repeat([0, 1], 10)
    words = "Matched one to one with the known classes, the clusters agree with them for 90% of the samples."
    assert words in facts(model(labels), labels_true=["a"] * 11 + ["b"] * 8 + ["a"])
    three = ["a"] * 10 + ["b"] * 9 + ["c"]
    assert "its most frequent class, 95% of the samples get the right name." in facts(
        model(labels), labels_true=three
    )


def test_small_empty_and_none():
    labels = np.array([0] * 50 + [1] * 48 + [3] + [-1])
    H = np.eye(4)[labels] * 0.9
    H[labels < 0] = 0
    said = doubts(model(labels, H))
    assert "Cluster 2 is empty: fewer were found than were asked for." in said
    assert "Cluster 3 has only 1 sample: perhaps outliers." in said
    assert "1 sample (1%) belongs to no cluster: nothing ties it to the others." in said


def test_one_cluster_and_everything_in_one():
    assert find(read_clustering(model([0, 0]))).headline == "One cluster in 2 samples."
    H = np.array([[0.5, 0.1], [0.5, 0.1]])
    assert "Everything is in one cluster: nothing was separated." in doubts(model([0, 0], H))


def test_a_run_that_ended_early():
    source = model([0, 1], converged_=False, stop_reason_="stopped at max_iter=3.")
    assert "The computation ended early (stopped at max_iter=3): the clusters might still change." in doubts(
        source
    )


def test_names_from_data_cannot_turn_a_sentence_around():
    classes = ["\u202eabc"] * 5 + ["b"] * 5
    [text] = doubts(model([0] * 10), labels_true=classes)
    assert "\u2068\u202eabc\u2069" in text


def test_links_inside_clusters():
    club = nx.karate_club_graph()
    fitted = HierarchicalSymNMF(4, random_state=0).fit(club)
    A = nx.to_numpy_array(club)
    inside = (
        sum(A[i, j] for i in range(34) for j in range(34) if fitted.labels_[i] == fitted.labels_[j]) / A.sum()
    )
    degrees = A.sum(axis=1)
    chance = sum((degrees[fitted.labels_ == c].sum() / A.sum()) ** 2 for c in range(4))
    assert np.allclose(inside_share(coo_array(A), fitted.labels_), (inside, chance))
    assert f"{inside:.0%} of the weight of all links lies inside clusters" in facts(fitted)
    assert f"drawn at random it would be {chance:.0%}." in facts(fitted)


def test_samples_in_no_cluster_are_not_inside():
    A = csr_array(np.ones((4, 4)))
    assert inside_share(coo_array(A), np.array([0, 0, -1, -1])) == (2 / 12, 0.25)
    assert purity(np.array(list("aabb")), np.array([0, 0, 1, -1])) == 0.75


def test_per_cent_never_says_all_of_what_is_not():
    assert [percent(share) for share in (1.0, 0.9951, 0.994, 0.005, 0.004, 0.0)] == [
        "100%", "more than 99%", "99%", "less than 1%", "less than 1%", "0%",
    ]  # fmt: skip


def test_one_sample_between_two_clusters_is_not_worth_a_sentence():
    labels = np.repeat(np.arange(2), 5)
    H = np.eye(2)[labels] * 0.9
    H[0, 1] = 0.8
    assert doubts(model(labels, H)) == []
    H[1, 1] = 0.8
    assert doubts(model(labels, H))[0].startswith("Clusters 0 and 1 run into each other: 20%")


def test_what_the_model_does_not_say_is_not_passed_over():
    assert "The model does not say how clearly a sample belongs to its cluster." in facts(model([0, 1, 1]))
    assert "does not say" not in facts(model([0, 0]))
