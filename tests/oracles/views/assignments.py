"""What v_assignment_audit should give, in plain Python."""

import re

from schemas.sql_files import part
from tests.oracles.views.rebalances import Row, Rows, cluster_times, descending, is_complete, ranked, same

WORST_FIRST = (
    "drift", "stale_input", "not_recomputable", "same_members_other_order", "same_unconfirmed", "carried_over", "same",
)  # fmt: skip
DIFFERENCES = {
    (library, assignor): difference.replace("''", "'")
    for library, assignor, difference in re.findall(r"\('(.+)', '(.+)',\s+'(.+)'\)", part("library_differences"))
}
SIZES = ("num_different", "num_owned_twice", "num_unowned", "moves_too_many")


def severity(row: Row) -> tuple[int, int]:
    """A drift that a known defect explains is the worst; a defect that Kafka's own answer has too follows drifts."""
    verdict = WORST_FIRST.index(row["verdict"])
    has_defect = row["known_defect"] is not None
    if verdict == 0:
        return (0, 0 if has_defect else 1)
    if row["verdict"] == "stale_input":
        return (1, 0)
    return (2, 0) if has_defect else (3, verdict)


def library_of_leader(rows: Rows, row: Row) -> Row:
    place = "cluster", "evidence_partition", "group_id"
    library = confidence = None
    for done in rows["rebalances"]:
        is_this = same(done, row, *place, "assignment_offset")
        if not is_this or done["group_type"] != "classic":
            continue
        for stay in rows["membership_intervals"]:
            since, until = stay["from_record_offset"], stay["to_record_offset"]
            was_there = since <= row["assignment_offset"] and (until is None or row["assignment_offset"] < until)
            if same(stay, row, *place) and stay["member_id"] == done["leader_after"] and was_there:
                library, confidence = stay["client_library"], stay["client_library_confidence"]
    difference = DIFFERENCES.get((library, row["assignor"]))
    return {
        "leader_library": library,
        "leader_library_confidence": confidence,
        "library_difference": difference,
    }


def assignment_audit(rows: Rows) -> list[Row]:
    result = []
    for row in rows["assignment_audit"]:
        moves = row["moves_made"], row["moves_needed"]
        result.append(
            {
                **row,
                "moves_too_many": None if None in moves else moves[0] - moves[1],
                "is_complete": is_complete(rows, row),
                **library_of_leader(rows, row),
                **cluster_times(rows, row["cluster"]),
            }
        )
    times = sorted({row["record_time"] for row in result if row["record_time"] is not None}, reverse=True)
    return ranked(
        result,
        lambda row: (
            severity(row),
            *(descending(row[name]) for name in SIZES),
            len(times) if row["record_time"] is None else times.index(row["record_time"]),
            row["group_id"],
            row["assignment_offset"],
        ),
    )
