"""Groups on pages of their own: drawn and written by worker processes where there are many of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

import pyarrow as pa
from markupsafe import Markup

from jobs.engine.engine import Engine
from jobs.engine.task import Step, TaskSpec
from jobs.output.failure import Failure
from jobs.output.zones import in_zone
from jobs.reporting.page_files import Page, WrittenPages, write_group_pages
from jobs.reporting.pages import page, part_of_page
from jobs.reporting.parts.group_parts import GroupPart, GroupsToDraw
from jobs.reporting.parts.head import Head
from jobs.reporting.parts.overview import SEVERITIES
from jobs.reporting.report_folder import unwritable
from jobs.reporting.rows.names import anchor
from jobs.reporting.rows.questions import Ask, asking_of_groups
from jobs.storage.places.place import Place
from jobs.warehouses.delta_tables import DataFile
from jobs.warehouses.warehouse import Warehouse

# Fewer are drawn before a worker has loaded what it needs.
LEAST_FOR_WORKERS = 80
# So that it shows how far thousands of them are, and a worker that is done early takes another task. Fewer tasks ask
# fewer questions: each is about many groups.
MOST_PER_TASK = 200


@dataclass(frozen=True)
class About:
    """What the report is about, as its pages name it."""

    warehouse: str
    cluster: str
    choice: str | None
    basis: str
    # What its folder is known by from then on.
    mark: str
    is_redacted: bool = False
    # Of its hashes.
    has_kept_key: bool = False
    zone: tzinfo = UTC

    @property
    def times(self) -> str:
        """Messages are stored texts."""
        return "UTC" if self.zone is UTC else f"in {self.zone}, those inside messages UTC"


@dataclass(frozen=True)
class GroupPages:
    about: About
    head: Head
    groups: GroupsToDraw

    def pages(self, ask: Ask) -> Iterator[Page]:
        shared = {"about": self.about, "head": self.head, "patterns": part_of_page("patterns.html", {})}
        for part in self.groups.parts(ask):
            yield anchor(part.group), page("group.html", {"group": part.group, "inner": part_text(part), **shared})


def part_text(part: GroupPart) -> Markup:
    return part_of_page("group_part.html", {"part": part, "severities": SEVERITIES})


@dataclass(frozen=True)
class PagesTask:
    pages: GroupPages
    root: Place
    # Of the warehouse: all processes read one state of it.
    runs: tuple[int, pa.Table]
    folder: Place


@dataclass
class PagesDone:
    written: WrittenPages | None = None
    failure: tuple[int, str] | None = None
    files: list[tuple[str, DataFile]] = field(default_factory=list)


def write_pages_of(task: PagesTask) -> PagesDone:
    warehouse = Warehouse(task.root, seen=[task.runs])
    try:
        with in_zone(task.pages.about.zone), asking_of_groups(warehouse, task.pages.groups.cluster) as ask:
            return PagesDone(write_group_pages(task.folder, task.pages.pages(ask)))
    except OSError as error:
        failure = unwritable(task.folder, error.strerror or error)
    except Failure as error:
        failure = error
    return PagesDone(failure=(failure.code, str(failure)))


def write_by_workers(pages: GroupPages, warehouse: Warehouse, folder: Place, engine: Engine) -> WrittenPages:
    least_tasks = -(-len(pages.groups.groups) // MOST_PER_TASK)
    hands = pages.groups.dealt(max(engine.num_workers, least_tasks))
    runs = warehouse.runs()
    tasks = [PagesTask(GroupPages(pages.about, pages.head, each), warehouse.root, runs, folder) for each in hands]
    step = Step(write_pages_of, PagesDone, unfinished="index.html is still that of the previous report")
    sizes = [len(hand.groups) for hand in hands], "groups"
    done = engine.run(step, [TaskSpec(task, about="pages of groups") for task in tasks], sizes)
    for each in done:
        if each.failure is not None:
            raise Failure(*each.failure)
    return together([each.written for each in done if each.written is not None])


def together(written: Sequence[WrittenPages]) -> WrittenPages:
    names = frozenset[str]().union(*(each.names for each in written))
    return WrittenPages(names, sum(each.num_bytes for each in written))
