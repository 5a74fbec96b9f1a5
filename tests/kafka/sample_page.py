"""The sample's README: a fixed text, with the tables that its own story gives."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

PAGE: Final = """\
# The sample

What one Kafka 4.3.1 broker wrote about its consumer groups on {date} from {from_time} to {to_time} (UTC): {size_kb} kB
in {num_segments} segments of {num_partitions} partitions of `__consumer_offsets`. A few minutes of steady traffic, in
which nearly everything happens to some group that can happen to one. Nothing here was made up or edited: the broker,
its clients and its admin tools were Kafka's own, and no compaction ran.

| file | what it holds |
|---|---|
| `__consumer_offsets-N/*.log` | the segments as the broker left them at its clean stop, without indexes |
| `snapshots.jsonl` | end offsets, topic ids, leader epochs, racks, brokers, settings: {num_snapshots} times |
| `story.json` | what happened, an event a line: when, to which group, and what must be found in the log |
| `README.md` | this page, made with the rest |

    .venv/bin/groupscope dump data/sample/__consumer_offsets-*/*.log --type GroupMetadata --group '^classic-storm$'

## What happens

In the order of their beginnings; phases and what goes on all the time overlap with the rest. Milliseconds, members and
numbers are in `story.json`.

| from | to | event | group | what must be found |
|---|---|---|---|---|
{events}

## What to know about it

- Members commit every two seconds what they have read. Those that are there at the end are there when the broker stops:
  nobody leaves in the log's last second.
- The traffic ends some seconds before that, so that `end-state`, the broker's own answer about all groups and offsets,
  is what the whole log replays to.
- From the restart on the sweep of expired offsets runs every 15 seconds. So groups that are empty and without offsets
  go too: their tombstones are not the admin's.
- `inventory-0` starts at offset 2: records were deleted from its head.
- One broker on 127.0.0.1 has every partition. While it restarts nobody is served, and no group loses a member by it.

## The fields of story.json

Every time, id, generation, epoch and offset was seen by a client or an admin call while the story ran, none was read
from the log. `event` is the name above, `kind` says which fields there are, `found` is the sentence above.
`observations` are a group at moments at which it was seen, with its members and what each owned. Those of
`classic_rebalances`, `consumer_rebalances`, the static members, conversions and upgrades were at rest then (every
partition owned, every member at one generation); those of `regex_subscription`, `consumer_static_members` and of
share, streams and Connect are what a look every 0.2 seconds saw, `time` being just after the look.

| kind | fields beside `event, kind, from_time, to_time, found` |
|---|---|
{kinds}

## To make it again

    .venv/bin/python -m tests.kafka.sample

This plays the story of `tests/kafka/java/sample/` on a fresh broker, in three to four minutes, and replaces this
folder; `--into DIR` writes elsewhere. Times, ids and offsets differ from run to run, the events do not:
`tests/test_sample.py` finds each of them in the log.
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
