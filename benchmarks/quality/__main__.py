"""Measure all kinds of data, or those named: `python -m benchmarks.quality networks lfr`.

Each part keeps its runs as JSON in benchmarks/results; the page has the tables of all parts that are there.
"""

import importlib
import pkgutil
import sys
import warnings

import benchmarks.quality as folder
from benchmarks.quality._page import write_page

known = [module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_")]
chosen = sys.argv[1:] or known
for name in chosen:
    if name not in known:
        sys.exit(f"{name!r} is not a part of the benchmark. Choose from {', '.join(known)}.")
warnings.simplefilter("ignore")
for name in chosen:
    print(f"\n## {name}", flush=True)
    importlib.import_module(f"benchmarks.quality.{name}").main()
print(f"\nAll tables: {write_page()}")
