import json
import re

import numpy as np
import pytest
from sklearn.datasets import load_digits

from symclust.cli import demo as module
from symclust.cli._docstrings import docstrings


@pytest.fixture
def small(monkeypatch):
    """A part of everything, where only what becomes of it is of interest."""
    digits = load_digits()
    digits.update(data=digits.data[:200], images=digits.images[:200], target=digits.target[:200])
    texts = dict(list(docstrings().items())[::12])
    image = np.zeros((60, 80, 3), dtype=np.uint8)
    for number in range(12):
        image[20 * (number // 4) : 20 * (number // 4) + 20, 20 * (number % 4) : 20 * (number % 4) + 20] = (
            20 * number
        )
    monkeypatch.setattr("sklearn.datasets.load_digits", lambda: digits)
    monkeypatch.setattr("symclust.cli.demo.docstrings", lambda: texts)
    monkeypatch.setattr("sklearn.datasets.load_sample_image", lambda name: image)
    monkeypatch.setattr("symclust.cli.demo.N_TOPICS", 6)
    monkeypatch.setattr("symclust.cli.demo.CANDIDATES", range(2, 7))


def test_one_page_with_all_parts(command, small, tmp_path):
    pytest.importorskip("skimage")
    page = tmp_path / "page.html"
    status, out, errors = command("demo", "--output", page)
    assert status == 0, errors
    text = page.read_text(encoding="utf-8")
    for number in range(1, 5):
        assert f'href="#part-{number}"' in text
    for title in ("Handwritten digits", "How many kinds of digits?", "What scientific Python is about"):
        assert title in text
    assert "Ten clusters in 200 samples." in out
    assert "documents, 6 topics" in out
    assert "Twelve segments in 4,800 pixels." in out
    assert out.strip().split("\n")[-1] == f"Wrote the report to {page}"
    assert "1 of 4: Handwritten digits" in errors


def test_without_images_the_rest_is_shown(command, small, tmp_path, monkeypatch):
    monkeypatch.setattr("symclust.cli.demo.find_spec", lambda name: None)
    status, out, errors = command("demo", "--output", tmp_path / "page.html", "--json")
    assert status == 0, errors
    assert "pip install 'symclust[images]'" in errors
    assert list(json.loads(out)["parts"]) == list(module.PARTS)
    assert 'href="#part-4"' not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_demo_writes_the_parts_that_are_there(command, small, tmp_path, monkeypatch):
    def interrupted(session):
        raise KeyboardInterrupt
        yield

    page = tmp_path / "page.html"
    parts = {"Handwritten digits": module._digits, "More": interrupted, "Rest": module._picture}
    monkeypatch.setattr(module, "PARTS", parts)
    status, _, errors = command("demo", "--output", page)
    assert status == 130
    assert f"Interrupted. Written: the report {page}." in errors
    text = page.read_text(encoding="utf-8")
    assert "Ten clusters in 200 samples." in text


def test_digits_are_recognised(monkeypatch):
    from symclust.cli._session import Work
    from symclust.report import find, read_clustering

    (part,) = module._digits(Work(quiet=True))
    facts = " ".join(find(read_clustering(part.model, labels_true=part.labels_true)).facts)
    assert int(re.search(r"agree with them for (\d+)%", facts)[1]) > 80
    assert part.model.callback is None


def test_missing_extra_is_one_message_with_its_brackets(command, small, tmp_path, monkeypatch):
    monkeypatch.setattr("symclust.cli._output.find_spec", lambda name: None)
    status, _, errors = command("demo", "--output", tmp_path / "page.html")
    assert status == 1
    assert errors.startswith("Error: ")
    assert "pip install 'symclust[cli]'" in errors


def test_path_that_cannot_be_written_is_refused_first(command, tmp_path):
    (tmp_path / "file").write_text("")
    status, _, errors = command("demo", "--output", tmp_path / "file" / "page.html")
    assert status == 1
    assert errors.count("\n") == 1
    assert "file is not a folder" in errors


def test_docstrings_are_of_the_installed_packages():
    texts = docstrings()
    assert len(texts) > 1000
    assert "scipy.fft.fft" in texts
    assert "sklearn.cluster.KMeans" in texts
    assert "Examples\n---" not in "".join(texts.values())
    assert len(set(texts.values())) == len(texts)
