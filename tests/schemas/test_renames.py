"""The list of renames is true and whole: by tables that an early release of contract 2 wrote, and by today's."""

import re
import tarfile
from pathlib import Path

import pytest
from deltalake import DeltaTable

from schemas.renames import RENAMES, Named, old_name, renamed, renamed_columns
from schemas.tables import FUNCTIONS, USER_TABLES
from schemas.views import VIEWS

ROOT = Path(__file__).parents[2]
WRITTEN = ROOT / "tests" / "jobs" / "warehouses" / "older_releases" / "contract-2.tar.xz"
COLUMNS = {
    name: {column.name for column in of.columns}
    for known in (USER_TABLES, VIEWS, FUNCTIONS) for name, of in known.items()
}  # fmt: skip


def test_columns_that_version_2_wrote_have_the_new_names(tmp_path):
    with tarfile.open(WRITTEN) as archive:
        archive.extractall(tmp_path, filter="data")
    written = {path.parent.name: DeltaTable(str(path.parent)) for path in tmp_path.glob("*/_delta_log")}
    missed = {
        (name, field.name)
        for name in USER_TABLES if old_name(name) in written
        for field in written[old_name(name)].schema().fields
        if (new := renamed_columns(name).get(field.name, field.name)) is not None and new not in COLUMNS[name]
    }  # fmt: skip
    assert missed == set() and len(written) > 30
    assert {"from_offset", "is_open"} <= {field.name for field in written["offset_history"].schema().fields}


@pytest.mark.parametrize("each", RENAMES, ids=lambda each: each.old)
def test_the_new_name_is_there_and_the_old_one_is_not(each):
    if each.kind is Named.COLUMN:
        assert each.where
        for name in each.where:
            assert each.old not in COLUMNS[name] and (each.new is None or each.new in COLUMNS[name]), name
        # Elsewhere the new name would be a rename that the list lacks.
        assert each.new is None or {name for name, columns in COLUMNS.items() if each.new in columns} == {*each.where}
    else:
        assert each.new in (USER_TABLES if each.kind is Named.TABLE else VIEWS) and each.old not in COLUMNS
    assert renamed(each.old) == str(each)


def test_every_view_begins_with_v():
    assert all(name.startswith("v_") for name in VIEWS)


def test_the_page_has_each_rename_beside_its_old_name():
    text = (ROOT / "docs" / "renames.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (?:`(\w+)`|gone) \| (\w+) \| (\d) \|", text, flags=re.MULTILINE)
    assert rows == [(each.old, each.new or "", each.kind, str(each.since)) for each in RENAMES]
    kept = set(re.findall(r"^- `(\w+)` is still the name of a column of `gate_spans`", text, flags=re.MULTILINE))
    assert kept == {"from_offset", "to_offset"}


def test_what_is_said_of_an_old_name():
    assert renamed("is_open") == "is_open is is_provisional since version 3"
    assert renamed("lag_points.LAG_DATA") == "lag_data is gone since version 3"
    assert renamed("is_provisional, is_open_ended") == ""
