"""`symclust info`: what is installed and what it runs on."""

from __future__ import annotations

import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from rich.markup import escape
from rich.table import Table

from symclust.cli._console import screen
from symclust.cli._session import Session

__all__ = ["info"]

# Extras for people who work on symclust, and the one that joins all others.
NOT_PARTS = ("all", "dev", "docs", "test")


def info(session: Session) -> None:
    """Print versions, the instruction set in use, threads, BLAS, and which optional parts are installed.

    Paste this into a bug report. `SYMCLUST_INSTRUCTION_SET` and `OMP_NUM_THREADS` change what is used.
    """
    if session.shows_answer:
        _draw()
    parts = {name: {x: _installed(x) or None for x in found} for name, found in optional_parts().items()}
    session.finish(lambda: {"command": "info", "facts": _facts(), "parts": parts})


def _draw() -> None:
    facts = Table(show_header=False, title=f"symclust {version('symclust')}", title_justify="left")
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    for name, value in _facts().items():
        facts.add_row(name, escape(value))
    screen.print(facts)
    parts = Table(title="Optional parts", title_justify="left")
    parts.add_column("part", no_wrap=True)
    parts.add_column("libraries")
    parts.add_column("to install")
    for name, libraries in optional_parts().items():
        installed = [_installed(library) for library in libraries]
        states = [f"{x} {v}" if v else f"{x} missing" for x, v in zip(libraries, installed, strict=True)]
        command = "" if all(installed) else escape(f"pip install 'symclust[{name}]'")
        parts.add_row(name, "\n".join(states), command)
    screen.print(parts)


def _facts() -> dict[str, str]:
    from threadpoolctl import threadpool_info

    from symclust import _kernels

    blas = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return {
        "instruction set": _kernels.instruction_set,
        "kernel threads": str(_kernels.max_threads()),
        "BLAS": "\n".join(map(_blas, blas)) or "none found",
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "NumPy": version("numpy"),
        "SciPy": version("scipy"),
        "scikit-learn": version("scikit-learn"),
    }


def _blas(library: dict[str, Any]) -> str:
    threads = library["num_threads"]
    return f"{library['internal_api']} {library['version']}, {threads} thread{'s' * (threads != 1)}"


def optional_parts() -> dict[str, list[str]]:
    """The libraries of each extra, as the installed package itself declares them."""
    parts: dict[str, list[str]] = {}
    for requirement in requires("symclust") or []:
        found = re.match(r"""([\w.-]+).*\bextra\s*==\s*["']([\w-]+)["']""", requirement)
        if found and found[2] not in NOT_PARTS:
            parts.setdefault(found[2], []).append(found[1])
    return parts


def _installed(library: str) -> str:
    """Version of a library, or nothing."""
    try:
        return version(library)
    except PackageNotFoundError:
        return ""
