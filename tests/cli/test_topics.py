import json

import pandas as pd

import symclust


def test_folder(command, letters, tmp_path):
    table, page, tree = (tmp_path / name for name in ("t.csv", "t.html", "t.json"))
    options = ("--output", table, "--report", page, "--tree", tree, "--model", tmp_path / "t.symclust")
    status, out, errors = command("topics", letters, "-k", 2, *options)
    assert status == 0, errors
    found = pd.read_csv(table)
    assert list(found.columns) == ["name", "label", "confidence", "terms", "cluster_0", "cluster_1"]
    assert list(found.name) == sorted(path.name for path in letters.iterdir())
    even = found.label[::2].unique()
    assert len(even) == 1
    assert set(found.label) == {0, 1}
    assert all(
        ("hockey" in terms) == (label == even[0])
        for terms, label in zip(found.terms, found.label, strict=True)
    )
    assert json.loads(tree.read_text())["n_topics"] == 2
    assert "40 documents, 2 topics" in out
    assert "Topics in letters" in page.read_text(encoding="utf-8")
    assert symclust.load(tmp_path / "t.symclust").place(["rocket to the moon"]).labels_[0] != even[0]


def test_column_of_texts_and_stop_words(summary, letters, tmp_path):
    path, words = tmp_path / "letters.csv", tmp_path / "stop.txt"
    texts = [file.read_text() for file in sorted(letters.iterdir())]
    pd.DataFrame({"who": [f"w{i}" for i in range(40)], "what": texts, "n": 1}).to_csv(path, index=False)
    words.write_text("puck\nmoon goal")
    options = ("--text-column", "what", "--id-column", "who", "--stop-words", words)
    found = summary("topics", path, "-k", 2, *options)
    assert found["n_documents"] == 40
    assert sorted(found["sizes"]) == [20, 20]
    assert not {"puck", "moon", "goal"} & set(" ".join(found["terms"]).replace(",", "").split())
