"""Captures of real brokers, for every test below this folder that asks."""

import pytest

from tests.kafka.capture import Capture, capture_of
from tests.kafka.releases import FORMER, RELEASES

CAPTURED = [*RELEASES, *(pytest.param(name, marks=pytest.mark.soak) for name in FORMER)]


@pytest.fixture(scope="session", params=CAPTURED)
def capture(request: pytest.FixtureRequest) -> Capture:
    """Of each release in turn; `parametrize("capture", [NEWEST.name], indirect=True)` picks."""
    return capture_of((RELEASES | FORMER)[request.param])
