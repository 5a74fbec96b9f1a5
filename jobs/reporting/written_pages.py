"""Pages put into their folder: each appears as a whole, and the first page last, so that its links lead somewhere."""

from collections.abc import Mapping

from jobs.storage.stored_path import Place, delete, files_in, write_whole

INDEX, GROUPS_FOLDER, ENDING = "index.html", "groups", ".html"


def write_pages(folder: Place, index: str, groups: Mapping[str, str]) -> None:
    """`groups`: pages of single groups, by their anchors. Those of an earlier report that are no longer there go."""
    for anchor, text in groups.items():
        write_whole(folder / GROUPS_FOLDER / f"{anchor}{ENDING}", text)
    write_whole(folder / INDEX, index)
    names = {f"{anchor}{ENDING}" for anchor in groups}
    for place in files_in(folder / GROUPS_FOLDER, ENDING):
        if place.name.startswith("group-") and place.name not in names:
            delete(place)
