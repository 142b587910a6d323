import platform
from importlib.metadata import version

from symclust import _kernels


def test_names_what_runs(command):
    status, out, errors = command("info")
    assert status == 0, errors
    wanted = (
        version("symclust"),
        _kernels.instruction_set,
        platform.python_version(),
        *map(version, ("numpy", "scipy", "scikit-learn")),
    )
    for word in wanted:
        assert word in out
    assert "OpenMP" in out
    assert "BLAS" in out


def test_lists_optional_parts_and_how_to_get_them(command):
    hide = """
import importlib.metadata as m
original = m.version
def version(name):
    if name == "typer":
        raise m.PackageNotFoundError(name)
    return original(name)
m.version = version
"""
    out = command("info", before=hide)[1]
    for part in ("plot", "cli", "images", "dask", "ann", "expression", "gpu"):
        assert part in out
    assert "typer missing" in out
    assert 'pip install "symclust[cli]"' in out
    assert "symclust[test]" not in out
