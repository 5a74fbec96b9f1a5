"""What commands say of how far they are, which a slow machine makes them say: of interest to few tests."""

import re

PROGRESS = re.compile(
    r"groupscope: [A-Za-z :]+: (\d+%( of [\d,]+ ([kM]B|(record|task|statement|suite|group|file|row|table)s?))?, )?"
    r"\d+ (s|min) so far"
    r"(, about \d+ (s|min) left)?"
)


def beside_progress(errors: str) -> list[str]:
    """The other lines."""
    return [line for line in errors.splitlines() if not PROGRESS.fullmatch(line)]
