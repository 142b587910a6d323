"""The answer of `segment_image`: regions, the strength of their borders, and pictures of them."""

from __future__ import annotations

from colorsys import rgb_to_hls
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.sparse import csr_array

from symclust._files import replacing
from symclust._optional import need
from symclust._types import Array
from symclust.describe import Found, Trait
from symclust.estimators import Answer
from symclust.exceptions import InputError, OptionError
from symclust.metrics import boundary_map
from symclust.plotting import plot_segmentation, segment_means
from symclust.validation import check_known, check_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symclust.hierarchy import Tree
    from symclust.selection import Selection

__all__ = ["Segmentation", "enlarged"]

STYLES = ("contours", "colours", "both")
CONTOUR = (1.0, 0.2, 0.1)
GREY = 0.08
GREYS = ((0.12, "black"), (0.35, "dark grey"), (0.65, "grey"), (0.88, "light grey"), (1.0, "white"))
HUE_ENDS = (15, 45, 70, 165, 200, 255, 290, 345)  # degrees; what follows is red again
HUES = ("red", "orange", "yellow", "green", "cyan", "blue", "violet", "pink", "red")
EARTHS = {"orange": "brown", "yellow": "olive"}  # if they are dull or dark
IMAGES = (".npy", ".png", ".tif", ".tiff", ".jpg", ".jpeg")


# Equality is identity here: that of arrays is no yes or no.
@dataclass(frozen=True, eq=False, repr=False)
class Segmentation(Answer):
    """Regions of an image.

    Attributes
    ----------
    labels : ndarray of int of shape (rows, columns)
        The region of each pixel, from 0 on; −1 where the image is masked. `labels_` are the same row by row,
        and `membership_` is a one at the region of each of these pixels.
    boundary_probability : ndarray of float32 of shape (rows, columns)
        In which share of the segmentations behind this one a pixel lies on a boundary (P_b of Kuang, Yun and
        Park 2015, 8.3), in the size in which the image was compared.
    border_strength : ndarray of float32 of shape (rows, columns)
        How strong borders are in the tree of regions, from 0 to 1, in the same size: 0 off borders. Pixels of
        at least a threshold are the borders of a cut of the tree.
    tree : Tree
        Regions within regions, over the pixels of the image in the size in which it was compared: the first
        split is along the strongest border. A node's `score` is the strength of the border it is split along.
    image : ndarray of float32 of shape (rows, columns, 3)
        The image, as it is shown.
    segmentations : ndarray of shape (n, rows, columns)
        The segmentations that were made, in the size in which the image was compared.
    notes : list of str
        What was assumed, and what to be careful about.
    selection_ : Selection or None
        Why there is this number of regions, if it was not given.

    Notes
    -----
    A region is a place in one image: there is no `predict` of others.

    Examples
    --------
    >>> import numpy as np
    >>> from symclust import segment_image
    >>> image = np.zeros((60, 80))
    >>> image[:, 40:] = 1
    >>> answer = segment_image(image, random_state=0)
    >>> answer
    <Segmentation of 60 x 80 pixels: 2 regions>
    >>> [(region.number, region.size) for region in answer.regions()]
    [(0, 2400), (1, 2400)]
    """

    _left_out: ClassVar[dict[str, str]] = {"image": "pictures of it"}

    labels: Array
    boundary_probability: Array
    border_strength: Array
    tree: Tree
    image: Array
    segmentations: Array
    notes: list[str] = field(default_factory=list)
    selection_: Selection | None = None

    def __repr__(self) -> str:
        rows, columns = self.labels.shape
        n = self.n_segments
        return f"<Segmentation of {rows} x {columns} pixels: {n} region{'s' * (n != 1)}>"

    @property
    def n_segments(self) -> int:
        """Number of regions."""
        return int(self.labels.max()) + 1

    @property
    def labels_(self) -> Array:  # type: ignore[override]
        """The region of each pixel, row by row."""
        return self.labels.ravel()

    @property
    def n_clusters_(self) -> int:
        """Number of regions."""
        return self.n_segments

    @property
    def membership_(self) -> csr_array:
        """A one at the region of each pixel, n_pixels × n_segments."""
        inside = self.labels_ >= 0
        ends = np.concatenate([[0], np.cumsum(inside)])
        ones = np.ones(ends[-1], dtype=np.float32)
        return csr_array((ones, self.labels_[inside], ends), shape=(len(inside), self.n_segments))

    @property
    def _nouns(self) -> tuple[str, str]:
        return "pixel", "segment"

    @property
    def _gives_degrees(self) -> bool:
        return False

    def _evidence(self) -> Found:
        return Found([_in_words(region, self.labels.shape) for region in self.regions()])

    def cut(self, n_segments: int) -> Array:
        """The labels of the pixels with another number of regions, from the same tree."""
        most = len(self.tree.leaves())
        check_number("n_segments", n_segments, least=1, whole=True)
        if n_segments > most:
            raise OptionError(f"n_segments={n_segments} is not possible: the tree has {most} leaves at most.")
        labels = self.tree.cut(n_segments).reshape(self.segmentations.shape[1:])
        return masked_like(enlarged(labels, self.labels.shape), self.labels)

    def regions(self) -> list[Region]:
        """The regions with their sizes, places and mean colours, in the order of their labels."""
        return [_describe(self, number) for number in range(self.n_segments)]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the regions on the image, and return the axes: `plotting.plot_segmentation`."""
        return plot_segmentation(self.image, self.labels, ax=ax)

    def overlay(self, style: str = "both") -> Array:
        """A picture of the regions as an RGB image of bytes.

        Parameters
        ----------
        style : {"both", "contours", "colours"}, default="both"
            Contours on the image, the mean colour of each region, or contours on mean colours.
        """
        check_known("style", style, STYLES)
        picture = self.image.copy() if style == "contours" else segment_means(self.image, self.labels)
        if style != "colours":
            picture[boundary_map(self.labels)] = CONTOUR
        return (255 * picture).round().astype(np.uint8)

    def save_image(self, path: str | PathLike[str], style: str | None = None) -> Path:
        """Write the labels as a mask, or with a `style` the overlay of that style as a picture.

        Parameters
        ----------
        path : str or path-like
            A mask ends in ``.npy``, which holds the labels as they are, or in ``.png`` or ``.tif``, which
            hold label + 1 in 8 bits, or 16 for more than 255 regions: 0 is where the image is masked. An
            overlay ends in ``.png``, ``.tif`` or ``.jpg``.
        style : {"both", "contours", "colours"}, default=None
            As in `overlay`.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix == ".npy" and style is None:
            with replacing(target) as file:
                np.save(file, self.labels)
        elif suffix in (".png", ".tif", ".tiff") or (style is not None and suffix in (".jpg", ".jpeg")):
            imageio = need("imageio.v3", "images", f"Writing {target.name}")
            kind = np.uint8 if self.n_segments < 256 else np.uint16
            pixels = (self.labels + 1).astype(kind) if style is None else self.overlay(style)
            with replacing(target) as file:
                file.write(imageio.imwrite("<bytes>", pixels, extension=suffix))
        else:
            known = ".png, .tif or .npy for a mask; .png, .tif or .jpg for an overlay (style=)"
            raise InputError(f"{target.name} does not say what to write. Choose a name that ends in {known}.")
        return target

    def save(self, path: str | PathLike[str], data: bool = True) -> Path:
        """Write the answer to a file that `symclust.load` reads; `save_image` writes masks and pictures.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        data : bool, default=True
            Whether the image is saved, too.

        Returns
        -------
        Path
            The file.
        """
        if Path(path).suffix.lower() in IMAGES:
            raise InputError(f"{path} is the name of an image: save_image writes those, and save the model.")
        return super().save(path, data)


@dataclass(frozen=True)
class Region:
    """A region: its number, size in pixels, middle (row, column) and mean colour (RGB, from 0 to 1)."""

    number: int
    size: int
    middle: tuple[float, float]
    colour: tuple[float, float, float]


def _describe(answer: Segmentation, number: int) -> Region:
    rows, columns = np.nonzero(answer.labels == number)
    colour = answer.image[rows, columns].mean(axis=0, dtype=np.float64)
    red, green, blue = (round(float(value), 3) for value in colour)
    middle = round(float(rows.mean()), 1), round(float(columns.mean()), 1)
    return Region(number, len(rows), middle, (red, green, blue))


def _in_words(region: Region, shape: tuple[int, ...]) -> list[Trait]:
    """The colour of a region, where its middle is, and its extent."""
    colour, place = colour_name(region.colour), place_name(region.middle, shape)
    code = "#" + "".join(f"{round(255 * part):02x}" for part in region.colour)
    row, column = (round(part) for part in region.middle)
    return [Trait(f"mean colour {code}", colour), Trait(f"middle at row {row:,}, column {column:,}", place)]


def colour_name(colour: tuple[float, float, float]) -> str:
    """A colour (RGB, from 0 to 1) in a word or two.

    Examples
    --------
    >>> from symclust.applications.images.segmentation import colour_name
    >>> colour_name((0.1, 0.3, 0.1)), colour_name((0.7, 0.85, 1.0)), colour_name((0.5, 0.5, 0.52))
    ('dark green', 'light blue', 'grey')
    >>> colour_name((0.52, 0.41, 0.28)), colour_name((0.45, 0.45, 0.27)), colour_name((0.9, 0.5, 0.1))
    ('brown', 'olive', 'orange')
    """
    hue, light, saturation = rgb_to_hls(*colour)
    chroma = saturation * (1 - abs(2 * light - 1))  # near black and white, saturation is noise
    if chroma < GREY:
        return next(name for limit, name in GREYS if light <= limit)
    name = HUES[int(np.searchsorted(HUE_ENDS, hue * 360)) % len(HUES)]
    if name in EARTHS and (light < 0.45 or chroma < 0.3):
        name = EARTHS[name] if light < 0.5 else "beige"
    return f"dark {name}" if light < 0.3 else f"light {name}" if light > 0.7 else name


def place_name(middle: tuple[float, float], shape: tuple[int, ...]) -> str:
    """The part of an image where a pixel is: "top left", "middle", "bottom".

    Examples
    --------
    >>> from symclust.applications.images.segmentation import place_name
    >>> place_name((5, 5), (60, 90)), place_name((30, 45), (60, 90)), place_name((55, 45), (60, 90))
    ('top left', 'middle', 'bottom')
    """
    down, across = (min(int(3 * part / size), 2) for part, size in zip(middle, shape, strict=True))
    words = (("top", "", "bottom")[down], ("left", "", "right")[across])
    return " ".join(filter(None, words)) or "middle"


def masked_like(labels: Array, other: Array) -> Array:
    """Labels with −1 where another labelling has it."""
    return np.where(other < 0, -1, labels)


def enlarged(labels: Array, shape: tuple[int, ...]) -> Array:
    """Labels in another size: each pixel gets the label with the largest interpolated share there.

    Borders stay smooth, where taking the nearest pixel would make stairs of them. Label by label, within a
    box around it.
    """
    if labels.shape == tuple(shape):
        return labels
    from scipy.ndimage import find_objects, map_coordinates

    best, found = np.full(shape, -1.0, dtype=np.float32), np.full(shape, -1, dtype=labels.dtype)
    scale = [new / old for new, old in zip(shape, labels.shape, strict=True)]
    for number, box in enumerate(find_objects(labels + 2)):
        if box is None:
            continue
        window = tuple(
            slice(max(int((part.start - 1) * s), 0), min(int(np.ceil((part.stop + 1) * s)), size))
            for part, s, size in zip(box, scale, shape, strict=True)
        )
        grid = np.meshgrid(
            *[(np.arange(w.start, w.stop) + 0.5) / s - 0.5 for w, s in zip(window, scale, strict=True)],
            indexing="ij",
        )
        share = map_coordinates(
            (labels == number - 1).astype(np.float32), grid, order=1, mode="nearest", output=np.float32
        )
        larger = share > best[window]
        best[window][larger] = share[larger]
        found[window][larger] = number - 1
    return found
