"""Measured calls, each in a process of its own: seconds, peak memory, limits, and why one has no result.

A peer is declared once, where its call is written::

    @peer("Leiden, igraph", requires=("igraph",), imports=("igraph",))
    def igraph_leiden(A, k): ...

It says what pip installs for it, whether that goes to an environment of its own (`own=True`, for what needs
other versions than symclust or is used here alone; made on first use in benchmarks/.envs), and gets the data
as a `csr_array`. It returns arrays by name. A peer that cannot be installed or ends badly is left out with
a sentence; the others go on.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks._tools import memory as held

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ROOT / "benchmarks" / ".envs"
CHILD = "from benchmarks.speed._peers import child; child()"


def allowed(seconds: float = 300.0, megabytes: float = 5_000.0) -> dict[str, float]:
    """Return what a call may take: SYMCLUST_BENCH_SECONDS and SYMCLUST_BENCH_MEMORY (MB) where set."""
    return {
        "seconds": float(os.environ.get("SYMCLUST_BENCH_SECONDS", seconds)),
        "memory": float(os.environ.get("SYMCLUST_BENCH_MEMORY", megabytes)),
    }


@dataclass(frozen=True)
class Peer:
    """A call, what it needs, and where it runs."""

    name: str
    work: Callable[..., Mapping[str, Any]]
    requires: tuple[str, ...] = ()
    own: bool = False
    imports: tuple[str, ...] = ()  # before the clock starts
    environ: Mapping[str, str] = field(default_factory=dict)


class Outcome(NamedTuple):
    """Arrays of the answer, or why there are none; seconds and memory go to tables as they are."""

    answer: dict[str, np.ndarray]
    facts: dict[str, Any]

    @property
    def failed(self) -> bool:
        return "why not" in self.facts


def peer(name: str, **needs: Any) -> Callable[[Callable[..., Any]], Peer]:
    return lambda work: Peer(name, work, **needs)


@contextmanager
def stored(A: sp.csr_array) -> Iterator[Path]:
    """Write A where the processes find it, once for all of them."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"{part}.npy", getattr(A, part))
        np.save(folder / "shape.npy", A.shape)
        del A  # so that nobody holds it twice
        yield folder


def load(folder: Path, mmap_mode: Any = None) -> sp.csr_array:
    parts = (np.load(folder / f"{part}.npy", mmap_mode) for part in ("data", "indices", "indptr"))
    return sp.csr_array(tuple(parts), shape=tuple(np.load(folder / "shape.npy").tolist()))


def run(
    peer: Peer, folder: Path, seconds: float | None = None, memory: float | None = None, **options: Any
) -> Outcome:
    """Call the peer on the stored matrix in a process of its own, under the limits."""
    usual = allowed()
    seconds, memory = seconds or usual["seconds"], memory or usual["memory"]
    python, why = interpreter(peer)
    if python is None:
        return _without(peer, why)
    for name in ("answer.npz", "facts.json"):
        (folder / name).unlink(missing_ok=True)
    given = [peer.work.__module__, peer.work.__name__, str(folder), json.dumps(options)]
    command = [python, "-W", "ignore", "-c", CHILD, *given]
    with subprocess.Popen(command, env=_environment(peer), cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        why = _watch(process, seconds, memory)
    if why or not (folder / "facts.json").exists():
        return _without(peer, why or _ending(process.returncode))
    facts = json.loads((folder / "facts.json").read_text())
    if facts.get("peak (MB)", 0) > memory:
        return _without(peer, _too_much(memory))
    if "why not" in facts:
        return _without(peer, facts["why not"])
    with np.load(folder / "answer.npz") as file:
        return Outcome(dict(file), facts)


def _environment(peer: Peer) -> dict[str, str]:
    """Return variables: the environments of peers see benchmarks and not this interpreter's packages."""
    paths = [str(ROOT)] if peer.own else [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, **peer.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _without(peer: Peer, why: str) -> Outcome:
    print(f"({peer.name} left out: {why})", flush=True)
    return Outcome({}, {"why not": why})


def _watch(process: subprocess.Popen[bytes], seconds: float, memory: float) -> str:
    """Wait for the process and end it at a limit; return which one, if any.

    What it holds is asked for now and then: a limit of the system counts what is reserved and never touched.
    """
    end = time.monotonic() + seconds
    while process.poll() is None:
        if held("VmRSS", process.pid) > memory:
            process.kill()
            return _too_much(memory)
        if time.monotonic() > end:
            process.kill()
            return f"not within {seconds:g} s"
        time.sleep(0.05)
    return ""


def _too_much(memory: float) -> str:
    return f"more than {memory:g} MB"


def _ending(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"


def interpreter(peer: Peer) -> tuple[str | None, str]:
    """Return the Python that has what the peer requires, making its environment on first use, or why not."""
    if not peer.own:
        return sys.executable, ""
    home = ENVIRONMENTS / re.sub(r"\W+", "_", peer.requires[-1]).lower()
    stamp, python = home / "requires.txt", home / "bin" / "python"
    wanted = "\n".join(peer.requires)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Making an environment for {' '.join(peer.requires)}.", flush=True)
        shutil.rmtree(home, ignore_errors=True)
        venv.create(home, with_pip=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", *peer.requires]
        if subprocess.run(pip, check=False, stderr=subprocess.DEVNULL).returncode:
            return None, f"pip install {' '.join(peer.requires)} did not succeed"
        stamp.write_text(wanted)
    return str(python), ""


def child() -> None:
    """Answer one call; runs in the peer's interpreter, which may have NumPy and SciPy alone."""
    module, name, place, options = sys.argv[1:]
    folder, facts = Path(place), {}
    peer = getattr(importlib.import_module(module), name)
    try:
        answer, facts = _measure(peer, folder, json.loads(options))
        np.savez(folder / "answer.npz", **answer)
    except ImportError as error:
        facts = {"why not": f"{error}: pip install {' '.join(peer.requires)}"}
    except Exception as error:  # whatever a package raises is told in its row, and the others go on
        traceback.print_exc()
        facts = {"why not": f"{type(error).__name__}: {error}"[:200]}
    (folder / "facts.json").write_text(json.dumps(facts))


def _measure(peer: Peer, folder: Path, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    for library in peer.imports:
        importlib.import_module(library)
    A = load(folder)
    before = held("VmRSS")
    start, processor = time.perf_counter(), time.process_time()
    answer = {name: np.asarray(value) for name, value in peer.work(A, **options).items()}
    facts = {
        "s": time.perf_counter() - start,
        "processor s": time.process_time() - processor,
        "peak (MB)": held(),
        "before (MB)": before,
    }
    return answer, facts | _version(peer)


def _version(peer: Peer) -> dict[str, str]:
    """Return the release that was measured, of the last requirement: the ones before are what it needs."""
    if not peer.requires:
        return {}
    name = re.split(r"[<>=!]", peer.requires[-1])[0]
    try:
        return {"version": version(name)}
    except PackageNotFoundError:
        return {}
