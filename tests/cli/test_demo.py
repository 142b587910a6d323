import re
import sys

import pytest
from sklearn.datasets import load_digits


def test_prints_numbers_and_writes_the_page(command, tmp_path):
    page = tmp_path / "page.html"
    status, out, errors = command("demo", "--output", str(page))
    assert status == 0, errors
    assert float(re.search(r"accuracy\W+([\d.]+)", out)[1]) > 0.8
    sizes = re.search(r"cluster sizes\W+([\d ]+)", out)[1].split()
    assert len(sizes) == 10
    assert sum(map(int, sizes)) == 1797
    assert "stopped" in out
    assert str(page) in out
    text = page.read_text(encoding="utf-8")
    assert "Handwritten digits" in text
    assert text.count("data:image/png") > 100


@pytest.fixture
def few(monkeypatch):
    """A hundred digits and no pictures, where only what follows them is of interest."""
    digits = load_digits()
    digits.update(data=digits.data[:100], images=digits.images[:100], target=digits.target[:100])
    monkeypatch.setattr("symclust.cli.demo.load_digits", lambda: digits)
    monkeypatch.setattr("symclust.report._pictures.picture", lambda *_, **__: b"")


def test_missing_extra_is_one_message_with_its_brackets(command, few, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, _, errors = command("demo", "--output", str(tmp_path / "page.html"))
    assert status == 1
    assert errors.startswith("Error: ")
    assert 'pip install "symclust[cli]"' in errors


def test_path_that_cannot_be_written_is_one_message(command, few, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, errors = command("demo", "--output", str(tmp_path / "file" / "page.html"))
    assert status == 1
    assert errors.startswith("Error: The page cannot be written to")
    assert "Traceback" not in errors
    assert "file is not a folder" in errors


@pytest.mark.parametrize("wrong", [("--seed", "-1"), ("--clusters", "0"), ("--clusters", "1798")])
def test_impossible_numbers_are_refused_before_the_work(command, tmp_path, wrong):
    page = tmp_path / "page.html"
    status, out, errors = command("demo", *wrong, "--output", str(page))
    assert status == 2
    assert wrong[0] in errors
    assert not out
    assert not page.exists()
