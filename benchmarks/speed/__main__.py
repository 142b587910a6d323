"""Run the speed benchmarks, or those named, and write a page of all results: `python -m benchmarks.speed`.

`python -m benchmarks.speed product clustering` runs these two; the longest ones run only if named. `python -m
benchmarks.speed page` writes the page from the results that are there. Every case runs in a process of its
own: one that fails is told at the end and does not keep the others from running.
"""

import pkgutil
import subprocess
import sys

import benchmarks.speed as folder
from benchmarks.speed._page import write_page

LONG = ("neighbours", "network_1m", "network_10m")  # 10 to 25 minutes each, and up to 7 GB


def main(chosen: list[str]) -> None:
    known = [module.name for module in pkgutil.iter_modules(folder.__path__) if module.name[0] != "_"]
    for name in chosen:
        if name not in (*known, "page"):
            sys.exit(f"{name!r} is not a benchmark. Choose from {', '.join(known)}; or page.")
    wanted = chosen or [name for name in known if name not in LONG]
    failed = [name for name in wanted if name != "page" and not run(name)]
    print(f"\nAll tables and plots: {write_page()}")
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}.")


def run(name: str) -> bool:
    print(f"\n## {name}", flush=True)
    call = f"from benchmarks.speed.{name} import main; main()"
    return subprocess.run([sys.executable, "-c", call], check=False).returncode == 0


main(sys.argv[1:])
