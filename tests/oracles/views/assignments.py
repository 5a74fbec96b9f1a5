"""What v_assignment_audit should give, in plain Python."""

from tests.oracles.views.rebalances import Row, Rows, cluster_times, descending, is_complete, ranked

WORST_FIRST = ("drift", "not_recomputable", "same_members_other_order", "carried_over", "same")
SIZES = ("num_different", "num_owned_twice", "num_unowned", "moves_too_many")


def severity(row: Row) -> tuple[int, int]:
    """A drift that a known defect explains is the worst; a defect that Kafka's own answer has too follows drifts."""
    verdict = WORST_FIRST.index(row["verdict"])
    has_defect = row["known_defect"] is not None
    if verdict == 0:
        return (0, 0 if has_defect else 1)
    return (1, 0) if has_defect else (2, verdict)


def assignment_audit(rows: Rows) -> list[Row]:
    result = []
    for row in rows["assignment_audit"]:
        moves = row["moves_made"], row["moves_needed"]
        result.append(
            {
                **row,
                "moves_too_many": None if None in moves else moves[0] - moves[1],
                "is_complete": is_complete(rows, row),
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
