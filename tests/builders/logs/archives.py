"""Archives of the offsets topic: the rows that another program makes of a broker's segments."""

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.oracles.log.framing import read_log

TOPIC = "__consumer_offsets"
PRODUCERS = ("producer_id", "producer_epoch", "is_transactional")
# What the columns of Spark's Kafka source do not have.
NOT_OF_SPARK = (*PRODUCERS, "is_control", "leader_epoch")
Row = dict[str, Any]


def archived(folder: Path) -> list[Row]:
    """Rows of a broker's segments as another program reads them."""
    result = []
    for path in sorted(folder.rglob("*.log")):
        partition = int(path.parent.name.rpartition("-")[2])
        for each in read_log(path.read_bytes()).records:
            result.append(
                {
                    "topic": TOPIC,
                    "partition": partition,
                    "offset": each.offset,
                    "timestamp": each.timestamp,
                    "key": each.key,
                    "value": each.value,
                    "producer_id": each.producer_id,
                    "producer_epoch": each.producer_epoch,
                    "is_transactional": each.is_transactional,
                    "is_control": each.is_control,
                    "leader_epoch": each.leader_epoch,
                }
            )
    return result


def lines(result: Iterable[Row], without: Iterable[str] = ()) -> str:
    encoded = []
    for row in result:
        reported = {name: value for name, value in row.items() if name not in without}
        for name in ("key", "value"):
            reported[name] = None if row[name] is None else base64.b64encode(row[name]).decode()
        encoded.append(json.dumps(reported) + "\n")
    return "".join(encoded)
