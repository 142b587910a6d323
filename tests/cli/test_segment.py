import numpy as np
import pytest

pytest.importorskip("skimage")


@pytest.fixture
def box(tmp_path):
    """A bright box on dark ground, as a picture."""
    from skimage.io import imsave

    image = np.full((60, 80), 50, dtype=np.uint8)
    image[20:45, 25:55] = 200
    path = tmp_path / "box.png"
    imsave(path, image, check_contrast=False)
    return path, image > 100


def test_mask_overlay_and_page(command, box, tmp_path):
    from skimage.io import imread

    path, inside = box
    mask, overlay, page = (tmp_path / name for name in ("m.npy", "o.png", "p.html"))
    options = ("--output", mask, "--overlay", overlay, "--style", "colours", "--report", page)
    status, out, errors = command("segment", path, "--segments", 2, *options)
    assert status == 0, errors
    labels = np.load(mask)
    assert np.mean((labels == labels[30, 40]) == inside) > 0.99
    assert imread(overlay).shape[:2] == (60, 80)
    assert "Two segments in 4,800 pixels." in out
    assert "Regions in box.png" in page.read_text(encoding="utf-8")


def test_number_is_chosen_and_masks_are_images(summary, box, tmp_path):
    from skimage.io import imread

    found = summary("segment", box[0], "--output", tmp_path / "m.png")
    mask = imread(tmp_path / "m.png")
    assert np.mean((mask == mask[30, 40]) == box[1]) > 0.99
    assert found["sizes"] == np.bincount(mask.ravel())[1:].tolist()


def test_what_is_no_image_is_refused(command, people):
    status, _, errors = command("segment", people[0])
    assert status == 1
    assert "people.csv does not hold an image" in errors
