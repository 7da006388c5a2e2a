"""An audit as a table, as JSON or as CSV, on standard output or in a file."""

from __future__ import annotations

import csv
import io
from math import isfinite
from typing import TYPE_CHECKING

from closecall.adversary.audit import flat_rows
from closecall.cli.formats import console_for, json_text, write_text

if TYPE_CHECKING:
    from closecall.adversary import Audit


def write_audit(audit: Audit, *, output_format: str, output: str | None) -> None:
    """Write the audit; json holds everything, csv the scores with the verdicts."""
    if output_format == "table":
        from closecall.cli.audit_summary import print_audit

        with console_for(output) as console:
            print_audit(audit, console)
        return
    write_text(json_text(audit.to_dict()) if output_format == "json" else _csv(audit), output)


def _csv(audit: Audit) -> str:
    """Write one row per metric and prediction, with the verdict on the metric in each."""
    rows = flat_rows(audit, "table")
    for row in rows:
        row["beaten"] = audit.verdicts[row["metric"]].beaten
        for name in ("score", "precision", "recall"):
            row[name] = row[name] if isfinite(row[name]) else None
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
