import json

import pytest


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Something that looks like a checkout, with one experiment that prints and one that fails."""
    folder = tmp_path / "checkout" / "benchmarks" / "papers"
    folder.mkdir(parents=True)
    (tmp_path / "checkout" / "src" / "symclust").mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "__main__.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ.get('SYMCLUST_DATA'))\nsys.exit(sys.argv[1] == 'bad')"
    )
    (folder / "good_one.py").write_text('"""Table 3: cliques.\n\nMore."""')
    (folder / "bad.py").write_text('"""Table 4."""')
    (folder / "_tools.py").touch()
    monkeypatch.chdir(folder)
    return tmp_path / "checkout"


def test_lists_what_there_is(command, checkout):
    status, out, _ = command("reproduce")
    assert status == 0
    assert "good-one" in out
    assert "Table 3: cliques" in out
    assert "tools" not in out
    listed = json.loads(command("reproduce", "--json")[1])
    assert listed["experiments"] == {"bad": "Table 4", "good_one": "Table 3: cliques"}


def test_runs_one(process, checkout, tmp_path):
    running = process("reproduce", "good-one", "--data", tmp_path)
    out, errors = running.communicate(timeout=120)
    assert running.returncode == 0, errors
    assert out.strip() == f"['good_one'] {tmp_path}"


def test_failure_is_passed_on(command, checkout):
    assert command("reproduce", "bad")[0] == 1


def test_unknown_names_and_places(command, checkout, tmp_path, monkeypatch):
    status, _, errors = command("reproduce", "godo")
    assert status == 1
    assert "bad, good_one" in errors
    monkeypatch.chdir(tmp_path)
    status, _, errors = command("reproduce", "bad")
    assert status == 1
    assert "source code" in errors
    assert errors.count("\n") == 1
