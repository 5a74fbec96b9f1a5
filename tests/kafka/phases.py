"""What happens on each broker before its log is captured: scenarios of `java/`, and the settings they run under."""

from dataclasses import dataclass, field
from typing import Final

from tests.kafka.releases import KAFKA_3_9_NEW, KAFKA_3_9_OLD, KAFKA_4_3, KAFKA_4_4

CODEC: Final = "offsets.topic.compression.codec"
# By number, as this one setting wants it.
NONE, GZIP, SNAPPY, LZ4, ZSTD = ({CODEC: str(number)} for number in range(5))
# Takes expired offsets and empty groups without any at once, instead of every ten minutes.
SWEEP: Final = {"offsets.retention.check.interval.ms": "300"}


@dataclass(frozen=True)
class Phase:
    """Scenarios that run at the same time. The broker restarts before each phase but the first, with other settings."""

    scenarios: tuple[str, ...]
    overrides: dict[str, str] = field(default_factory=dict)


COMMITS: Final = (
    "Commits.byAdmin",
    "Commits.withMetadata",
    "Commits.byOldRequests",
    "Commits.negative",
    "Commits.shortLived",
    "Commits.deletedOffset",
    "Commits.deletedGroup",
    "Commits.deletedTopic",
)
TRANSACTIONS: Final = (
    "Transactions.committedAndAborted",
    "Transactions.interleaved",
    "Transactions.deletedInBetween",
    "Transactions.timedOut",
)
CLASSIC: Final = ("ClassicGroups.rebalanced:range", "ClassicGroups.rebalanced:roundrobin", "ClassicGroups.deleted")
STICKY: Final = ("ClassicGroups.rebalanced:sticky", "ClassicGroups.rebalanced:cooperative-sticky")
CONSUMER: Final = ("ConsumerGroups.rebalanced", "ConsumerGroups.staticMembers", "ConsumerGroups.deleted")
CONVERTED: Final = ("ConsumerGroups.convertedOnline", "ConsumerGroups.convertedOffline")
SHARE: Final = ("ShareGroups.rebalanced", "ShareGroups.deleted")
STREAMS: Final = ("StreamsGroups.classic", "StreamsGroups.modern", "StreamsGroups.modernDeleted")
# What stands in braces is the capture's.
ANSWERS: Final = "Answers.write:{folder}/answers.json"

# The answers come from a broker that has just loaded the log: what it says then is all in the log.
LAST: Final = (Phase(("Commits.awaitSweep",), SWEEP), Phase((ANSWERS,), NONE))

# After all that, and copied apart: the cleaner takes most records away. Hasty, and with a small buffer.
CLEANER: Final = {"log.cleaner.backoff.ms": "100", "log.cleaner.dedupe.buffer.size": "8388608"}
COMPACTION: Final = Phase(("Compaction.awaited:{log_dir}",), CLEANER)

# Keeps descriptions of topologies in memory: each step of keeping one is written, under an unchanged group epoch.
IN_MEMORY: Final = "org.apache.kafka.server.streams.InMemoryTopologyDescriptionPlugin"
DESCRIPTIONS: Final = {"group.streams.topology.description.plugin.class": IN_MEMORY}


def modern_phases(*, has_4_4: bool) -> tuple[Phase, ...]:
    """In 4.4 more can happen at the same time."""
    transactions = (*TRANSACTIONS, *(("Transactions.ofRenewedTopic",) if has_4_4 else ()))
    consumer = (*CONSUMER, *(("OtherAssignors.returned",) if has_4_4 else ()))
    streams = (*STREAMS, *(("StreamsGroups.staticMembers",) if has_4_4 else ()))
    return (
        Phase((*COMMITS, *CLASSIC, "RegexGroups.resolved"), NONE),
        Phase((*transactions, *CONVERTED, "ConnectWorkers.rebalanced"), GZIP),
        Phase((*consumer, *STICKY, "ClassicGroups.staticMembers"), SNAPPY),
        Phase(streams, LZ4 | (DESCRIPTIONS if has_4_4 else {})),
        Phase((*SHARE, "Transactions.leftOpen"), ZSTD),
        *LAST,
    )


PHASES: Final = {
    KAFKA_4_4.name: modern_phases(has_4_4=True),
    KAFKA_4_3.name: modern_phases(has_4_4=False),
    KAFKA_3_9_OLD.name: (
        Phase((*COMMITS, *CLASSIC), NONE),
        Phase(TRANSACTIONS, GZIP),
        Phase(STICKY, SNAPPY),
        Phase(("ClassicGroups.staticMembers",), LZ4),
        Phase(("Transactions.leftOpen",), ZSTD),
        *LAST,
    ),
    KAFKA_3_9_NEW.name: (
        Phase((*COMMITS, *CLASSIC), NONE),
        Phase(TRANSACTIONS, GZIP),
        Phase(CONSUMER, SNAPPY),
        Phase((*CONVERTED, "ClassicGroups.staticMembers"), LZ4),
        Phase((*STICKY, "Transactions.leftOpen"), ZSTD),
        *LAST,
    ),
}
