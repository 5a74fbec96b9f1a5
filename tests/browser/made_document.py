"""A document of the report made up by a seed: one busy group, and quiet ones beside it."""

import base64
import json
import random
import zlib

SEED = 48
DAY, HOUR, MINUTE, SECOND = 86_400_000, 3_600_000, 60_000, 1_000
BEGIN = 1_762_000_000_000
NUM_PARTITIONS, NUM_MEMBERS, COLUMNS = 60, 12, 280
BUSY, QUIET = "busy", "quiet-0"


def made_document(num_groups=20, num_rebalances=600, days=1):
    """Of the busy group each rebalance moves ten partitions; the last member falls silent an hour before the end."""
    draw, end = random.Random(SEED), BEGIN + days * DAY
    names = [BUSY, *(f"quiet-{number}" for number in range(num_groups - 1))]
    size = len(names)
    return {
        "format": 1,
        "about": {
            "cluster": "made-up", "warehouse": "/w", "run_id": "r1", "version": "1", "zone": "UTC", "choice": None,
            "is_redacted": False, "basis": "made", "as_of": end, "since": BEGIN, "until": end, "finished": end,
            "verdict": "Findings", "look": "critical", "exit_code": 20, "back": None,
        },
        "sentence": ["1 critical: ", {"g": BUSY}, " silent since ", {"t": end - HOUR}, ", ", {"n": 1318}, " wait"],
        "notices": [],
        "tiles": [
            {"name": name, "title": name, "value": [{"n": number}], "note": ["of all"], "link": "findings",
             "past": [draw.choice([None, draw.random()]) for _ in range(60)], "from": BEGIN, "to": end}
            for number, name in enumerate(("groups", "lag", "rebalances", "findings", "coverage"))
        ],
        "map": {
            "from": BEGIN, "to": end, "columns": COLUMNS,
            "states": {name: made_states(draw, name) for name in names},
            "lag": {name: [draw.randrange(100) for _ in range(COLUMNS)] for name in names},
        },
        "marks": {"at": [BEGIN + HOUR], "kind": ["deployment"], "group": [None], "text": ["release 7"], "ref": [None]},
        "groups": {
            "id": names, "type": {"w": ["classic"], "i": [0] * size}, "state": {"w": ["Stable"], "i": [0] * size},
            "assignor": ["range"] * size, "verdict": ["STOP", *["OK"] * (size - 1)],
            "severity": ["critical", *[None] * (size - 1)], "critical": [1, *[0] * (size - 1)], "warning": [0] * size,
            "info": [0] * size, "members": [NUM_MEMBERS] * size, "lag": [1318, *range(size - 1)],
            "lag_unknown": [0] * size, "time_lag": [HOUR] * size, "worst": ["orders-3"] * size,
            "rebalances": [num_rebalances, *[1] * (size - 1)], "unread": [HOUR] * size, "unread_since": [None] * size,
            "topics": [["orders"]] * size, "words": ["client-7 10.0.0.7"] * size, "is_tool": [False] * size,
            "last_commit": [end] * size, "rank": list(range(size)), "page": [None] * size,
        },
        "findings": {
            "rank": [1], "severity": ["critical"], "kind": ["group_silent"], "heading": ["group silent"],
            "is_new": [True], "group": [BUSY], "topic": [None], "partition": [None], "topic_partitions": [[]],
            "message": ["nobody reads"], "meaning": ["No commit though messages wait."], "confidence": ["certain"],
            "at": [None], "first_seen": [end], "since": [end - HOUR], "waived_until": [None], "waiver": [None],
            "evidence": ["offsets partition 1"], "dump": [None], "next": ["groupscope group busy"],
            "query": ["SELECT 1"], "is_query_of_query": [False],
        },
        "cluster": [], "statements": {"map": "SELECT 1"},
        "details": {
            BUSY: packed(busy_detail(draw, end, num_rebalances)), QUIET: packed(thinned_detail(end)),
        },
    }  # fmt: skip


def made_states(draw, name):
    if name == BUSY:
        return "S" * (COLUMNS - 12) + "N" * 12
    return "".join(draw.choice("SSSSSSR") for _ in range(COLUMNS))


def busy_detail(draw, end, num_rebalances):
    starts = sorted(draw.sample(range(BEGIN, end - HOUR, SECOND), num_rebalances))
    owner = {partition: partition % NUM_MEMBERS for partition in range(NUM_PARTITIONS)}
    since, owners, moves, assignments = dict.fromkeys(owner, BEGIN), [], [], []
    for index, start in enumerate(starts):
        for partition in draw.sample(range(NUM_PARTITIONS), 10):
            before, after = owner[partition], draw.randrange(NUM_MEMBERS)
            owners.append((partition, before, "target", since[partition], start, start, None))
            moves.append((index, partition, before, after, start, 0, 5 * SECOND, "commits"))
            owner[partition], since[partition] = after, start + SECOND
        assignments += [
            (index, member, [], [each for each in owner if owner[each] == member], member == 0)
            for member in range(NUM_MEMBERS)
        ]
    owners += [(partition, owner[partition], "target", since[partition], None, end - HOUR, None) for partition in owner]
    times = range(BEGIN, end, 5 * MINUTE)
    commits = [
        (partition, at, (at - BEGIN) // SECOND, 1)
        for at in times
        if at < end - HOUR
        for partition in range(NUM_PARTITIONS)
    ]
    size = len(starts)
    return {
        "group": BUSY, "from": BEGIN, "to": end, "exact": [[BEGIN, end]], "sentence": ["Silent."],
        "verdict_reason": "silent", "missing": [], "statements": {"owners": "SELECT 1"}, "findings": [1],
        "partitions": {
            "topic": ["orders"] * NUM_PARTITIONS, "partition": list(range(NUM_PARTITIONS)), "lag": [3] * NUM_PARTITIONS,
        },
        "member_ids": [f"member-{number}" for number in range(NUM_MEMBERS)],
        "members": {
            "member": [f"member-{number}" for number in range(NUM_MEMBERS)],
            "client": [f"client-{number}" for number in range(NUM_MEMBERS)],
            "host": [f"10.0.0.{number}" for number in range(NUM_MEMBERS)],
            "instance": ["static-0", *[None] * (NUM_MEMBERS - 1)], "library": ["Java 4.1"] * NUM_MEMBERS,
            "from": [BEGIN] * NUM_MEMBERS, "away": [None] * NUM_MEMBERS, "to": [None] * NUM_MEMBERS,
            "leave": [None] * NUM_MEMBERS,
        },
        "states": {
            "from": starts, "to": [*starts[1:], None], "state": ["Stable"] * size, "generation": list(range(size)),
            "assignor": ["range"] * size, "members": [NUM_MEMBERS] * size,
        },
        "rebalances": {
            "start": starts, "end": [start + SECOND for start in starts], "generation_before": list(range(size)),
            "generation_after": list(range(1, size + 1)),
            "cause": [draw.choice(["member_joined", "member_left"]) for _ in starts],
            "sentence": [f"rebalance {index}" for index in range(size)], "outcome": ["completed"] * size,
            "moved": [10] * size, "returned": [0] * size, "unowned": [0] * size, "unread_low": [0] * size,
            "unread_high": [5 * SECOND] * size, "offset": list(range(size)), "assignor": ["range"] * size,
            "verdict": ["same"] * size, "lines": [[["why", "a member joined"]]] * size, "command": [None] * size,
        },
        "assignments": columns(("rebalance", "member", "before", "after", "is_leader"), assignments),
        "owners": columns(("partition", "member", "view", "from", "to", "certain_until", "doubt_from"), owners),
        "moves": columns(
            ("rebalance", "partition", "from_member", "to_member", "at", "unread_low", "unread_high", "basis"), moves
        ),
        "silence": {"partition": [-1], "from": [end - HOUR], "to": [None]},
        "lag": columns(
            ("at", "low", "high", "last", "unknown", "worst", "time_low", "time_high"),
            [(at, 1, 9, draw.randrange(100), 0, 3, 0, MINUTE) for at in times],
        ),
        "partition_lag": columns(
            ("partition", "at", "low", "high", "last"),
            [(partition, at, 1, 1, 1) for at in times for partition in range(NUM_PARTITIONS)],
        ),
        "commits": columns(("partition", "at", "offset", "count"), commits),
        "rates": columns(("at", "bucket", "consumed", "produced"), [(at, 5 * MINUTE, 2.5, 3) for at in times]),
        "events": {
            "at": [*starts, end - HOUR], "kind": [*["rebalance"] * size, "silence"],
            "sentence": [*[f"rebalance {index}" for index in range(size)], "all members fell silent"],
            "rebalance": [*range(size), -1], "lines": [[]] * (size + 1), "command": [None] * (size + 1),
        },
    }  # fmt: skip


def thinned_detail(end):
    """Where one row stands for many points."""
    times = [BEGIN + place * HOUR for place in range((end - BEGIN) // HOUR)]
    size = len(times)
    return {
        "group": QUIET, "from": BEGIN, "to": end, "exact": [], "member_ids": [], "missing": [],
        "partitions": {"topic": ["orders"], "partition": [0], "lag": [20]},
        "states": {
            "from": [BEGIN], "to": [None], "state": ["Stable"], "generation": [1], "assignor": ["range"],
            "members": [1],
        },
        "lag": {
            "since": times, "at": [at + HOUR - MINUTE for at in times], "points": [12] * size, "low": [10] * size,
            "high": [5000] * size, "last": [20] * size, "least": [10] * size, "most": [5000] * size,
            "unknown": [0] * size, "worst": [0] * size, "time_low": [0] * size, "time_high": [MINUTE] * size,
        },
        "commits": {
            "partition": [0] * size, "since": times, "at": [at + HOUR - MINUTE for at in times], "points": [9] * size,
            "offset": [900] * size, "low": [100] * size, "high": [900] * size, "count": [9] * size,
        },
        "events": {"at": [], "kind": [], "sentence": [], "rebalance": []},
    }  # fmt: skip


def columns(names, rows):
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def packed(detail):
    """As the page reads it: how long the text is, the text, and no numbers as bytes after it."""
    text, compressor = json.dumps(detail).encode(), zlib.compressobj(wbits=-15)
    content = len(text).to_bytes(4, "little") + text
    return base64.b64encode(compressor.compress(content) + compressor.flush()).decode()
