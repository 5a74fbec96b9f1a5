"""What kafka-consumer-groups printed about all groups, row by row."""

Row = dict[str, str]
COORDINATOR = "COORDINATOR (ID)"


def printed_rows(text):
    """A header before the rows of each group; no value has a blank inside but the coordinator's, which is two."""
    names = []
    for line in text.splitlines():
        words = line.replace(COORDINATOR, "COORDINATOR ID").split()
        if words[:1] == ["GROUP"]:
            names = words
        elif len(words) == len(names) > 0:
            yield dict(zip(names, words, strict=True))


def by_group(rows):
    result = {}
    for row in rows:
        result.setdefault(row["GROUP"], []).append(row)
    return result


def assigned(text):
    """`orders:0,1;payments:2`, as the tool prints what a member owns; a hyphen is nothing."""
    if text == "-":
        return {}
    topics = (each.rsplit(":", 1) for each in text.split(";"))
    return {topic: sorted(map(int, partitions.split(","))) for topic, partitions in topics}


def committed(rows):
    return {
        (row["TOPIC"], int(row["PARTITION"])): int(row["CURRENT-OFFSET"])
        for row in rows
        if row["CURRENT-OFFSET"] != "-" and row["TOPIC"] != "-"
    }


def members(rows):
    return {
        row["CONSUMER-ID"]: (row["CLIENT-ID"], row["HOST"], assigned(row["CURRENT-ASSIGNMENT"]))
        for row in rows
        if row["CONSUMER-ID"] != "-"
    }
