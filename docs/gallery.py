"""Run every script in examples/ and write a page with its code, its picture and its output.

A picture is any matplotlib figure or axes that a script leaves in a global name; it goes to docs/images.
A script that fails, or draws nothing, ends the build.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from make_pictures import IMAGES, shrink

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PAGES = HERE / "_generated" / "gallery"

# Runs in a process of its own, so that no script sees what another has imported or seeded.
RUN = """
import runpy, sys
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
    """Page of a script, which is run for it."""
    title, text = described(script)
    code = script.read_text(encoding="utf-8").split('"""', 2)[2].strip()
    for old in IMAGES.glob(f"{script.stem}-*.png"):
        old.unlink()
    command = [sys.executable, "-c", RUN, str(script), str(IMAGES / script.stem)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()
    drawn = sorted(IMAGES.glob(f"{script.stem}-*.png"))
    if not drawn:
        raise SystemExit(f"{script} leaves no figure or axes in a global name.")
    for picture in drawn:
        shrink(picture)
    pictures = [f"![{title}](../../images/{picture.name})" for picture in drawn]
    parts = [f"# {title}", text, *pictures, f"```python\n{code}\n```"]
    if printed:
        parts += ["It prints:", f"```text\n{printed}\n```"]
    parts.append(f"The script is `examples/{script.name}`.")
    return "\n\n".join(parts) + "\n"


def index(scripts: list[Path]) -> str:
    """Page that lists all scripts, each with its picture."""
    entries = [
        f"[![{title}](../../images/{script.stem}-0.png)]({script.stem}.md)\n\n"
        f"**[{title}]({script.stem}.md).** {text}"
        for script in scripts
        for title, text in [described(script)]
    ]
    names = "\n".join(script.stem for script in scripts)
    return (
        "# Gallery\n\nScripts to start from, with their pictures and all they print.\n\n"
        + "\n\n".join(entries)
        + f"\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def described(script: Path) -> tuple[str, str]:
    """Title and description: the docstring, cut at its first colon."""
    docstring = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    title, _, text = docstring.partition(":")
    text = " ".join(text.split())
    return title.strip(), text[:1].upper() + text[1:]


if __name__ == "__main__":
    main()
