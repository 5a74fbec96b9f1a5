"""Pauses between retries. Each is longer than the one before, until a total time is over."""

import random
import time
from typing import Final

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

FIRST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 1.0


class Patience:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.restart()

    def restart(self) -> None:
        """Call this after a success."""
        self._begun = time.monotonic()
        self._pause = FIRST_PAUSE_SECONDS

    def wait(self, why: str) -> None:
        """Fails with this reason if the time is over."""
        tried = time.monotonic() - self._begun
        if tried + self._pause > self._seconds:
            # A single request without an answer may have taken longer than all attempts may.
            raise Failure(ExitCode.UNREADABLE_INPUT, f"{why} (tried for {max(self._seconds, int(tried)):g} s)")
        # Random, so that tasks do not all retry at the same time.
        time.sleep(self._pause * random.uniform(0.8, 1.2))
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
