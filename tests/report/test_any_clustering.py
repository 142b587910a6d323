"""Pages about arbitrary clusterings: whatever labels, memberships and names are, they can be shown."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from symclust.report import summary_html, write_report

for library in ("jinja2", "matplotlib"):
    pytest.importorskip(library)


@st.composite
def clusterings(draw):
    n, k = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    parts = {"labels_": draw(hnp.arrays(np.int64, n, elements=st.integers(-1, k - 1)))}
    if draw(st.booleans()):
        H = draw(hnp.arrays(np.float64, (n, k), elements=st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0])))
        parts["membership_"] = csr_array(H) if draw(st.booleans()) else H
    if draw(st.booleans()):
        A = draw(hnp.arrays(np.float64, (n, n), elements=st.sampled_from([-1.0, 0.0, 0.0, 0.5, 2.0])))
        A = A + A.T
        parts["affinity_matrix_"] = csr_array(A) if draw(st.booleans()) else A
    options = {}
    if draw(st.booleans()):
        options["names"] = draw(st.lists(st.text(), min_size=n, max_size=n))
    if draw(st.booleans()):
        classes = st.one_of(st.text(max_size=3), st.integers(0, 2), st.none())
        options["labels_true"] = draw(st.lists(classes, min_size=n, max_size=n))
    if draw(st.booleans()):
        options["images"] = np.zeros((n, 2, 2))
    return SimpleNamespace(**parts), options


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(clusterings())
def test_every_page_is_well_formed(Page, tmp_path, sketched, drawn):
    model, options = drawn
    text = write_report(tmp_path / "a.html", model, **options).read_text(encoding="utf-8")
    page = Page(text)  # complains about tags that do not match
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    found = len(np.unique(model.labels_[model.labels_ >= 0]))
    assert {"accuracy", "purity"} & set(page.text) or "labels_true" not in options
    assert f"clusters {found}" in page.words
    assert "nan" not in page.words.split() or "nan" in map(str, options.get("names", ()))


@settings(max_examples=60)
@given(clusterings())
def test_every_summary_is_well_formed(Page, drawn):
    page = Page(summary_html(drawn[0]))
    assert f"in {len(drawn[0].labels_)} sample" in page.words
