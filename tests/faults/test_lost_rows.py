"""Tables that a job makes anew from the decoded ones lose files, logs, all: `doctor` says what to type, and that mends
them, for each cluster that lost rows and no other."""

import errno
import shlex
import shutil
from functools import cache

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from jobs import cli
from jobs.doctor import run_checks
from jobs.storage.failpoints import FAILPOINTS
from jobs.storage.places.local_place import LocalPlace
from jobs.warehouses.warehouse import Warehouse
from schemas.tables import TABLES
from schemas.words.exit_codes import ExitCode
from tests.faults.two_clusters import CLUSTERS, DERIVED, mix_files, two_clusters
from tests.runs.ingested import ROOT, ingest, rows
from tests.runs.replayed_logs import growing, killed_at, row_texts, write_part

# Each takes several audits, so a run draws some of them.
pytestmark = pytest.mark.drawn_together(5)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return two_clusters(tmp_path_factory.mktemp("lost"))


@pytest.fixture
def warehouse(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "w")
    return tmp_path / "w"


def files_of(warehouse, name, cluster):
    folder = warehouse / TABLES[name].folder
    for row in pa.table(DeltaTable(folder).get_add_actions(flatten=False)).to_pylist():
        if row["min"]["cluster"] == cluster:
            yield folder / row["path"]


def lose_files(warehouse, name):
    for path in files_of(warehouse, name, "one"):
        path.unlink()


def cut_files(warehouse, name):
    for path in files_of(warehouse, name, "one"):
        path.write_bytes(path.read_bytes()[:-9])


def lose_log(warehouse, name):
    shutil.rmtree(warehouse / TABLES[name].folder / "_delta_log")


def lose_last_commit(warehouse, name):
    max((warehouse / TABLES[name].folder / "_delta_log").glob("*.json")).unlink()


def spoil_log(warehouse, name):
    for path in (warehouse / TABLES[name].folder / "_delta_log").glob("*.json"):
        path.write_text("{")


def lose_table(warehouse, name):
    shutil.rmtree(warehouse / TABLES[name].folder)


def lose_mixed(warehouse, name):
    mix_files(warehouse, name)
    for row in pa.table(DeltaTable(warehouse / TABLES[name].folder).get_add_actions(flatten=False)).to_pylist():
        (warehouse / TABLES[name].folder / row["path"]).unlink()


def broken(warehouse):
    return [each for each in run_checks(LocalPlace(warehouse)) if each.status == "broken"]


def mended(warehouse, mend):
    """Types what the doctor says."""
    for command in mend.split(" && "):
        words = shlex.split(command)
        assert words[0] == "groupscope"
        assert cli.main(words[1:]) == ExitCode.CLEAN


@cache
def texts_of_whole(whole, job):
    """No test changes it."""
    return row_texts(whole, DERIVED[job])


def assert_whole(whole, warehouse):
    assert broken(warehouse) == []
    for job, names in DERIVED.items():
        expected, found = texts_of_whole(whole, job), row_texts(warehouse, names)
        for name in names:
            assert found[name] == expected[name], (job, name)


@pytest.mark.parametrize("step", ["open", "size"])
def test_a_storage_that_does_not_answer_has_lost_nothing(warehouse, monkeypatch, capsys, step):
    def refuse(*arguments):
        raise OSError(errno.EIO, "no answer from the server for 5 s: check that it runs", f"{warehouse}/{step}")

    monkeypatch.setattr(*{"open": (Warehouse, "open_at"), "size": (LocalPlace, "size")}[step], refuse)
    code = cli.main(["replay", "--warehouse", str(warehouse), "--cluster", "one"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"groupscope: {warehouse}/{step}: no answer from the server for 5 s: check that it runs"
    assert code == ExitCode.UNUSABLE_WAREHOUSE


# Every table once, of each job in both ways.
TURNS = [
    (lose_files, "rebalances"),
    (cut_files, "topics"),
    (lose_files, "replayed_groups"),
    (cut_files, "replayed_partitions"),
    (lose_files, "assignment_audit"),
    (cut_files, "recomputed_partitions"),
]
OTHERS = [(cut_files if lose is lose_files else lose_files, name) for lose, name in TURNS]


def command(warehouse, job, *clusters):
    return " && ".join(f"groupscope {job} --full --warehouse {warehouse} --cluster {each}" for each in clusters)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("lose", "name"), [*TURNS, *(pytest.param(*each, marks=pytest.mark.soak) for each in OTHERS)])
def test_files_of_one_cluster_are_made_anew_by_it_alone(whole, warehouse, capsys, lose, name):
    lose(warehouse, name)
    job = TABLES[name].job
    found = broken(warehouse)
    assert {each.mend for each in found} == {command(warehouse, job, "one")}
    assert all(each.subject.startswith(TABLES[name].folder) for each in found)
    # A run that goes on would leave the lost rows out; the other cluster's lost none.
    capsys.readouterr()
    assert cli.main([job, "--warehouse", str(warehouse), "--cluster", "one"]) == ExitCode.UNUSABLE_WAREHOUSE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"Rebuild it: {command(warehouse, job, 'one')}")
    assert cli.main([job, "--warehouse", str(warehouse), "--cluster", "two"]) == ExitCode.CLEAN
    mended(warehouse, found[0].mend)
    assert capsys.readouterr().err == ""
    assert_whole(whole, warehouse)


@pytest.mark.drawn(1)
@pytest.mark.parametrize(("lose", "name"), [
    (lose_table, "rebalances"),
    (lose_log, "offset_history"),
    (lose_last_commit, "ownership_intervals"),
    (spoil_log, "replayed_groups"),
    (lose_table, "recomputed_groups"),
    (lose_mixed, "rebalances"),
    (lose_mixed, "recomputed_partitions"),
    pytest.param(lose_table, "replayed_partitions", marks=pytest.mark.soak),
    pytest.param(lose_log, "assignment_audit", marks=pytest.mark.soak),
    pytest.param(lose_mixed, "topics", marks=pytest.mark.soak),
])  # fmt: skip
def test_what_held_rows_of_two_clusters_is_made_anew_by_both(whole, warehouse, capsys, lose, name):
    lose(warehouse, name)
    job = TABLES[name].job
    both = command(warehouse, job, *CLUSTERS)
    assert {each.mend for each in broken(warehouse)} == {both}
    first, second = both.split(" && ")
    capsys.readouterr()
    mended(warehouse, first)
    assert second in capsys.readouterr().err
    # The other cluster's rows are not there yet, and the doctor knows.
    assert {(each.check, each.mend) for each in broken(warehouse)} == {("progress", second)}
    shutil.copytree(warehouse, warehouse.with_name("by-itself"))
    mended(warehouse, second)
    assert_whole(whole, warehouse)
    # The scheduled run, which goes on where it ended, begins anew by itself.
    assert cli.main([job, "--warehouse", str(warehouse.with_name("by-itself")), "--cluster", "two"]) == ExitCode.CLEAN
    assert_whole(whole, warehouse.with_name("by-itself"))


@pytest.mark.drawn(1)
@pytest.mark.parametrize("name", ["rebalances", "topics", "recomputed_groups", "replayed_partitions"])
def test_rows_of_other_clusters_in_the_same_file_stay(whole, warehouse, name):
    mix_files(warehouse, name)
    words = [TABLES[name].job, "--full", "--warehouse", str(warehouse), "--cluster", "two"]
    assert cli.main(words) == ExitCode.CLEAN
    assert_whole(whole, warehouse)


def test_runs_go_on_where_files_hold_rows_of_two_clusters(whole, tmp_path, rng):
    log = whole.parent / "log"
    for number, share in enumerate(growing(log, rng, 2)):
        write_part(log, tmp_path / "log", share)
        for cluster in CLUSTERS:
            ingest(tmp_path / "w", "--source", f"segments:{tmp_path / 'log'}", "--cluster", cluster)
            for job, names in DERIVED.items():
                assert cli.main([job, "--warehouse", str(tmp_path / "w"), "--cluster", cluster]) == ExitCode.CLEAN
                for name in names if (number, cluster) == (0, "two") else ():
                    mix_files(tmp_path / "w", name)
    assert_whole(whole, tmp_path / "w")


@pytest.mark.drawn(1)
@pytest.mark.parametrize("point", FAILPOINTS)
def test_a_rebuild_that_is_killed_anywhere_is_finished_by_the_next(whole, warehouse, point):
    lose_log(warehouse, "rebalances")
    killed_at(point, "replay", warehouse, "--full", "--cluster", "one")
    for cluster in CLUSTERS:
        assert cli.main(["replay", "--full", "--warehouse", str(warehouse), "--cluster", cluster]) == ExitCode.CLEAN
    assert_whole(whole, warehouse)


def test_one_cluster_needs_no_name_and_a_place_is_quoted(tmp_path):
    warehouse = tmp_path / "my data"
    log = ROOT / "data" / "sample" / "__consumer_offsets-5"
    ingest(warehouse, "--source", f"segments:{log}")
    assert cli.main(["replay", "--warehouse", str(warehouse)]) == ExitCode.CLEAN
    lose_table(warehouse, "rebalances")
    (found,) = broken(warehouse)
    assert found.mend == f"groupscope replay --full --warehouse '{warehouse}'"
    mended(warehouse, found.mend)
    assert broken(warehouse) == []


def test_damaged_decoded_tables_keep_their_own_advice(warehouse):
    for path in files_of(warehouse, "offset_commits", "one"):
        path.unlink()
    assert all("restore the table's folder from a backup" in each.mend for each in broken(warehouse))


@pytest.mark.parametrize("lost", ["table", "files"])
def test_readers_do_not_take_lost_rows_for_none(warehouse, capsys, lost):
    group = rows(warehouse, "rebalances")[0]["group_id"]
    if lost == "table":
        lose_table(warehouse, "rebalances")
    else:
        for path in files_of(warehouse, "rebalances", "one"):
            path.unlink()
    words = ["why", group, "--at", "now", "--warehouse", str(warehouse), "--cluster", "one"]
    capsys.readouterr()
    assert cli.main(words) == ExitCode.UNUSABLE_WAREHOUSE
    assert capsys.readouterr().err.endswith("is not there; run `groupscope doctor`, which says how to repair it\n")
