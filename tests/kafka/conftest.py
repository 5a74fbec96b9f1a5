"""Captures of real brokers, for every test below this folder that asks."""

import pytest

from tests.kafka.capture import Capture, capture_of
from tests.kafka.releases import RELEASES


@pytest.fixture(scope="session", params=RELEASES)
def capture(request: pytest.FixtureRequest) -> Capture:
    """Of each release in turn; `parametrize("capture", ["4.3.1"], indirect=True)` picks."""
    return capture_of(RELEASES[request.param])
