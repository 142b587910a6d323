import subprocess
import sys

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


def test_unknown_command_is_refused(command):
    status, _, errors = command("deom")
    assert status == 2
    assert "deom" in errors


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_missing_library_is_one_line(library):
    code = f"import sys; sys.modules[{library!r}] = None; from symclust.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'pip install "symclust[cli]"' in done.stderr
    assert done.stderr.count("\n") == 1
