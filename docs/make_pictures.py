"""Draw the pictures of the documents that no script in examples/ draws, of data in installed packages."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from symclust import AffineNMF, LeftStochastic, SymNMF, select_n_clusters
from symclust.datasets import overlapping_lfr, simulated_expression
from symclust.metrics import membership_calibration
from symclust.plotting import (
    plot_before_after,
    plot_calibration,
    plot_memberships,
    plot_selection,
    plot_similarity,
)

IMAGES = Path(__file__).parent / "images"
COLOURS = np.array(["#3566b8", "#e07b39", "#4a9c5d"])


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    X, y = load_digits(return_X_y=True)
    model = SymNMF(10, random_state=0).fit(X)
    save(plot_before_after(model.affinity_matrix_, model.labels_, max_size=210), "before_after")
    likely = LeftStochastic(10, affinity="gaussian", affinity_params={"sigma": 25.0}, random_state=0).fit(X)
    save(plot_calibration(membership_calibration(y, likely.membership_)).figure, "calibration")
    save(wines(), "wines")
    save(results(), "results")
    save(numbers(), "numbers")
    save(factor(), "factor")
    save(command(), "command")


def wines() -> Figure:
    """Wines in the plane of their first two principal components: growers, and clusters with confidence."""
    wine = load_wine()
    model = SymNMF(3, random_state=0).fit(wine.data)
    confidence = model.membership_.max(axis=1) / model.membership_.sum(axis=1)
    plane = PCA(2, random_state=0).fit_transform(StandardScaler().fit_transform(wine.data))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.scatter(*plane.T, s=20, c=COLOURS[wine.target])
    left.set_title("growers, which the clustering does not see")
    right.scatter(*plane.T, s=60 * confidence**3, c=COLOURS[model.labels_])
    right.set_title("clusters; small points lie between them")
    for axes in (left, right):
        axes.set(xticks=[], yticks=[], xlabel="first component", ylabel="second component")
    return figure


def results() -> Figure:
    """Similarities, memberships and confidence of overlapping communities."""
    A, communities = overlapping_lfr(300, overlapping_nodes=40, max_community=60, random_state=0)
    model = SymNMF(communities.shape[1], affinity="network", random_state=0).fit(A)
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    plot_similarity(model, ax=left)
    plot_memberships(model, ax=middle)
    right.hist(model.membership_.max(axis=1) / model.membership_.sum(axis=1), bins=30, color=COLOURS[0])
    right.set(xlabel="confidence: the largest membership's share", ylabel="samples")
    return figure


def numbers() -> Figure:
    """Evidence for four clusters, and for one."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    for axes, k in zip(panels, (4, 1), strict=True):
        X, _ = simulated_expression(k, random_state=1)
        plot_selection(select_n_clusters(X, AffineNMF(), range(2, 8), random_state=0), axes)
        axes.set_title(f"data with {k} cluster{'s' * (k > 1)}")
    return figure


def factor() -> Figure:
    """A similarity of iris flowers, its factor, and their product."""
    X, y = load_iris(return_X_y=True)
    X = X[np.argsort(y, kind="stable")]
    model = SymNMF(3, affinity="gaussian", affinity_params={"sigma": 1.0}, random_state=0).fit(X)
    A, H = model.affinity_matrix_, model.membership_
    figure, panels = plt.subplots(1, 3, figsize=(11, 4), layout="constrained", width_ratios=(4, 1, 4))
    for axes, matrix, title in zip(panels, (A, H, H @ H.T), ("A", "H", "HHᵀ"), strict=True):
        axes.imshow(matrix, cmap="Blues", aspect="auto", interpolation="nearest")
        axes.set(title=title, xticks=[], yticks=[])
    return figure


def command() -> Figure:
    """A terminal in which a file of wines is clustered."""
    with TemporaryDirectory() as folder:
        load_wine(as_frame=True).data.to_csv(Path(folder) / "wines.csv", index=False)
        words = ["cluster", "wines.csv", "-k", "auto", "--scale", "standard", "--output", "labels.csv"]
        code = "import sys; from symclust.cli import main; sys.exit(main())"
        run = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=folder, check=True, capture_output=True, text=True
        )
    lines = [line for text in run.stdout.splitlines() for line in wrapped(text, 96)]
    lines = ["$ symclust " + " ".join(words), *lines]
    figure = plt.figure(figsize=(10.2, 0.24 * len(lines) + 0.3), facecolor="#20242c")
    for number, line in enumerate(lines):
        y = 1 - (number + 1) / (len(lines) + 0.6)
        figure.text(0.015, y, line, family="DejaVu Sans Mono", fontsize=11, color="#e6e6e6")
    return figure


def wrapped(line: str, width: int) -> list[str]:
    """Lines of at most `width` letters, broken between words; tables are narrower and stay as they are."""
    parts = [line]
    while len(parts[-1]) > width:
        cut = parts[-1].rfind(" ", 0, width)
        parts[-1:] = [parts[-1][:cut], parts[-1][cut + 1 :]]
    return parts


def save(figure: Figure, name: str) -> None:
    path = IMAGES / f"{name}.png"
    figure.savefig(path, dpi=120, facecolor=figure.get_facecolor())
    plt.close(figure)
    shrink(path)


def shrink(path: Path) -> None:
    """Reduce a picture to a palette, for a small file: 64 colours, but 255 if it holds a photograph."""
    picture = Image.open(path).convert("RGB")
    colours = 64 if len(picture.getcolors(1 << 24) or ()) < 20_000 else 255
    picture.quantize(colours, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
