"""What the pages say of files, targets and lines is so."""

import json
import re
import subprocess
import sys

import pytest

from tests.docs.pages import PAGES, ROOT, blocks
from udfs.sources.snapshot_lines import parse_each

INPUTS = ROOT / "docs" / "inputs.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_target_and_path_that_a_page_names_exists(page):
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert set(re.findall(r"`make ([a-z]+)`", text)) <= targets
    named = re.findall(r"`((?:schemas|udfs|jobs|tests|docs|benchmarks|conf|data)/[\w./*-]*)`", text)
    assert [name for name in named if not list(ROOT.glob(name.rstrip("/")))] == []


def test_the_readme_is_a_front_door():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


def test_the_line_of_a_snapshot_is_one():
    (shown,) = (block.text for block in blocks(INPUTS) if block.text.startswith('{"captured_at"'))
    (snapshot,) = parse_each(shown.replace("\n", ""), 0)
    (row,) = snapshot.clusters
    assert row["group_settings"] == [{"group_id": "billing", "settings": [("consumer.session.timeout.ms", "6000")]}]
    assert None not in row.values()


def test_the_line_of_dump_has_the_fields_of_a_real_one(workplace):
    (shown,) = (block.text for block in blocks(INPUTS) if block.text.startswith('{"offsets_partition"'))
    segments = [str(path) for path in (workplace / "logs").glob("*/*.log")]
    command = [sys.executable, "-m", "jobs.cli", "dump", "--type", "1", *segments]
    real = json.loads(subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True).stdout)
    assert list(json.loads(shown)) == list(real)
    assert list(json.loads(shown)["value"]) == list(real["value"])
