"""Makes every capture that is not in the cache, one after the other: `python -m tests.kafka.ahead`.

A run of many broker tests starts it beside them. Captures mostly wait for timeouts, so their time is saved.
"""

import signal
import subprocess
import sys
from typing import Final

import pytest

from tests.kafka.calm import CALM_RELEASES, calm_of
from tests.kafka.capture import capture_of
from tests.kafka.expiries import expiries_of
from tests.kafka.observations import observations_of
from tests.kafka.outages import OUTAGE_RELEASES, outages_of
from tests.kafka.releases import KAFKA_4_3, RELEASES

# Of tests that ask for a broker; a smaller run may need one capture alone, and makes that itself.
MANY_TESTS: Final = 100


def main() -> None:
    for make, releases in (
        (capture_of, RELEASES),
        (observations_of, RELEASES),
        (outages_of, OUTAGE_RELEASES),
        (calm_of, CALM_RELEASES),
        (expiries_of, {KAFKA_4_3.name: KAFKA_4_3}),
    ):
        for release in releases.values():
            make(release)


def started_for(session: pytest.Session) -> subprocess.Popen[bytes] | None:
    """Of several processes that run tests side by side the first one starts it."""
    is_first = getattr(session.config, "workerinput", {}).get("workerid", "gw0") == "gw0"
    num_tests = sum(item.get_closest_marker("broker") is not None for item in session.items)
    if not is_first or num_tests < MANY_TESTS or session.config.option.collectonly:
        return None
    # It is silent about a failure: the test that needs the capture makes it again, and fails with the reason.
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.ahead"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def stop(running: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does: it ends its broker before itself."""
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)


if __name__ == "__main__":
    main()
