"""Numbers of things in a sentence."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Such as `1 partition`, `1,200 partitions`. `things`: several of them, where an s does not make it."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def damage_text(thing: str, num_ranges: int, num_bytes: int, num_records: int, *, is_estimated: bool) -> str:
    """Such as `1 damaged range of 213 bytes, 3 records`: the one count of damage, wherever it is shown."""
    about = "about " if is_estimated else ""
    return f"{counted(num_ranges, thing)} of {counted(num_bytes, 'byte')}, {about}{counted(num_records, 'record')}"
