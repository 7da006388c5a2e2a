"""What a call raises, for the tests that pin messages."""

import pytest


def message(error, call, *arguments, **options):
    """Return the message of the error that a call must raise."""
    with pytest.raises(error) as caught:
        call(*arguments, **options)
    return str(caught.value)
