"""What kafka-consumer-groups printed about all groups, row by row."""

from collections.abc import Iterator
from typing import Any

Row = dict[str, str]
COORDINATOR = "COORDINATOR (ID)"


def printed_rows(text: str) -> Iterator[Row]:
    """A header before the rows of each group; no value has a blank inside but the coordinator's, which is two."""
    names: list[str] = []
    for line in text.splitlines():
        words = line.replace(COORDINATOR, "COORDINATOR ID").split()
        if words[:1] == ["GROUP"]:
            names = words
        elif len(words) == len(names) > 0:
            yield dict(zip(names, words, strict=True))


def by_group(rows: Iterator[Row]) -> dict[str, list[Row]]:
    result: dict[str, list[Row]] = {}
    for row in rows:
        result.setdefault(row["GROUP"], []).append(row)
    return result


def assigned(text: str) -> dict[str, list[int]]:
    """`orders:0,1;payments:2`, as the tool prints what a member owns; a hyphen is nothing."""
    if text == "-":
        return {}
    topics = (each.rsplit(":", 1) for each in text.split(";"))
    return {topic: sorted(map(int, partitions.split(","))) for topic, partitions in topics}


def committed(rows: list[Row]) -> dict[tuple[str, int], int]:
    return {
        (row["TOPIC"], int(row["PARTITION"])): int(row["CURRENT-OFFSET"])
        for row in rows
        if row["CURRENT-OFFSET"] != "-" and row["TOPIC"] != "-"
    }


def members(rows: list[Row]) -> dict[str, Any]:
    return {
        row["CONSUMER-ID"]: (row["CLIENT-ID"], row["HOST"], assigned(row["CURRENT-ASSIGNMENT"]))
        for row in rows
        if row["CONSUMER-ID"] != "-"
    }
