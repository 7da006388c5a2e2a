"""Functions with the names, arguments and keys of other packages, for code that calls those."""

from closecall.compat.official import pr_from_events
from closecall.compat.tsb_ad import get_metrics

__all__ = ["get_metrics", "pr_from_events"]
