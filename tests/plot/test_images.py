"""The pictures look as they did when somebody last looked at them."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.plot import pictures

BLOCK = 12  # dots; within so many, letters of another version are about as dark
SAME, OTHER = 0.02, 0.12  # largest difference of a block, on a scale from 0 to 1

# What is left out of a picture: the panel, the kind of artist, and which of them.
LEFT_OUT = {
    "events": [
        (0, "collections", 0),  # shadows
        (0, "collections", 1),  # zones
        (0, "collections", -1),  # the last detector
        (0, "artists", 1),  # scores
        (0, "lines", 0),  # series
    ],
    "crowded-events": [(0, "texts", -1)],  # how many scores have no room
    "ignored-time": [(0, "collections", -1), (0, "collections", -2)],  # above the lanes, over them
    "ignored-survival": [(0, "collections", -1)],
    "summed-shares": [(1, "artists", 0)],  # what is on target, and what is not
    "distances": [
        (0, "collections", 1),  # arrows
        (1, "artists", 0),  # shares
        (0, "patches", 0),  # the event
    ],
    "survival": [(0, "lines", 1), (1, "collections", -1)],  # the function, the area
    "curve": [(0, "lines", -1)],  # the chosen point
    "froc": [(0, "lines", 0), (0, "lines", -1)],  # the most that is caught, the chosen point
    "comparison": [(1, "collections", 0), (2, "lines", -2)],  # bars of the dumbbells, late detector
    "single-prediction": [(2, "lines", 3), (0, "texts", 1)],  # (d), scores of (a)
    "batch": [
        (0, "images", 0),
        (0, "patches", 0),  # a cell without value
        (1, "lines", 0),  # mean ranks
    ],
}


def blocks(file):
    """Return the mean colour of every block of a picture."""
    pixels = np.asarray(Image.open(file).convert("RGB")) / 255
    high, wide = (size // BLOCK for size in pixels.shape[:2])
    cut = pixels[: high * BLOCK, : wide * BLOCK]
    return cut.reshape(high, BLOCK, wide, BLOCK, 3).mean(axis=(1, 3))


def saved(axes):
    file = io.BytesIO()
    pictures.save(axes, file)
    return blocks(file)


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_as_before_and_what_is_missing_is_seen(name):
    path = pictures.BASELINE / f"{name}.png"
    with Image.open(path) as image:
        tolerance = SAME if image.info["Software"] == pictures.VERSION else OTHER
    with pictures.style():
        axes = pictures.PICTURES[name]()
        whole, before = saved(axes), blocks(path)
        assert whole.shape == before.shape
        found = np.abs(whole - before).max()
        assert found <= tolerance, f"look at `python tests/plot/pictures.py`: {found:.3f} off"
        for panel, kind, number in LEFT_OUT.get(name, ()):
            artist = getattr(np.ravel(axes)[panel], kind)[number]
            artist.set_visible(False)
            assert np.abs(saved(axes) - whole).max() > SAME, (panel, kind, number)
            artist.set_visible(True)
