import sys

import pytest

from symclust.exceptions import MissingExtraError
from symclust.plotting import picture, plot_similarity


def draw(ax):
    ax.plot([1, 3, 2])


@pytest.mark.parametrize(("file_format", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_same_drawing_same_bytes(file_format, start):
    first, second = (picture(draw, file_format=file_format) for _ in range(2))
    assert first.startswith(start)
    assert first == second
    assert picture(draw, file_format=file_format, dark=True) != first


def test_leaves_settings_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    picture(draw, dark=True)
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'symclust\[plot\]'"):
        picture(draw)
    with pytest.raises(MissingExtraError, match=r"pip install 'symclust\[plot\]'"):
        plot_similarity([[1.0]])
