"""What the paper prints, digit by digit, as facts to compare with.

Huet, Navarro and Rossi, *Local Evaluation of Time Series Anomaly Detection Algorithms*, KDD 2022.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

DATASETS = {
    "machinetemp": "Machine-Temp",
    "nyctaxi": "NYC-Taxi",
    "twitteraapl": "Twitter-AAPL",
    "swat": "SWaT",
}
ALGORITHMS = {
    "trivial": "trivial",
    "adversary": "adversary",
    "greenhouse": "Greenhouse",
    "lstmad": "LSTM-AD",
    "luminol": "Luminol TSB",
    "iforest": "iForest",
    "ocsvm": "OCSVM",
    "seq2seq": "seq2seq",
}
METRICS = {
    "classical": "Classical",
    "range_based": "RP/RR",
    "time_aware": "TaP/TaR",
    "affiliation": "Affiliation",
}

# Table 2: is it a precision/recall pair, mainly for, handles (A), handles (B), parameters.
CHARACTERISTIC_COLUMNS = ("P/R form", "mainly for", "(A)", "(B)", "# param.")
CHARACTERISTICS = {
    "(i) distance": ("no", "point", "yes", "no", "0"),
    "(ii) window": ("yes", "point", "yes", "no", "1"),
    "(iii) RP/RR": ("yes", "range", "no", "yes", "4"),
    "(iii) TaP/TaR": ("yes", "range", "yes", "yes", "3"),
    "(iii) point adjust": ("yes", "range", "no", "no", "0"),
    "affiliation": ("yes", "both", "yes", "yes", "0"),
}

# Table 4: samples, anomalies, events, and the function that finds the trivial event.
DESCRIPTION = {
    "machinetemp": ("17682", "6%", "2", "Y < 40"),
    "nyctaxi": ("2307", "27%", "3", "Y < 1250"),
    "twitteraapl": ("11889", "7%", "2", "Y > 12000"),
    "swat": ("449919", "12%", "35", "First event"),
}

_NAB = ("trivial", "adversary", "greenhouse", "lstmad", "luminol")
_SWAT = ("trivial", "adversary", "iforest", "ocsvm", "seq2seq")


def _cells(printed: str) -> dict[str, dict[str, str]]:
    """Read a line of cells for each dataset."""
    lines = [line.split() for line in printed.strip().splitlines()]
    return {
        name: dict(zip(_SWAT if name == "swat" else _NAB, cells, strict=True))
        for name, *cells in lines
    }


# Table 5: precision/recall/F1 by metric, dataset and algorithm.
COMPARISON = {
    "classical": _cells("""
        machinetemp 1.00/0.34/0.50 0.05/0.83/0.10 0.33/0.42/0.37 0.06/1.00/0.12 0.10/0.04/0.06
        nyctaxi     1.00/0.03/0.07 0.27/0.98/0.42 0.23/0.43/0.30 0.24/0.49/0.32 0.15/0.02/0.04
        twitteraapl 1.00/0.13/0.23 0.06/0.93/0.12 0.50/0.06/0.11 0.24/0.13/0.17 0.37/0.07/0.11
        swat        1.00/0.02/0.03 0.12/0.99/0.21 0.30/0.74/0.43 0.17/0.85/0.28 0.59/0.25/0.35
    """),
    "range_based": _cells("""
        machinetemp 1.00/0.46/0.63 0.99/0.75/0.85 0.15/0.57/0.24 0.03/1.00/0.06 0.08/0.50/0.14
        nyctaxi     1.00/0.18/0.31 0.88/0.85/0.86 0.23/0.52/0.32 0.27/0.51/0.35 0.14/0.34/0.20
        twitteraapl 1.00/0.31/0.48 0.96/0.75/0.85 0.26/0.51/0.35 0.10/0.51/0.17 0.24/0.51/0.32
        swat        1.00/0.03/0.06 1.00/0.99/0.99 0.04/0.52/0.08 0.14/0.61/0.23 0.35/0.66/0.46
    """),
    "time_aware": _cells("""
        machinetemp 1.00/0.42/0.59 0.99/0.96/0.97 0.17/0.47/0.25 0.04/1.00/0.07 0.10/0.02/0.04
        nyctaxi     1.00/0.02/0.03 0.93/1.00/0.96 0.32/0.64/0.43 0.36/0.66/0.47 0.23/0.02/0.03
        twitteraapl 1.00/0.06/0.12 0.96/1.00/0.98 0.42/0.04/0.07 0.13/0.08/0.10 0.26/0.04/0.07
        swat        1.00/0.03/0.06 1.00/0.99/1.00 0.05/0.40/0.09 0.17/0.55/0.26 0.44/0.65/0.52
    """),
    "affiliation": _cells("""
        machinetemp 1.00/0.50/0.66 0.49/1.00/0.66 0.71/0.99/0.83 0.50/1.00/0.67 0.54/0.99/0.70
        nyctaxi     1.00/0.30/0.46 0.54/1.00/0.70 0.51/0.99/0.67 0.51/1.00/0.67 0.38/0.79/0.51
        twitteraapl 1.00/0.49/0.66 0.50/1.00/0.67 0.78/0.98/0.87 0.66/0.99/0.79 0.73/0.98/0.83
        swat        1.00/0.03/0.06 0.53/1.00/0.69 0.52/0.84/0.64 0.65/0.70/0.68 0.86/0.79/0.83
    """),
}

# Table 6: the mean of SWaT's 35 events, and its first six.
EVENTS = ("mean of 35", "event 1", "event 2", "event 3", "event 4", "event 5", "event 6")
PER_EVENT = {
    "iforest": (
        *("0.52/0.84/0.64", "0.37/0.53/0.44", "1.00/0.91/0.95", "0.76/0.99/0.86"),
        *("NaN/0/NaN", "0.38/0.60/0.46", "0.09/0.21/0.12"),
    ),
    "seq2seq": (
        *("0.86/0.79/0.83", "0.96/1.00/0.98", "0.86/1.00/0.93", "0.73/0.78/0.75"),
        *("0.39/0.71/0.50", "0.71/0.97/0.82", "0.88/1.00/0.94"),
    ),
}

# Section 4.3: on how many of SWaT's 35 events seq2seq does better than iForest, and so on.
EVENT_COUNTS = {
    "better": 21,
    "better in both": 13,
    "better in precision only": 8,
    "equivocal": 4,
    "worse": 2,
    "undetected by iForest": 2,
    "undetected by seq2seq": 6,
}

# Section 4.2 and appendix D: numbers of samples and of predicted events.
COUNTS = {
    "samples in the first event of SWaT": 940,
    "adversary's events on NYC-Taxi": 13,
    "most predicted events on SWaT": 472,
}

# Section 3: the running example, by zone: distance of the predictions and of the truth.
ZONE_BORDERS = ("3:30", "5:00")
DISTANCES = (("18s", "76.5s"), ("11min30s", "2min30s"), ("31min15s", "2min30s"))
SECOND_ZONE = {
    "value of the predicted time 3:40": "0.556",
    "precision": "0.672",
    "value of the true time 4:10": "0.778",
    "recall": "0.944",
}
# Table 3: the events that its label vectors become.
PRACTICAL_SETTINGS = {
    "pred": ("[3:05, 3:06)", "[3:07, 3:10)", "[3:11, 3:12)"),
    "gt": ("[3:00, 3:10)",),
}


def _positive(value: float) -> float:
    return max(0.0, value)


# Section 4.4 and appendix C: precision and recall as functions of p, as printed.
CLOSED_FORMS: dict[str, Callable[[float], tuple[float, float]]] = {
    "whole interval": lambda p: (1 / 2 + p**2 / 2, 1.0),
    "random point": lambda p: (1 / 2 + p**2 / 2, 1 / 2),
    "(a) border": lambda p: (0.0, p / 4),
    "(b) halfway": lambda p: (
        1 / 2 - p / 2,
        1 / 2 - p / 2 + 25 / (64 * p) * _positive(p - 1 / 5) ** 2,
    ),
    "(c) start": lambda p: (1.0, 1 - p + 16 / (9 * p) * _positive(p - 1 / 3) ** 2),
    "(d) center": lambda p: (1.0, 1 - p / 2 + 1 / (2 * p) * _positive(p - 1 / 2) ** 2),
}
