"""What Burrow says of windows of commits, at the bounds of each of its rules."""

import re

# Offset, time, lag when it came; None: it is not known, since the commit came out of order.
Entry = tuple[int, int, int | None]

# Worked out by hand from Burrow's sources, consistent with its own caching_test.go: offset@seconds(lag), the polled
# ends, now, what Burrow says.
VECTORS = (
    ("100@10(5) 140@20(9) 180@30(9)", (189,), 40, "WARN", 0),
    ("100@10(5) 140@20(4) 180@30(9)", (189,), 40, "OK", 0),
    ("100@10(5) 100@20(9) 100@30(12)", (112,), 40, "STALL", 0),
    ("100@10(0) 100@20(9) 100@30(12)", (112,), 40, "OK", 0),
    ("100@10(5) 140@20(9) 180@30(9)", (190,), 50, "WARN", 0),
    ("100@10(5) 140@20(9) 180@30(9)", (190,), 51, "STOP", 0),
    ("100@10(5) 140@20(9) 180@30(9)", (180, 190), 51, "WARN", 0),
    ("100@10(5) 180@20(4) 120@30(70)", (190,), 40, "REWIND", 0),
    ("100@10(5) 180@20(4) 120@30(70) 180@35(12)", (192,), 40, "OK", 0),
    ("100@10(0) 180@20(0) 20@30(170)", (190,), 40, "REWIND", 0),
    ("100@10(5) 90@12(20) 100@14(15) 40@20(80)", (125,), 22, "OK", 0),
    ("100@10(5)", (105,), 10, "STALL", 0),
    ("100@10(5)", (105,), 11, "STOP", 0),
    ("100@10(5) 100@20(5)", (105,), 60, "OK", 5),
    ("100@10(?) 110@20(?)", (130,), 25, "WARN", 0),
)


def entries(written: str) -> list[Entry]:
    """Time in seconds."""
    matches = re.findall(r"(\d+)@(\d+)\((\d+|\?)\)", written)
    return [(int(offset), int(time), None if lag == "?" else int(lag)) for offset, time, lag in matches]


# Entries with times in milliseconds, the polled ends, now in seconds, settings that are not Burrow's own, the rule that
# decides.
BOUNDS: list[tuple[list[Entry], list[int], int, dict[str, float], str]] = [
    ([], [10], 5, {}, "no_commits"),
    ([(1, 0, 9)] * 4, [10], 0, {"minimum_complete": 0.5}, "incomplete"),
    ([(1, 0, 9)] * 5, [10], 0, {"minimum_complete": 0.5}, "same_offset"),
    ([(1, 0, 9), (3, 0, 9)], [10], 0, {"allowed_lag": 7}, "lag_allowed"),
    ([(1, 0, 9), (3, 0, 9)], [10], 0, {"allowed_lag": 6}, "never_fell"),
    # A newest end below the newest commit is no lag.
    ([(1, 0, 9), (30, 0, 9)], [10], 0, {}, "lag_allowed"),
    ([(1, 10_000, 9), (3, 20_001, 9)], [10], 30, {}, "never_fell"),
    # Time counts in milliseconds, the clock in whole seconds.
    ([(1, 10_000, 9), (3, 19_999, 9)], [10], 30, {}, "silent"),
    ([(1, 10_000, 9), (3, 20_000, 9)], [10], 30, {}, "never_fell"),
    ([(1, 0, 9), (3, 0, 9)], [3, 10], 100, {}, "never_fell"),
    ([(1, 0, 9), (3, 0, 9)], [4, 10], 100, {}, "silent"),
    ([(9, 0, 9), (3, 0, 9), (8, 0, 9)], [10], 0, {}, "went_back"),
    ([(9, 0, 9), (3, 0, 9), (9, 0, 9)], [10], 0, {}, "never_fell"),
    ([(1, 0, 2), (3, 0, 9)], [10], 0, {"allowed_lag": 2}, "lag_was_allowed"),
    ([(1, 0, 3), (3, 0, 9)], [10], 0, {"allowed_lag": 2}, "never_fell"),
    ([(3, 0, 9), (3, 0, 8)], [10], 0, {}, "same_offset"),
    ([(1, 0, 9), (2, 0, None), (3, 0, 8)], [10], 0, {}, "nothing_else"),
]
