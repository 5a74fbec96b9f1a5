"""The sample's README: a fixed text, with the tables that its own story gives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

PAGE: Final = """\
# The sample

This folder holds what one Kafka 4.3.1 broker wrote about its consumer groups on {date} from {from_time} to {to_time}
(UTC): {size_kb} kB in {num_segments} segments of {num_partitions} partitions of `__consumer_offsets`. It is a few
minutes of steady traffic. Nearly everything that can happen to a group happens to one of the groups. Nothing was
invented or edited: the broker, its clients and its admin tools are Kafka's own. No compaction ran.

| file | what it holds |
|---|---|
| `__consumer_offsets-N/*.log` | the segments after a clean stop of the broker, without indexes |
| `snapshots.jsonl` | end offsets, topic ids, leader epochs, racks, brokers and settings: {num_snapshots} snapshots |
| `story.json` | what happened, one event a line: when, to which group, and what must be found in the log |
| `README.md` | this page, made with the rest |

    .venv/bin/groupscope dump data/sample/__consumer_offsets-*/*.log --type GroupMetadata --group '^classic-storm$'

## What happens

The events are in the order of their start. Phases, and events that last the whole time, overlap with the others.
`story.json` has the milliseconds, members and numbers. In the last column, "this number" and "what was observed" are
values in that file.

| from | to | event | group | what must be found |
|---|---|---|---|---|
{events}

## What to know about it

- Members commit what they have read every two seconds. Members that are there at the end are still there when the
  broker stops: no member leaves in the log's last second.
- The traffic ends some seconds before the broker stops. So a replay of the whole log must give `end-state`: the
  broker's own answer about all groups and offsets.
- After the restart the broker looks for expired offsets every 15 seconds. It then also deletes groups that are empty
  and have no offsets. No administrator caused those tombstones.
- `inventory-0` starts at offset 2: its first records were deleted.
- One broker on 127.0.0.1 has every partition. While it restarts, no member is served, and no group loses a member
  because of it.

## The fields of story.json

A client or an admin call saw every time, id, generation, epoch and offset while the story ran. None was read from the
log. `event` is the name above, `kind` says which fields there are, `found` is the sentence above. `observations` show a
group at several times, with its members and what each owned:

- Those of `classic_rebalances`, `consumer_rebalances`, the static members, conversions and upgrades show a group at
  rest: every partition is owned, and every member is at one generation.
- Those of `regex_subscription`, `consumer_static_members`, and of share, streams and Connect groups were taken every
  0.2 seconds. `time` is just after each of them.

| kind | fields in addition to `event, kind, from_time, to_time, found` |
|---|---|
{kinds}

## To make it again

    .venv/bin/python -m tests.kafka.sample

This plays the story of `tests/kafka/java/sample/` on a fresh broker, in three to four minutes, and replaces this
folder. `--into DIR` writes to another folder. Times, ids and offsets differ from run to run, but the events do not:
`tests/sample/test_story.py` finds each of them in the log.
"""
COMMON: Final = ("event", "kind", "from_time", "to_time", "found")


def page(events: Sequence[dict[str, Any]], folder: Path) -> str:
    segments = list(folder.glob("__consumer_offsets-*/*.log"))
    return PAGE.format(
        from_time=clock(events[0]["from_time"]),
        to_time=clock(max(event["to_time"] for event in events)),
        date=events[0]["from_time"][:10],
        num_segments=len(segments),
        num_partitions=len({segment.parent for segment in segments}),
        size_kb=round(sum(segment.stat().st_size for segment in segments) / 1000),
        num_snapshots=len((folder / "snapshots.jsonl").read_text().splitlines()),
        events="\n".join(map(event_row, events)),
        kinds="\n".join(kind_rows(events)),
    )


def event_row(event: dict[str, Any]) -> str:
    group = f"`{event['group']}`" if "group" in event else ""
    return (
        f"| {clock(event['from_time'])} | {clock(event['to_time'])} | `{event['event']}` | {group} | {event['found']} |"
    )


def clock(iso: str) -> str:
    return iso[11:19]


def kind_rows(events: Sequence[dict[str, Any]]) -> list[str]:
    fields: dict[str, dict[str, None]] = {}
    for event in events:
        fields.setdefault(event["kind"], {}).update(dict.fromkeys(name for name in event if name not in COMMON))
    return [f"| `{kind}` | {', '.join(f'`{name}`' for name in names)} |" for kind, names in sorted(fields.items())]
