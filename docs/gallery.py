"""Run every script in examples/ and write a page with its code, what it prints and what it draws.

A picture is any matplotlib figure or axes that a script leaves in a global name. A script that fails ends the
build.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PAGES = HERE / "_generated" / "gallery"

# Runs in a process of its own, so that no script sees what another has imported or seeded.
RUN = """
import runpy, sys
from pathlib import Path
from matplotlib.axes import Axes
from matplotlib.figure import Figure

script, stem = sys.argv[1:]
names = runpy.run_path(script, run_name="__main__")
drawn = [value for value in names.values() if isinstance(value, Axes | Figure)]
figures = {id(figure): figure for figure in (getattr(one, "figure", one) for one in drawn)}
for number, figure in enumerate(figures.values()):
    figure.savefig(f"{stem}-{number}.png", dpi=110, bbox_inches="tight")
"""


def main() -> None:
    PAGES.mkdir(parents=True, exist_ok=True)
    for old in PAGES.iterdir():
        old.unlink()
    scripts = sorted(EXAMPLES.glob("*.py"))
    for script in scripts:
        print(script.relative_to(EXAMPLES.parent), flush=True)
        (PAGES / f"{script.stem}.md").write_text(page(script), encoding="utf-8")
    (PAGES / "index.md").write_text(index(scripts), encoding="utf-8")


def page(script: Path) -> str:
    """Return the page of a script, after running it."""
    title, text = described(script)
    code = script.read_text(encoding="utf-8").split('"""', 2)[2].strip()
    command = [sys.executable, "-c", RUN, str(script), str(PAGES / script.stem)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()
    drawn = sorted(PAGES.glob(f"{script.stem}-*.png"))
    pictures = [f"![What the script draws]({path.name})" for path in drawn]
    parts = [f"# {title}", text, f"```python\n{code}\n```", *pictures]
    if printed:
        parts += ["It prints:", f"```text\n{printed}\n```"]
    parts.append(f"The script is `examples/{script.name}`.")
    return "\n\n".join(parts) + "\n"


def index(scripts: list[Path]) -> str:
    """Return the page that lists all scripts."""
    lines = [f"- [{described(script)[0]}]({script.stem}.md): {described(script)[1]}" for script in scripts]
    entries = "\n".join(script.stem for script in scripts)
    return (
        "# Gallery\n\nScripts to start from. They are run whenever these pages are built.\n\n"
        + "\n".join(lines)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    )


def described(script: Path) -> tuple[str, str]:
    """Return title and description: the first sentence of the docstring, cut at its colon."""
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    title, _, text = docstring.partition(":")
    text = " ".join(text.split())
    return title.strip(), text[:1].upper() + text[1:]


if __name__ == "__main__":
    main()
