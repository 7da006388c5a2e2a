"""Small streams that the tests share."""

from datetime import datetime, timedelta

import closecall as cc
from closecall.affiliation.stream import AffiliationStream

TRUTH = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0]
PREDICTED = [0, 0, 0, 1, 1, 0, 1, 0, 0, 0]
MORNING = datetime(2024, 1, 1, 8)  # noqa: DTZ001 - times without a zone are legal
MINUTE = timedelta(minutes=1)
NONE = cc.Events([])


def stream_of(truth=TRUTH, predicted=PREDICTED, **options):
    stream = AffiliationStream(**options)
    stream.update(truth, predicted)
    return stream


def timed(truth, predicted, times):
    stream = AffiliationStream()
    stream.update(truth, predicted, times=times)
    return stream


def state(stream):
    """Everything that a caller can see of a stream."""
    result = stream.result().to_dict() if len(stream) else None
    return repr(stream), len(stream), stream.alarms, stream.kept, result
