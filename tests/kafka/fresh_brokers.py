"""Plays on a fresh broker, and again on another one when Kafka's own client failed by a known fault, or a machine that
stood still made members time out that nobody stopped."""

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.kafka.broker import Broker, running
from tests.kafka.releases import Release

TRIES: Final = 4
# A stack trace as Java prints it, from its first line on; what is indented more than its frames is not its cause.
TRACE: Final = re.compile(r"^[\w.$]+(?:Exception|Error)\b.*\n(?:\tat .*\n|\t\.\.\. .*\n|Caused by: .*\n|\t.*\n)*", re.M)
CAUSE: Final = re.compile(r"^(?:Caused by: )?([\w.$]+)(?:: (.*))?\n\tat (?:[\w.@]*/)*([\w.$]+)\(", re.M)


class PlayError(RuntimeError):
    """A program of the tests failed; `said` is all that it printed."""

    def __init__(self, broker: Broker, said: str) -> None:
        self.said, self.broker_said = said, broker.output.read_text(errors="replace")
        super().__init__(f"{broker.release.name}: {said[-6000:]}\nThe broker said: {self.broker_said[-4000:]}")


@dataclass(frozen=True)
class Fault:
    """An exception that code of Kafka throws: `thrown_in` is how the names of its methods begin."""

    exception: str
    message: str
    thrown_in: str


KNOWN_FAULTS: Final = (
    # The preview of the new consumer in 3.9: its threads take partitions away between two steps of the other one.
    Fault(
        "java.lang.IllegalStateException",
        "No current assignment for partition",
        "org.apache.kafka.clients.consumer.internals.",
    ),
    # The broker sent a member away while the machine had no time for it.
    Fault(
        "java.util.concurrent.CompletionException",
        "org.apache.kafka.common.errors.UnknownMemberIdException: The coordinator is not aware of this member",
        "java.util.concurrent.",
    ),
)
# What a play says when it went to its end, but lost members on the way.
STOOD_STILL: Final = Fault("the machine stood still", "members timed out that nobody stopped", "")


# The coordinator of transactions gets an answer that it does not understand from the preview of the new coordinator of
# groups in 3.7 and 3.9: the transaction never ends, and the next one of the client waits in vain, or the play does.
WAITED_IN_VAIN: Final = "java.lang.IllegalStateException: waited in vain until"
BROKEN_BROKER: Final = Fault(
    "org.apache.kafka.common.errors.TimeoutException",
    "WriteTxnMarkerResponse does not contain expected error map",
    "kafka.coordinator.transaction.",
)


def on_fresh_broker(release: Release, folder: Path, overrides: dict[str, str], play: Callable[[Broker], None]) -> None:
    """Whatever `play` left in `folder` is deleted before it plays again."""
    for tries_left in reversed(range(TRIES)):
        with tempfile.TemporaryDirectory(prefix="groupscope-broker-") as scratch:
            try:
                with running(release, Path(scratch), overrides) as broker:
                    return play(broker)
            except PlayError as failure:
                fault = known_fault(failure.said, failure.broker_said)
                if fault is None or not tries_left:
                    raise
        sys.stderr.write(f"{release.name}: the play failed ({fault.message}); playing again on a fresh broker\n")
        shutil.rmtree(folder)
        folder.mkdir()


def known_fault(said: str, broker_said: str = "") -> Fault | None:
    """The known fault that caused every printed stack trace; None: something else failed too."""
    # Such a timeout has no trace.
    is_timeout = said.lstrip().startswith((BROKEN_BROKER.exception, WAITED_IN_VAIN))
    if is_timeout and BROKEN_BROKER.message in broker_said:
        return BROKEN_BROKER
    if said.startswith(STOOD_STILL.exception):
        return STOOD_STILL
    faults = [fault_of(*cause) for cause in root_causes(said)]
    return faults[0] if faults and None not in faults else None


def root_causes(said: str) -> Iterator[tuple[str, str, str]]:
    """Exception, message and method that threw it, of each trace but those that a log holds: a client goes on then."""
    for trace in TRACE.finditer(said):
        line_before = said[: trace.start()].rpartition("\n")[0].rpartition("\n")[2]
        causes = CAUSE.findall(trace.group())
        if causes and not line_before.startswith("["):
            yield causes[-1]


def fault_of(exception: str, message: str, method: str) -> Fault | None:
    for fault in KNOWN_FAULTS:
        is_same = exception == fault.exception and message.startswith(fault.message)
        if is_same and method.startswith(fault.thrown_in):
            return fault
    return None
