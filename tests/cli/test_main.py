import sys

import pytest

from symclust import registry


def test_help_lists_the_commands(command):
    status, out, _ = command("--help")
    assert status == 0
    for name in ("cluster", "communities", "demo", "info", "reproduce", "segment", "select-k", "topics"):
        assert name in out
    assert "130" in out
    assert "--install-completion" in out


@pytest.mark.parametrize("name", registry.options("cli"))
def test_every_command_explains_itself(command, name):
    status, out, _ = command(name.replace("_", "-"), "--help")
    assert status == 0
    assert "--json" in out
    assert "Example" in out or name in ("demo", "info")


def test_version(command):
    status, out, _ = command("--version")
    assert status == 0
    assert out.startswith("symclust 0.")


def test_unknown_command_is_refused(command):
    status, _, errors = command("deom")
    assert status == 2
    assert "deom" in errors


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_missing_library_is_one_line(command, monkeypatch, library):
    for name in list(sys.modules):
        if name.startswith((f"{library}.", "symclust.cli.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    message, _, _ = command("demo")
    assert message == f"The command needs {library}, which is not installed: pip install 'symclust[cli]'"
