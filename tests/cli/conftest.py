import subprocess
import sys

import pytest


@pytest.fixture
def command():
    """Run the command as its user does, in a process of its own; returns exit code, output and errors."""
    for library in ("typer", "rich", "jinja2", "matplotlib"):
        pytest.importorskip(library)

    def run(*arguments, before=""):
        code = f"{before}\nimport sys; sys.argv[1:] = {arguments!r}; from symclust.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run
