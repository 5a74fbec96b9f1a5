"""Warehouses that older releases wrote, kept as they left them: of earlier contracts, which every command refuses in
one line.

Both read the classic group of `data/sample/__consumer_offsets-2`: `ingest` and `replay` by the release of contract 1,
all jobs by an early release of contract 2.
"""

import tarfile
from pathlib import Path

import pytest

from jobs import cli
from schemas.words.exit_codes import ExitCode
from tests.runs.ingested import ROOT

OLDER = Path(__file__).with_name("older_releases")
SAMPLE = ROOT / "data" / "sample"
COMMANDS = [
    ["groups"], ["rebalances", "g"], ["sql", "SELECT 1"], ["replay"], ["lag"], ["gate"], ["maintain", "--keep", "400d"],
    ["ingest", "--source", f"segments:{SAMPLE}"], ["doctor"],
]  # fmt: skip


def unpacked(name, folder):
    with tarfile.open(OLDER / f"{name}.tar.xz") as archive:
        archive.extractall(folder / "w", filter="data")
    return folder / "w"


@pytest.mark.parametrize("contract", [1])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_an_earlier_contract_is_refused_in_one_line_and_nothing_changes(tmp_path, words, contract, capfd):
    warehouse = unpacked(f"contract-{contract}", tmp_path)
    before = {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}
    assert cli.main([*words, "--warehouse", str(warehouse)]) == ExitCode.UNUSABLE_WAREHOUSE
    printed = capfd.readouterr()
    line = (
        f"{warehouse}: was written by an older release (table format {contract}, this release needs 3). "
        "Read __consumer_offsets"
    )
    assert printed.out == ""
    assert printed.err.startswith(f"groupscope: {line} again into a new folder")
    assert printed.err.count("\n") == 1
    assert {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()} == before
