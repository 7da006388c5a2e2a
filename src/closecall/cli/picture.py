"""Draw into a file, without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from closecall.errors import MissingExtraError

if TYPE_CHECKING:
    from closecall import AffiliationCurve
    from closecall.affiliation.thresholds import OperatingPoint

_DOTS_PER_INCH = 150


def save_curve(curve: AffiliationCurve, chosen: OperatingPoint, path: str) -> None:
    """Draw the curve with the chosen point into a file of the kind its name says."""
    try:
        import matplotlib as mpl
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    # A window would need a display, and nobody to look at it.
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure = curve.plot(beta=chosen.beta, point=chosen)[0].figure
    try:
        figure.savefig(path, dpi=_DOTS_PER_INCH)
    finally:
        plt.close(figure)
