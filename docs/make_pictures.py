"""Draw the README's picture: the digits' similarities in random order and ordered by the clusters found."""

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from PIL import Image
from sklearn.datasets import load_digits

from symclust import SymNMF
from symclust.plotting import plot_before_after

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    X = load_digits().data
    model = SymNMF(10, random_state=0).fit(X)
    figure = plot_before_after(model.affinity_matrix_, model.labels_, max_size=210)
    file = BytesIO()
    figure.savefig(file, dpi=120)
    # A palette of 48 colours is enough for one blue and one orange, and keeps the file small.
    IMAGES.mkdir(exist_ok=True)
    picture = Image.open(file).convert("RGB").quantize(48, dither=Image.Dither.NONE)
    picture.save(IMAGES / "before_after.png", optimize=True)


if __name__ == "__main__":
    main()
