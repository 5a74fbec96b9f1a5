"""Makes every capture that is not in the cache, one after the other: `python -m tests.kafka.ahead`. Of calm clusters
those of the releases that are named, if any is.

A run of many broker tests starts it beside them. Captures mostly wait for timeouts, so their time is saved.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

import pytest

from tests.kafka.calm import CALM_RELEASES, calm_of
from tests.kafka.capture import capture_of
from tests.kafka.expiries import expiries_of
from tests.kafka.handovers.capture import handovers_of
from tests.kafka.observations import observations_of
from tests.kafka.outages import OUTAGE_RELEASES, outages_of
from tests.kafka.rdkafka.capture import usual_capture
from tests.kafka.releases import KAFKA_4_3, RELEASES
from tests.kafka.rolled import rolled

# Members of captured groups have seconds until they time out, so tests that only compute give way to them.
GIVES_WAY: Final = 5
# Of tests that ask for a broker; a smaller run may need one capture alone, and makes that itself.
MANY_TESTS: Final = 100


def main(calm: Sequence[str]) -> None:
    for make, releases in (
        (capture_of, RELEASES),
        (observations_of, RELEASES),
        (outages_of, OUTAGE_RELEASES),
        (calm_of, {name: CALM_RELEASES[name] for name in calm or CALM_RELEASES}),
        (expiries_of, {KAFKA_4_3.name: KAFKA_4_3}),
        (handovers_of, {KAFKA_4_3.name: KAFKA_4_3}),
    ):
        for release in releases.values():
            make(release)
    usual_capture()
    rolled()


def started_for(session: pytest.Session) -> subprocess.Popen[bytes] | None:
    """Of several processes that run tests side by side the first one starts it."""
    is_first = getattr(session.config, "workerinput", {}).get("workerid", "gw0") == "gw0"
    num_tests = sum(item.get_closest_marker("broker") is not None for item in session.items)
    if not is_first or num_tests < MANY_TESTS or session.config.option.collectonly:
        return None
    # It is silent about a failure: the test that needs the capture makes it again, and fails with the reason.
    return subprocess.Popen(
        [sys.executable, "-m", "tests.kafka.ahead", *calm_releases(session)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def calm_releases(session: pytest.Session) -> list[str]:
    """Those that its tests ask for."""
    cases = [item.name for item in session.items if item.path.name == "test_calm.py"]
    return [name for name in CALM_RELEASES if any(f"[{name}]" in case for case in cases)]


def stop(running: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does: it ends its broker before itself."""
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
        running.wait(timeout=60)


if __name__ == "__main__":
    main(sys.argv[1:])
