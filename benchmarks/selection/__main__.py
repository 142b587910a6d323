"""Run all parts, or those named: `python -m benchmarks.selection answers nulls`."""

import importlib
import pkgutil
import sys
import warnings

import benchmarks.selection as folder

known = [module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_")]
chosen = sys.argv[1:] or known
for name in chosen:
    if name not in known:
        sys.exit(f"{name!r} is not a part of the benchmark. Choose from {', '.join(known)}.")
warnings.simplefilter("ignore")
for name in chosen:
    print(f"\n## {name}", flush=True)
    importlib.import_module(f"benchmarks.selection.{name}").main()
