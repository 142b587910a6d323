import gzip

import pandas as pd
import pytest

import symclust


def test_finds_circles_and_keeps_names(command, friends, tmp_path):
    path, circles = friends
    table, page = tmp_path / "c.csv", tmp_path / "c.html"
    status, out, errors = command("communities", path, "-k", 2, "--output", table, "--report", page)
    assert status == 0, errors
    found = pd.read_csv(table)
    groups = found.groupby("label").name.apply(sorted).tolist()
    assert sorted(groups) == circles
    assert "a graph with 10 nodes and 21 edges" in errors
    assert "Two clusters in 10 nodes." in out
    assert "Communities in friends.txt" in page.read_text(encoding="utf-8")


def test_overlap_adds_all_communities_of_a_node(command, tmp_path):
    path, table = tmp_path / "shared.txt", tmp_path / "c.csv"
    path.write_text("a b\na c\nb c\nc d\nc e\nd e\n")
    assert command("communities", path, "-k", 2, "--overlap", 0.5, "--output", table)[0] == 0
    found = pd.read_csv(table, dtype={"communities": str}).set_index("name").communities
    model = symclust.SymNMF(2, random_state=0).fit(symclust.read(path))
    expected = model.communities(threshold=0.5).by_node
    assert {name: {int(c) for c in cell.split()} for name, cell in found.items()} == expected


def test_number_is_chosen_and_compressed_weights_are_read(summary, friends, tmp_path):
    path = tmp_path / "friends.tsv.gz"
    lines = [
        "from\tto\tweight",
        *(line.replace(" ", "\t") + "\t2" for line in friends[0].read_text().split("\n")[:-1]),
    ]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    found = summary("communities", path)
    assert found["n_nodes"] == 10
    assert found["n_clusters"] == 2
    assert found["kind"] == "graph"


def test_a_tree_is_grown_unless_nodes_share_communities(summary, friends):
    found = summary("communities", friends[0])
    assert found["method"] == "tree"
    assert found["sizes"] == [5, 5]
    assert "modularity" in found["stop_reason"]
    assert summary("communities", friends[0], "--overlap", 0.5)["method"] == "sym-nmf"


def test_features_are_sent_elsewhere(command, tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("name,a,b,c,d,e\n" + "".join(f"n{i},1,2,3,4,{i}\n" for i in range(9)))
    status, _, errors = command("communities", path)
    assert status == 1
    assert errors.strip().split("\n")[-1].startswith("Error: ")
    assert "symclust cluster" in errors


@pytest.mark.parametrize("rule", ["sum", "max", "first"])
def test_edges_listed_twice(command, friends, rule):
    path = friends[0]
    path.write_text(path.read_text() + "ann bob\n")
    status, _, errors = command("communities", path, "-k", 2)
    assert status == 1
    assert "--duplicates sum" in errors
    assert command("communities", path, "-k", 2, "--duplicates", rule)[0] == 0
