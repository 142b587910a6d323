import platform
from importlib.metadata import PackageNotFoundError, version

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
    assert "kernel threads" in out
    assert "BLAS" in out


def test_json(summary):
    found = summary("info")
    assert found["facts"]["instruction set"] == _kernels.instruction_set
    assert set(found["parts"]["plot"]) == {"matplotlib"}


def test_lists_optional_parts_and_how_to_get_them(command, monkeypatch):
    def version_without_typer(name):
        if name == "typer":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr("symclust.cli.info.version", version_without_typer)
    out = command("info")[1]
    for part in ("plot", "cli"):
        assert part in out
    assert "typer missing" in out
    assert "pip install 'symclust[cli]'" in out
    assert "symclust[test]" not in out
