"""Where a report is, and what its first page says of itself: the cluster that it is about, and what it rests on."""

import re
from dataclasses import dataclass
from hashlib import sha256
from html import unescape
from importlib.resources import files

from jobs.command_line.flags import VERSION
from jobs.command_line.values import GroupChoice
from jobs.output.failure import Failure
from jobs.output.zones import ZONES
from jobs.reporting.questions import shown_tables
from jobs.storage.places.addresses import is_remote
from jobs.storage.places.place import Place
from jobs.warehouses.manifest import RUNS
from jobs.warehouses.warehouse import Warehouse
from schemas.words.exit_codes import ExitCode

INDEX = "index.html"
DEFAULT, IN_WAREHOUSE = "report", "_report"
EXPECTED = "give a folder that can be written to"
# Enough of a page for its head, where the marks are.
HEAD_BYTES = 8_192
MARK = re.compile('<meta name="groupscope-(basis|cluster|key)" content="([^"]+)">')


@dataclass(frozen=True)
class Marks:
    """Of the report in a folder; None: there is none, or it does not say."""

    basis: str | None = None
    cluster: str | None = None
    # Not None: its hashes are of a key in a file.
    key: str | None = None


def report_place(wanted: str | None, warehouse: str) -> str:
    """As people name it: what `--report` says, else `report/`, or a folder of a warehouse that is not local."""
    if wanted is None and is_remote(warehouse):
        return f"{warehouse.rstrip('/')}/{IN_WAREHOUSE}"
    return wanted or local_default(warehouse)


def local_default(_warehouse: str) -> str:
    """Of every local warehouse: where the command is run."""
    return DEFAULT


def check_folder(folder: Place) -> None:
    """Called before any work is done. Missing rights only show when the report is written."""
    if folder.is_no_folder():
        raise Failure(ExitCode.USAGE, f"--report {folder}: is a file; {EXPECTED}")


def unwritable(folder: Place, why: object) -> Failure:
    return Failure(ExitCode.FINDINGS, f"--report {folder}: {why}; {EXPECTED}")


def basis_of(warehouse: Warehouse, cluster: str, choice: GroupChoice) -> str:
    """Everything that decides what the pages say. Each run adds a row to `runs`, also when it changes nothing else; but
    its id shows a warehouse that was made anew, with other rows at the same versions."""
    versions = warehouse.readable_versions([name for name in shown_tables() if name != RUNS])
    runs = warehouse.newest(RUNS)
    made = None if runs is None else runs.metadata().id
    # How this release draws it.
    page = [file.read_bytes() for file in sorted((files(__package__) / "page").iterdir(), key=lambda file: file.name)]
    decides = [VERSION, warehouse.address, made, cluster, choice, sorted(versions.items()), page, ZONES.people]
    return sha256(repr(decides).encode()).hexdigest()


def marks_of(folder: Place) -> Marks:
    try:
        with (folder / INDEX).open() as file:
            head = file.read(HEAD_BYTES).decode(errors="replace")
    except OSError:
        return Marks()
    return Marks(**{name: unescape(value) for name, value in MARK.findall(head)})


def check_cluster(folder: Place, marks: Marks, cluster: str, shown: str | None = None) -> None:
    """A folder holds the report of one cluster: another one would replace it, pages of groups too. A page that is no
    report belongs to a user and stays. `shown`: what a redacted report calls the cluster."""
    if marks == Marks() and (folder / INDEX).is_file():
        raise Failure(
            ExitCode.USAGE, f"--report {folder}: its {INDEX} is not a report of groupscope; choose another folder"
        )
    if marks.cluster not in (None, cluster, shown):
        line = f"holds the report of cluster {marks.cluster}; choose another folder for cluster {cluster}"
        raise Failure(ExitCode.USAGE, f"--report {folder}: {line}")
