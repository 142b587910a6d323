"""Compiled leaves: arrays in, arrays out.

The same C++ sources are compiled for several instruction sets; the best one the processor supports is imported here.
Set ``SYMCLUST_INSTRUCTION_SET`` to ``x86_64_v2``, ``x86_64_v3`` or ``x86_64_v4`` to choose by hand.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType

from symclust._kernels import _cpu


def _load() -> tuple[str, ModuleType]:
    level = os.environ.get("SYMCLUST_INSTRUCTION_SET") or _cpu.best_level()
    try:
        return level, importlib.import_module(f"symclust._kernels._{level}")
    except ImportError:
        # A build for another architecture, or a compiler without levels, has the generic module only.
        return "generic", importlib.import_module("symclust._kernels._generic")


instruction_set, _module = _load()
openmp: bool = _module.openmp
max_threads = _module.max_threads
asymmetry = _module.asymmetry
spmm = _module.spmm
