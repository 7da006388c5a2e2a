"""The pictures look as they did when somebody last looked at them."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.plot import pictures

BLOCK = 12  # dots; within so many, letters of another version are about as dark
SAME, OTHER = 0.02, 0.12  # largest difference of a block, on a scale from 0 to 1


def difference(one, other):
    """Give the largest difference of two pictures' blocks, in any of the three colours."""
    arrays = [np.asarray(Image.open(file).convert("RGB")) / 255 for file in (one, other)]
    if arrays[0].shape != arrays[1].shape:
        return 1.0
    return float(np.abs(blocks(arrays[0]) - blocks(arrays[1])).max())


def blocks(pixels):
    high, wide = (size // BLOCK for size in pixels.shape[:2])
    cut = pixels[: high * BLOCK, : wide * BLOCK]
    return cut.reshape(high, BLOCK, wide, BLOCK, 3).mean(axis=(1, 3))


def drawn(name):
    file = io.BytesIO()
    pictures.save(name, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_as_before(name):
    path = pictures.BASELINE / f"{name}.png"
    with Image.open(path) as image:
        tolerance = SAME if image.info["Software"] == pictures.VERSION else OTHER
    found = difference(path, drawn(name))
    assert found <= tolerance, f"look at `python tests/plot/pictures.py`: {found:.3f} off"


# What is left out of a picture: the panel, the kind of artist, and which of them.
@pytest.mark.parametrize(
    ("name", "panel", "kind", "number"),
    [
        ("events", 0, "collections", 0),  # shadows
        ("events", 0, "collections", 1),  # zones
        ("events", 0, "collections", -1),  # the last detector
        ("events", 0, "artists", 1),  # scores
        ("events", 0, "lines", 0),  # series
        ("crowded-events", 0, "texts", -1),  # how many scores have no room
        ("ignored-time", 0, "collections", -1),  # ignored time above the lanes
        ("ignored-time", 0, "collections", -2),  # and over them
        ("ignored-survival", 0, "collections", -1),
        ("summed-shares", 1, "artists", 0),  # what is on target, and what is not
        ("distances", 0, "collections", 1),  # arrows
        ("distances", 1, "artists", 0),  # shares
        ("distances", 0, "patches", 0),  # the event
        ("survival", 0, "lines", 1),  # the function
        ("survival", 1, "collections", -1),  # the area
        ("curve", 0, "lines", -1),  # the chosen point
        ("froc", 0, "lines", 0),  # the most that is caught
        ("froc", 0, "lines", -1),  # the chosen point
        ("comparison", 1, "collections", 0),  # bars of the dumbbells
        ("comparison", 2, "lines", -2),  # the late detector
        ("single-prediction", 2, "lines", 3),  # (d)
        ("single-prediction", 0, "texts", 1),  # scores of (a)
        ("batch", 0, "images", 0),
        ("batch", 0, "patches", 0),  # a cell without value
        ("batch", 1, "lines", 0),  # mean ranks
    ],
)
def test_what_is_missing_is_seen(monkeypatch, name, panel, kind, number):
    draw, whole = pictures.PICTURES[name], drawn(name)

    def without():
        axes = draw()
        getattr(np.ravel(axes)[panel], kind)[number].set_visible(False)
        return axes

    monkeypatch.setitem(pictures.PICTURES, name, without)
    assert difference(whole, drawn(name)) > SAME
