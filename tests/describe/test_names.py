"""Names of clusters."""

from symclust.describe.description import Trait, names_for


def named(*parts):
    return [Trait(part, part, part) for part in parts]


def test_clusters_that_cannot_be_told_apart_are_numbered():
    assert names_for([named("high age")] * 3 + [[]] * 2) == [
        "high age",
        "high age (2)",
        "high age (3)",
        "",
        "",
    ]


def test_a_number_that_is_a_name_already_is_left_out():
    same = named("a")
    assert names_for([same, named("a (2)"), same]) == ["a", "a (2)", "a (3)"]
    assert names_for([same, same, named("a (2)")]) == ["a", "a (2)", "a (2) (2)"]


def test_further_traits_tell_clusters_apart():
    first, second = named("a", "b", "c", "d", "x"), named("a", "b", "c", "d", "y")
    found = names_for([first, second])
    assert len(set(found)) == 2 and all("(2)" not in name for name in found)
