"""The package as a whole: what importing it costs, which names it shows, and what it logs."""

import ast
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import symclust
from symclust.exceptions import InterruptedWarning, NotConvergedWarning


def modules_after(statement):
    code = f"{statement}\nimport sys; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HELP = """
import sys
sys.argv = ["symclust", *{args}]
from symclust.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code
"""


@pytest.mark.parametrize(
    "statement",
    [
        "import symclust",
        "import symclust.exceptions",
        HELP.format(args=["--help"]),
        HELP.format(args=["cluster", "--help"]),
    ],
)
def test_neither_the_package_nor_the_help_of_the_command_waits_for_scikit_learn(statement):
    loaded = modules_after(statement)
    assert "symclust" in loaded
    assert not loaded & {"sklearn", "scipy", "numpy"}


def test_every_public_name_is_there_and_is_listed():
    assert dir(symclust) == sorted(symclust.__all__)
    for name in symclust.__all__:
        assert getattr(symclust, name) is not None
    assert dir(symclust) == sorted(symclust.__all__)  # whatever has been imported by now


@pytest.mark.parametrize(
    ("name", "meant"), [("symnmf", "SymNMF"), ("SymNFM", "SymNMF"), ("kernel_kmeans", "KernelKMeans")]
)
def test_a_misspelt_name_gets_a_hint(name, meant):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'. Did you mean {meant}"):
        getattr(symclust, name)
    assert not hasattr(symclust, "nothing_of_that_kind")


def test_help_on_the_main_estimator_can_be_read():
    code = "import pydoc, symclust; print(len(pydoc.render_doc(symclust.SymNMF).splitlines()))"
    # In a process of its own: whoever pickles a model adds attributes to its class.
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 100 < int(done.stdout) < 250  # 50 of them are scikit-learn's


def test_the_stub_lists_what_it_imports():
    tree = ast.parse((Path(symclust.__file__).parent / "__init__.pyi").read_text())
    imported = {a.name for node in tree.body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert imported == set(symclust.__all__)


@pytest.mark.parametrize("kind", [NotConvergedWarning, InterruptedWarning])
def test_warnings_of_convergence_are_scikit_learns_and_can_be_pickled(kind):
    assert issubclass(kind, ConvergenceWarning)
    assert pickle.loads(pickle.dumps(kind("so far"))).args == ("so far",)


def test_a_fit_logs_its_iterations_for_debugging_only(caplog):
    A = np.kron(np.eye(2), np.ones((3, 3))) + 0.01
    with caplog.at_level(logging.INFO):
        symclust.SymNMF(2, affinity="precomputed", init="random", random_state=0).fit(A)
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, logger="symclust"):
        symclust.SymNMF(2, affinity="precomputed", init="random", random_state=0).fit(A)
    assert "stationarity" in caplog.text
