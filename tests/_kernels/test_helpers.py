"""Helper threads: every block of every round runs once, whoever comes late."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src" / "symclust" / "_kernels" / "src"
COMPILER = shutil.which("c++")


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.skipif("SYMCLUST_SANITIZER" in os.environ, reason="run there with its own build")
def test_each_block_runs_exactly_once(tmp_path):
    program = tmp_path / "stress"
    build = [
        COMPILER,
        "-std=c++17",
        "-O2",
        "-pthread",
        f"-I{SOURCES}",
        HERE / "helpers_stress.cpp",
        "-o",
        program,
    ]
    subprocess.run(build, check=True)
    # More threads than processors: they are stopped anywhere, also between two words that belong together.
    done = subprocess.run([program, "200000", "8"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
