"""Pages put into their folder: each appears as a whole, and the first page last, so that its links lead somewhere."""

from collections.abc import Iterator
from itertools import islice

from jobs.storage.stored_path import Place, delete, files_in, write_whole
from jobs.storage.together import done_together

INDEX, GROUPS_FOLDER, ENDING = "index.html", "groups", ".html"
# Pages are drawn and written by so many, since they are in memory together.
AT_ONCE = 32

Page = tuple[str, str]


def write_pages(folder: Place, index: str, groups: Iterator[Page]) -> tuple[int, int]:
    """How many pages of groups there are, and how many bytes in all. `groups`: those pages, with their anchors. Pages
    of an earlier report that are no longer there go."""
    names: set[str] = set()
    num_bytes = len(index.encode())
    while some := list(islice(groups, AT_ONCE)):
        done_together(folder, lambda page: write_page(folder, page), some)
        names.update(file_of(page) for page in some)
        num_bytes += sum(len(text.encode()) for _, text in some)
    write_whole(folder / INDEX, index)
    for place in files_in(folder / GROUPS_FOLDER, ENDING):
        if place.name.startswith("group-") and place.name not in names:
            delete(place)
    return len(names), num_bytes


def write_page(folder: Place, page: Page) -> None:
    write_whole(folder / GROUPS_FOLDER / file_of(page), page[1])


def file_of(page: Page) -> str:
    anchor, _ = page
    return f"{anchor}{ENDING}"
