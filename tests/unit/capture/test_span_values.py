"""What an OpenTelemetry attribute holds: whole numbers are text there, and not every text is one."""

import pytest

from sediment_assets.capture.model_spans import _any_value


@pytest.mark.parametrize(("text", "value"), [("-5", -5), ("12", 12), ("--5", "--5"), ("-", "-"), ("1e3", "1e3")])
def test_only_a_whole_number_becomes_one(text: str, value: object):
    assert _any_value({"intValue": text}) == value
