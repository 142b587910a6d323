import pytest


def test_help_lists_the_commands(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "demo" in out
    assert "info" in out


def test_version(command):
    status, out, _ = command("--version")
    assert status == 0
    assert out.startswith("symclust 0.")


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_missing_library_is_one_line(command, library):
    status, _, errors = command("info", before=f"import sys; sys.modules[{library!r}] = None")
    assert status == 1
    assert 'pip install "symclust[cli]"' in errors
    assert errors.count("\n") == 1


def test_unknown_command_is_refused(command):
    status, _, errors = command("deom")
    assert status == 2
    assert "deom" in errors
