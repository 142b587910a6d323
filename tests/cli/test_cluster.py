import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import symclust


def test_writes_one_row_per_sample_with_names(command, people, tmp_path):
    path, y = people
    table = tmp_path / "labels.csv"
    status, out, errors = command("cluster", path, "-k", 3, "--output", table)
    assert status == 0, errors
    found = pd.read_csv(table)
    assert list(found.columns) == [
        "name",
        "height",
        "weight",
        "label",
        "confidence",
        "cluster_0",
        "cluster_1",
        "cluster_2",
    ]
    assert list(found.name) == [f"person {i}" for i in range(90)]
    assert adjusted_rand_score(y, found.label) == 1
    assert found.confidence.between(0.9, 1).all()
    assert "Three clusters in 90 samples." in out
    assert "Fields are separated by a semicolon." in errors
    assert str(table) in out


def test_answer_is_that_of_the_estimator(command, people, tmp_path):
    path, _ = people
    table = tmp_path / "labels.csv"
    command("cluster", path, "-k", 4, "--seed", 7, "--output", table, "--quiet")
    expected = symclust.SymNMF(4, random_state=7).fit_predict(symclust.read(path))
    np.testing.assert_array_equal(pd.read_csv(table).label, expected)


def test_chooses_the_number_of_clusters_of_cosines(summary, tmp_path):
    X = np.kron(np.eye(3), np.ones((12, 2))) + np.random.default_rng(0).uniform(0, 0.3, (36, 6))
    pd.DataFrame(X, columns=[*"abcdef"]).to_csv(tmp_path / "samples.csv", index=False)
    found = summary("cluster", tmp_path / "samples.csv", "-k", "auto", "--affinity", "cosine")
    assert found["sizes"] == [12, 12, 12]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "parquet", "xlsx"])
def test_all_tables_hold_the_same(command, people, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path, _ = people
    table = tmp_path / "new" / f"labels.{ending}"
    assert command("cluster", path, "-k", 3, "--output", table)[0] == 0
    readers = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet, "xlsx": pd.read_excel}
    found = pd.read_csv(table, sep="\t") if ending == "tsv" else readers[ending](table)
    model = symclust.SymNMF(3, random_state=0).fit(symclust.read(path))
    expected = symclust.read(path).join(model.to_dataframe()).reset_index(names="name")
    assert list(found.columns) == list(expected.columns)
    assert list(found.name) == list(expected.name)
    np.testing.assert_allclose(found.iloc[:, 1:].astype(float), expected.iloc[:, 1:].astype(float), atol=1e-5)


def test_number_is_chosen(summary, people):
    found = summary("cluster", people[0])
    assert found["n_clusters"] == 3
    assert sorted(found["sizes"]) == [30, 30, 30]
    assert "3" in found["choice"]


@pytest.mark.parametrize(
    "method",
    ["off-diagonal", "tree", "left-stochastic", "spectral", "kernel-k-means"],
)
def test_methods(summary, people, method):
    found = summary("cluster", people[0], "-k", 3, "--method", method)
    assert sorted(found["sizes"]) == [30, 30, 30]
    assert found["method"] == method


@pytest.mark.parametrize("method", ["nmf", "spherical-k-means"])
def test_methods_on_features(summary, tmp_path, method):
    path = tmp_path / "blocks.csv"
    X = np.kron(np.eye(2), np.ones((6, 3))) + 0.01
    path.write_text("\n".join(",".join(f"{x:.2f}" for x in row) for row in X))
    assert summary("cluster", path, "-k", 2, "--method", method, "--no-header")["sizes"] == [6, 6]


def test_model_can_be_loaded_and_carries_no_callback(command, people, tmp_path):
    path, y = people
    file = tmp_path / "model.symclust"
    assert command("cluster", path, "-k", 3, "--model", file)[0] == 0
    model = symclust.load(file)
    assert adjusted_rand_score(y, model.predict(symclust.read(path))) == 1
    assert model.callback is None


def test_report_is_written_and_does_not_show_the_callback(command, people, tmp_path):
    page = tmp_path / "page.html"
    status, out, _ = command("cluster", people[0], "-k", 3, "--report", page)
    assert status == 0
    text = page.read_text(encoding="utf-8")
    assert "Clusters in people.csv" in text
    assert "person 4" in text
    assert "Bar.descent" not in text
    assert str(page) in out


def test_table_on_standard_output_is_alone_there(command, people):
    status, out, errors = command("cluster", people[0], "-k", 3, "--output", "-")
    assert status == 0
    assert out.startswith("name,height,weight,label,confidence,")
    assert len(out.strip().split("\n")) == 91
    assert "Three clusters in 90 samples." in errors


def test_standard_input(process, people):
    running = process("cluster", "-", "-k", "3", "--json", stdin=subprocess.PIPE)
    out, errors = running.communicate(people[0].read_text(), timeout=120)
    assert running.returncode == 0, errors
    assert json.loads(out)["sizes"] == [30, 30, 30]


def test_quiet_says_nothing(command, people):
    assert command("cluster", people[0], "-k", 3, "--quiet") == (0, "", "")


def test_seed_and_threads(command, people, tmp_path, monkeypatch):
    from symclust import _kernels
    from symclust._threads import available_threads

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before, seen, fit = (_kernels.max_threads(), available_threads()), [], symclust.SymNMF.fit

    def watched(self, X, y=None):
        seen.append((_kernels.max_threads(), available_threads()))
        return fit(self, X, y)

    monkeypatch.setattr(symclust.SymNMF, "fit", watched)
    found = []
    for threads in (1, 3):
        table = tmp_path / f"{threads}.csv"
        assert command("cluster", people[0], "-k", 3, "--threads", threads, "--output", table)[0] == 0
        found.append(table.read_text())
    assert seen == [(1, 1), (3, 3)]
    assert (_kernels.max_threads(), available_threads()) == before
    assert found[0] == found[1]


def test_memberships_can_be_left_out(command, people, tmp_path, monkeypatch):
    table = tmp_path / "labels.csv"
    command("cluster", people[0], "-k", 3, "--output", table, "--no-memberships")
    assert list(pd.read_csv(table).columns) == ["name", "height", "weight", "label", "confidence"]
    monkeypatch.setattr("symclust.cli._output.MOST_CELLS", 10)
    _, _, errors = command("cluster", people[0], "-k", 3, "--method", "tree", "--output", table)
    assert list(pd.read_csv(table).columns) == ["name", "height", "weight", "label", "confidence"]
    assert "leaves out the 270 memberships" in errors


def test_poor_answer_is_pointed_at(command, tmp_path):
    path = tmp_path / "path.txt"
    path.write_text("a b\nb c\n")
    status, out, errors = command("cluster", path, "-k", 2)
    assert status == 0
    assert "Careful: " in errors
    assert "UserWarning" not in errors
    assert "! " in out


def test_hostile_names_are_text(command, tmp_path):
    kinds = ["x[/]", "<script>alert(1)</script>", "a\x1b[31mred", "مرحبا", "n" * 300, "[/nothing]"]
    names = [f"[bold red]{name} {i}" for i, name in enumerate(kinds * 3)]
    path, page, table = (tmp_path / name for name in ("p.csv", "p.html", "l.csv"))
    rows = [f'"{name}",{i % 2 * 9 + i / 99},{i}' for i, name in enumerate(names)]
    path.write_text("\n".join(["name,x,y", *rows]), encoding="utf-8")
    status, out, errors = command("cluster", path, "-k", 2, "--report", page, "--output", table)
    assert status == 0, errors
    assert "[bold red]" in out
    assert "\x1b" not in out + errors
    assert "<script>alert" not in page.read_text(encoding="utf-8")
    assert list(pd.read_csv(table).name) == names


def test_a_column_in_units_of_its_own_is_pointed_at(command, summary, tmp_path):
    rng = np.random.RandomState(0)
    kind, path = np.repeat([0, 1], 30), tmp_path / "people.csv"
    people = pd.DataFrame({f"f{j}": kind + rng.normal(0, 0.1, 60) for j in range(4)})
    people["euros"] = 10_000 * rng.uniform(size=60)  # says nothing, in large numbers
    people.to_csv(path, index=False)
    table, alone = tmp_path / "labels.csv", ("--scale", "none", "--affinity", "gaussian")
    assert any("'euros' varies" in line for line in summary("cluster", path, "-k", 2, *alone)["warnings"])
    status, _, errors = command("cluster", path, "-k", 2, "--output", table)
    assert status == 0 and "varies" not in errors, errors
    assert adjusted_rand_score(kind, pd.read_csv(table).label) > 0.9


def test_a_table_comes_back_whole_with_gaps_in_rows_that_were_left_out(command, tmp_path):
    path, table = tmp_path / "people.csv", tmp_path / "labels.csv"
    people = pd.DataFrame(
        {"town": ["Ulm"] * 10 + ["Bonn"] * 10, "age": [*range(20, 39, 2), *range(60, 79, 2)]}
    )
    people["label"] = "mine"
    people.loc[3, "age"] = None
    people.to_csv(path, index=False)
    status, _, errors = command("cluster", path, "-k", 2, "--missing", "drop_rows", "--output", table)
    assert status == 0, errors
    found = pd.read_csv(table)
    pd.testing.assert_frame_equal(found[people.columns], people, check_dtype=False)
    assert found["label (found)"].isna().tolist() == [row == 3 for row in range(20)]
    assert "Categories: 'town' (2 values)" in errors
    assert "'label' (one value)" in errors
