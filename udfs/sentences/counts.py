"""Numbers of things in a sentence."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """Such as `1 partition`, `1,200 partitions`. `things`: several of them, where an s does not make it."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"
