"""Draw all figures, or those named: `python -m benchmarks.figures cliques topic_trees`."""

import importlib
import pkgutil
import sys

import benchmarks.figures as folder

known = [module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_")]
for name in sys.argv[1:] or known:
    if name not in known:
        sys.exit(f"{name!r} is not a benchmark. Choose from {', '.join(known)}.")
    importlib.import_module(f"benchmarks.figures.{name}").main()
