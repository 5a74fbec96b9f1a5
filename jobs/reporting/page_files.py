"""Pages put into their folder: each appears as a whole, and the first page last, so that its links lead somewhere."""

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from jobs.output.progress import Activity
from jobs.storage.places.place import Place

INDEX, GROUPS_FOLDER, ENDING = "index.html", "groups", ".html"
# Pages are drawn, then written, by so many, since they are in memory together.
AT_ONCE = 32

Page = tuple[str, str]


@dataclass(frozen=True)
class WrittenPages:
    """Of groups: the names of their files, and how many bytes there are."""

    names: frozenset[str] = frozenset()
    num_bytes: int = 0


def write_group_pages(folder: Place, groups: Iterator[Page], activity: Activity | None = None) -> WrittenPages:
    names: set[str] = set()
    num_bytes = 0
    with ThreadPoolExecutor(folder.most_at_once) as writers:
        while some := list(islice(groups, AT_ONCE)):
            for size in writers.map(lambda page: write_page(folder, page), some):
                num_bytes += size
            names.update(file_of(page) for page in some)
            if activity is not None:
                activity.done += len(some)
    return WrittenPages(frozenset(names), num_bytes)


def write_index(folder: Place, index: str, names: Collection[str]) -> int:
    """How many bytes it has. Pages of groups of an earlier report that are no longer there go."""
    (folder / INDEX).write_whole(index)
    for place in (folder / GROUPS_FOLDER).files_in(ENDING):
        if place.name.startswith("group-") and place.name not in names:
            place.delete()
    return len(index.encode())


def write_page(folder: Place, page: Page) -> int:
    (folder / GROUPS_FOLDER / file_of(page)).write_whole(page[1])
    return len(page[1].encode())


def file_of(page: Page) -> str:
    anchor, _ = page
    return f"{anchor}{ENDING}"
