"""No figure outlives its test."""

import pytest
from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")
