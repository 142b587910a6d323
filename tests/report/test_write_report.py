import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from symclust.exceptions import InputError, MissingExtraError, OptionError
from symclust.report import write_report


@pytest.fixture(scope="module")
def full(fitted, tmp_path_factory):
    images = np.arange(60)[:, None, None] * np.ones((60, 8, 8))
    path = write_report(
        tmp_path_factory.mktemp("report") / "new" / "page.html",
        fitted,
        title="A <title> & more",
        summary="In short.",
        labels_true=np.array(list("xyz"))[fitted.labels_],
        images=images,
        numbers={"time": "1.5 s"},
        n_members=5,
    )
    return path.read_text(encoding="utf-8")


def test_is_one_file_that_fetches_nothing(Page, full):
    page = Page(full)
    for attributes in (a for _, a in page.tags):
        for name in ("src", "srcset", "href"):
            assert attributes.get(name, "data:").startswith("data:")
    assert not re.search(r"url\(|@import|<script|<link|https?://", re.sub(r'"data:[^"]*"', "", full))


def test_tells_what_matters(Page, full):
    text = " | ".join(Page(full).text)
    assert "In short." in text
    for name, value in {
        "accuracy": "1.000",
        "samples": "60",
        "relative error": "0.250",
        "time": "1.5 s",
    }.items():
        assert f"{name} | {value}" in text
    assert "x (100%)" in text
    assert "20 | 33.3%" in text
    assert "n_clusters | 3" in text
    assert "symclust | 0." in text


def test_text_is_escaped(Page, full):
    assert "A &lt;title&gt; &amp; more" in full
    assert "<tol>" not in full
    assert "<b>" not in full
    assert "A <title> & more" in Page(full).text


def test_every_picture_has_words_and_every_column_a_header(Page, full):
    page = Page(full)
    plots = [a for a in page.all("img") if a.get("class") == "plot"]
    assert len(plots) == 2
    assert all(len(a["alt"]) > 40 for a in plots)
    assert len(page.all("source")) == 2  # each also for dark pages
    assert all("alt" in a for a in page.all("img"))
    assert len([a for a in page.all("div") if "Strongest members of cluster" in a.get("aria-label", "")]) == 3
    assert all(a.get("scope") in ("row", "col") for a in page.all("th"))


def test_members_are_the_strongest_first(Page, model, tmp_path):
    names = [f"sample {i}" for i in range(60)]
    page = Page(
        write_report(tmp_path / "a.html", model, names=names, n_members=4).read_text(encoding="utf-8")
    )
    for c in range(3):
        strongest = np.argsort(-model.membership_[:, c])[:4]
        assert ", ".join(f"sample {i}" for i in strongest) in page.text


def test_nodes_of_a_graph_are_listed_by_name(Page, model, tmp_path):
    model.node_names_ = [f"node {i}" for i in range(60)]
    page = Page(write_report(tmp_path / "a.html", model, n_members=1).read_text(encoding="utf-8"))
    for c in range(3):
        assert f"node {np.argmax(model.membership_[:, c])}" in page.text


def test_works_with_an_empty_cluster_and_nothing_optional(Page, model, tmp_path):
    model.membership_ = np.c_[np.zeros(60), model.membership_]
    model.labels_ = model.labels_ + 1
    page = Page(write_report(tmp_path / "a.html", model).read_text(encoding="utf-8"))
    assert "Strongest members" not in page.text
    assert "accuracy" not in page.text
    page = Page(
        write_report(tmp_path / "a.html", model, images=np.zeros((60, 2, 2))).read_text(encoding="utf-8")
    )
    assert "Strongest members" in page.text
    tags = [tag for tag, _ in page.tags]
    start = tags.index("tbody")
    rows = " ".join(tags[start : tags.index("section", start)]).split("tr")[1:]
    assert [row.split().count("td") for row in rows] == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"labels_true": [0, 1]}, InputError, "labels_true has length 2; the model was fitted to 60"),
        ({"names": ["a"]}, InputError, "names has length 1"),
        ({"images": np.zeros((60, 64))}, InputError, r"images has shape \(60, 64\)"),
        ({"images": "digits.png"}, InputError, r"images has shape \(\) and type <U10; expected numbers"),
        ({"n_members": "3"}, OptionError, "n_members='3' must be a whole number"),
    ],
)
def test_refuses_what_does_not_fit_the_model(model, tmp_path, wrong, kind, message):
    with pytest.raises(kind, match=message):
        write_report(tmp_path / "a.html", model, **wrong)


def test_without_jinja_the_error_names_the_extra(model, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r'pip install "symclust\[cli\]"'):
        write_report(tmp_path / "a.html", model)
    assert not (tmp_path / "a.html").exists()


def test_any_name_can_be_shown(Page, model, tmp_path):
    names = ["\ud800 half a pair", "caf\udce9.txt", "zero \x00 byte", "\x1b[2J", *map(str, range(56))]
    model.membership_[:4] += 9  # the first four are the strongest
    page = write_report(tmp_path / "a.html", model, title="\udfff", names=names).read_bytes()
    text = " ".join(Page(page.decode("utf-8")).text)
    for shown in (r"\ud800 half a pair", r"caf\udce9.txt", r"zero \x00 byte", r"\x1b[2J", r"\udfff"):
        assert shown in text
    assert b"\x00" not in page and b"\x1b" not in page


@pytest.mark.parametrize("broken", ["open", "replace"])
def test_a_page_stays_as_it_is_when_its_successor_fails(model, tmp_path, monkeypatch, broken):
    path = tmp_path / "a.html"
    path.write_text("the old page")

    real = Path.open

    def full(self, mode="r", *rest, **options):
        if broken == "open" and "x" not in mode:  # only new files are not opened
            return real(self, mode, *rest, **options)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, broken, full)
    with pytest.raises(InputError, match=r"cannot be written to .*No space left on device"):
        write_report(path, model)
    assert path.read_text() == "the old page"
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]


@pytest.mark.skipif(os.name != "posix", reason="links and permissions as on POSIX")
def test_a_page_that_is_replaced_keeps_its_place_and_permissions(model, tmp_path):
    path, link = tmp_path / "a.html", tmp_path / "link.html"
    path.write_text("the old page")
    path.chmod(0o640)
    link.symlink_to(path)
    assert write_report(link, model) == link
    assert link.is_symlink() and "<title>" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o640
    write_report(os.devnull, model)
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("name", ["a\x00b.html", "\ud800.html"])
def test_a_path_that_cannot_be_is_refused(model, tmp_path, name):
    with pytest.raises(InputError, match="The page cannot be written to"):
        write_report(f"{tmp_path}/{name}", model)
