"""Files that are being closed while their run continues.

On HDFS a file is whole and readable some milliseconds after its last byte, but its client hears of it half a second
later. No later step needs the close itself, so it runs in the background. It is never given up: a process that ends
waits for it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

# Each waits on a thread of its own.
MOST_AT_ONCE = 256
# A small file is readable after 20 to 45 ms on an idle machine. Each look is a request.
FIRST_PAUSE_SECONDS = 0.016
LONGEST_PAUSE_SECONDS = 0.128
LONGER = 1.25


@dataclass
class Close:
    close: Callable[[], object]
    ended: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None

    def run(self) -> None:
        try:
            self.close()
        except Exception as error:
            self.error = error
        finally:
            self.ended.set()

    def wait_until(self, is_readable: Callable[[], bool]) -> None:
        """Or until it has ended, if that is earlier; raises what it failed by."""
        pause = FIRST_PAUSE_SECONDS
        while not self.ended.wait(pause):
            if is_readable():
                return
            pause = min(LONGER * pause, LONGEST_PAUSE_SECONDS)
        # Said once: `wait_for_closes` has nothing to add.
        error, self.error = self.error, None
        if error is not None:
            raise error


# Of this process. Those that have ended well are forgotten when the next one begins.
begun: list[Close] = []
is_changing = threading.Lock()


def begin_close(close: Callable[[], object]) -> Close:
    new = Close(close)
    with is_changing:
        begun[:] = [each for each in begun if each.error is not None or not each.ended.is_set()]
        is_full = len(begun) >= MOST_AT_ONCE
        oldest = begun[0] if is_full else None
        begun.append(new)
    if oldest is not None:
        oldest.ended.wait()
    # No daemon: a process that ends waits for it.
    threading.Thread(target=new.run, name="groupscope-close").start()
    return new


def wait_for_closes() -> None:
    """At the end of a run, and of any other command that writes. All have ended when the first failure is raised."""
    with is_changing:
        waiting, begun[:] = list(begun), []
    for each in waiting:
        each.ended.wait()
    for each in waiting:
        if each.error is not None:
            raise each.error
