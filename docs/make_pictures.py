"""Draw the pictures of the documents, all from the handwritten digits of scikit-learn."""

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_digits

from symclust import LeftStochastic, SymNMF
from symclust.metrics import membership_calibration
from symclust.plotting import plot_before_after, plot_calibration

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    X, y = load_digits(return_X_y=True)
    model = SymNMF(10, random_state=0).fit(X)
    save(plot_before_after(model.affinity_matrix_, model.labels_, max_size=210), "before_after")
    model = LeftStochastic(10, affinity="gaussian", affinity_params={"sigma": 25.0}, random_state=0).fit(X)
    save(plot_calibration(membership_calibration(y, model.membership_)).figure, "calibration")


def save(figure: Figure, name: str) -> None:
    file = BytesIO()
    figure.savefig(file, dpi=120)
    # A palette of 48 colours is enough for one blue and one orange, and keeps the file small.
    IMAGES.mkdir(exist_ok=True)
    picture = Image.open(file).convert("RGB").quantize(48, dither=Image.Dither.NONE)
    picture.save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
