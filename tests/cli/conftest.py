import pytest


@pytest.fixture
def command(monkeypatch, capsys):
    """Run the command with the given arguments; returns exit code, output and errors."""
    for library in ("typer", "rich", "jinja2", "matplotlib"):
        pytest.importorskip(library)
    from symclust.cli import main

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["symclust", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code, *capsys.readouterr()

    return run
