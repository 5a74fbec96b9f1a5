"""Names of groups, clients and topics as the report shows them. They are hostile input: anybody may choose them."""

import re
from hashlib import sha256

from jobs.output.failure import visible

# Names in pages and drawings; the rows have them in full.
MOST_CHARACTERS = 120
# Rows end somewhere too: Kafka allows names of 32 KB, and a page may hold thousands.
MOST_IN_ROWS = 40_000
SLUG_CHARACTERS = 40
HASH_DIGITS = 10
NOT_IN_SLUGS = re.compile("[^a-z0-9]+")


def shorten(text: str, most: int = MOST_CHARACTERS) -> str:
    """The beginning and the end, between them how much is left out. Control and bidi characters as escapes first: an
    escape must not be cut in two by the page."""
    shown = visible(text)
    if len(shown) <= most:
        return shown
    head, tail = most * 2 // 3, most // 6
    return f"{shown[:head]}… {len(shown) - head - tail:,} more …{shown[-tail:]}"


def group_name(text: str) -> str:
    """In quotes where nothing would be seen: Kafka lets groups have no name."""
    return shorten(text) if text.strip() else f"'{shorten(text)}'"


def anchor(group_id: str) -> str:
    """The name of a group's part in links: readable, and different for different groups."""
    slug = NOT_IN_SLUGS.sub("-", group_id[: 4 * SLUG_CHARACTERS].lower()).strip("-")[:SLUG_CHARACTERS].strip("-")
    digest = sha256(group_id.encode(errors="surrogatepass")).hexdigest()[:HASH_DIGITS]
    return "-".join(filter(None, ("group", slug, digest)))
