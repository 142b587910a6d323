import json
import os
import re
import sys
from base64 import b64encode
from copy import deepcopy
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from symclust.exceptions import CombinationError, InputError, MissingExtraError, OptionError
from symclust.report import Part, write_report


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
            assert attributes.get(name, "data:").startswith(("data:", "#"))
    assert not re.search(r"url\(|@import|<link|https?://", re.sub(r'"data:[^"]*"', "", full))
    policy = next(a["content"] for a in page.all("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    script = re.findall(r"<script>(.*?)</script>", full, flags=re.DOTALL)
    assert len(script) == 1
    digest = b64encode(sha256(script[0].encode("utf-8")).digest()).decode("ascii")
    assert f"script-src 'sha256-{digest}'" in policy


def test_every_address_inside_the_page_leads_somewhere(Page, full):
    page = Page(full)
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a")} <= set(ids)
    assert {a["aria-labelledby"] for _, a in page.tags if "aria-labelledby" in a} <= set(ids)


def test_clusters_that_are_not_listed_have_no_address(Page, model, tmp_path):
    labels = np.repeat(np.arange(250), 3)
    model.labels_, model.affinity_matrix_ = labels, csr_array((750, 750))
    model.membership_ = csr_array(np.eye(250)[labels] + 0.6 * np.eye(250)[(labels + 1) % 250])
    page = Page(write_report(tmp_path / "a.html", model).read_text(encoding="utf-8"))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert "run into each other" in page.words
    assert {a["href"][1:] for a in page.all("a")} <= set(ids)
    assert "The other 160 clusters" in page.words
    assert "The 50 smallest clusters are not listed." in page.words


def test_begins_with_what_was_found(Page, full):
    words = Page(full).words
    assert words.index("In short.") < words.index("Three clusters in 60 samples.") < words.index("accuracy")
    for said in (
        "Each holds 20 samples.",
        "accuracy 1.000",
        "time 1.5 s",
        "x (100%)",
        "n_clusters 3",
        "symclust 0.",
    ):
        assert said in words
    made = words.index("How it was made")
    for said in ("Iterations 3", "Relative error 0.250", "Stopped Stationarity fell below <tol>"):
        assert words.index(said) > made


def test_text_is_escaped(Page, full):
    assert "A &lt;title&gt; &amp; more" in full
    assert "<tol>" not in full
    assert "<b>" not in full
    assert "A <title> & more" in Page(full).text


def test_every_picture_has_words_and_every_column_a_header(Page, full):
    page = Page(full)
    plots = [a for a in page.all("img") if a.get("class", "").startswith("plot")]
    assert [a["class"] for a in plots] == ["plot only-light", "plot only-dark"]
    assert all(len(a["alt"]) > 40 for a in plots)
    assert all(a.get("alt") for a in page.all("img"))
    assert all(a.get("aria-label") for a in page.all("svg") + page.all("canvas"))
    assert all(a.get("scope") in ("row", "col") for a in page.all("th"))


def members(page, what):
    """The texts of the lists that follow a heading within the clusters."""
    found, words = [], page.text
    for i, word in enumerate(words):
        if word == what:
            end = next(
                j
                for j in range(i + 1, len(words))
                if not words[j].startswith("sample") and words[j] != "or" and not words[j].isdigit()
            )
            found.append([w for w in words[i + 1 : end] if w.startswith("sample")])
    return found


def test_members_are_the_strongest_and_the_most_torn(Page, model, tmp_path):
    names = [f"sample {i}" for i in range(60)]
    path = write_report(tmp_path / "a.html", model, names=names, n_members=4)
    page = Page(path.read_text(encoding="utf-8"))
    H, labels = model.membership_, model.labels_
    own = H[np.arange(60), labels]
    rival = np.where(np.eye(3, dtype=bool)[labels], 0, H).max(axis=1) / own
    typical, doubtful = members(page, "Most typical"), members(page, "Most doubtful")
    for c in range(3):
        clear = [i for i in np.flatnonzero(labels == c) if rival[i] < 0.5]
        expected = sorted(clear, key=lambda i: -(own[i] ** 2) / H[i].sum())[:4]
        assert typical[c] == [f"sample {i}" for i in expected]
    torn = [i for i in sorted(range(60), key=lambda i: -rival[i]) if rival[i] >= 0.5]
    found = [name for names in doubtful for name in names]
    assert sorted(found) == sorted(
        f"sample {i}" for c in range(3) for i in [j for j in torn if labels[j] == c][:2]
    )


def test_nodes_of_a_graph_are_listed_by_name(Page, model, tmp_path):
    model.node_names_ = [f"node {i}" for i in range(60)]
    page = Page(write_report(tmp_path / "a.html", model, n_members=1).read_text(encoding="utf-8"))
    H = model.membership_ * (np.arange(3) == model.labels_[:, np.newaxis])
    for c in range(3):
        assert f"node {np.argmax(H[:, c] ** 2 / model.membership_.sum(axis=1))}" in page.text


def test_works_with_an_empty_cluster_and_nothing_optional(Page, model, tmp_path):
    model.membership_ = np.c_[np.zeros(60), model.membership_]
    model.labels_ = model.labels_ + 1
    page = Page(write_report(tmp_path / "a.html", model).read_text(encoding="utf-8"))
    assert "accuracy" not in page.words
    assert "Cluster 0 is empty: fewer were found than were asked for." in page.words
    assert len([a for a in page.all("li") if a.get("class") == "cluster"]) == 4
    path = write_report(tmp_path / "a.html", model, images=np.zeros((60, 2, 2)), n_members=3)
    pictures = [a for a in Page(path.read_text(encoding="utf-8")).all("li") if a.get("class") == "pictured"]
    assert len(pictures) >= 9


def test_a_few_samples_of_one_cluster(Page, model, tmp_path):
    for n in (1, 2, 3):
        model.affinity_matrix_ = np.eye(n)
        model.membership_, model.labels_ = np.ones((n, 1)), np.zeros(n, dtype=int)
        page = Page(write_report(tmp_path / "a.html", model).read_text(encoding="utf-8"))
        assert f"One cluster in {n} sample{'s' * (n > 1)}." in page.words


def test_several_models_make_one_page(Page, model, tmp_path):
    other = deepcopy(model)
    parts = [Part(model, title="The <first>", names=[f"name {i}" for i in range(60)]), other]
    path = write_report(tmp_path / "a.html", parts, title="Both", n_members=2)
    page = Page(path.read_text(encoding="utf-8"))
    contents = [
        a["href"] for a in page.all("a") if a["href"].startswith("#part-") and "-cluster" not in a["href"]
    ]
    assert contents == ["#part-1", "#part-2"]
    assert page.words.count("Three clusters in 60 samples.") == 4  # in the contents, and in each part
    assert "The <first>" in page.text and "Fitted" in page.text
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))


def test_options_of_one_model_are_refused_for_several(model, tmp_path):
    with pytest.raises(CombinationError, match=r"names belongs to one model.* as Part\(model, names="):
        write_report(tmp_path / "a.html", [model, model], names=range(60))
    with pytest.raises(InputError, match="the list of models is empty"):
        write_report(tmp_path / "a.html", [])


def test_clusters_are_called_by_their_names(Page, model, tmp_path):
    names = ["north", "<south>", "west"]
    path = write_report(tmp_path / "a.html", model, cluster_names=names)
    page = Page(path.read_text(encoding="utf-8"))
    assert page.text.count("<south>") >= 2
    scripts = re.findall(r'<script type="application/json">(.*?)</script>', path.read_text("utf-8"))
    shown, matrix = map(json.loads, scripts)
    assert matrix["names"] == [group["label"] for group in shown["groups"]] == names
    with pytest.raises(InputError, match="cluster_names has length 2; there are 3 clusters"):
        write_report(tmp_path / "a.html", model, cluster_names=["a", "b"])


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
    with pytest.raises(MissingExtraError, match=r"pip install 'symclust\[cli\]'"):
        write_report(tmp_path / "a.html", model)
    assert not (tmp_path / "a.html").exists()


def test_any_name_can_be_shown(Page, model, tmp_path):
    names = ["\ud800 half a pair", "caf\udce9.txt", "zero \x00 byte", "\x1b[2J", *map(str, range(56))]
    model.membership_[np.arange(4), model.labels_[:4]] += 99  # the first four are the strongest
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
