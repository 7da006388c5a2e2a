"""The Okabe-Ito colours, which colour-blind readers tell apart, and what each stands for."""

from __future__ import annotations

TRUTH = "#000000"
# Its yellow is too pale on white.
PREDICTED = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
PRECISION, RECALL, CHOSEN = "#0072B2", "#009E73", "#D55E00"
# Shapes and dashes go with the colours, for print without colour.
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES = ("-", (0, (6, 2)), (0, (3, 1.5)), (0, (1, 1)))
INK, FAINT = "0.15", "0.45"
