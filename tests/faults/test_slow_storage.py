"""An audit on a slow server of objects, which delays each answer, asks for fewer requests now and then, and gets some
requests twice, as on a bad line: the tables are those of an undisturbed one."""

import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs import cli
from jobs.storage.places.addresses import storage_at
from schemas.words.exit_codes import ExitCode
from tests.builders.storages.s3_server import Misbehaviour, options_for, proxy
from tests.faults.killed_runs import AUDIT, Undisturbed, check_like, put, short_locks

SHORTEST, LONGEST = 0.05, 0.2
# Of a hundred requests. A write that comes twice looks as if somebody else had been first: a run may end by it.
REFUSED, REPEATED = 3, 1
MANY_AUDITS = 20


class Drawn(list[str]):
    """Never empty: what happens to a request is drawn when it comes."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(["drawn"])
        self.chance = chance

    def pop(self, _: object = -1) -> str:
        number = self.chance.randrange(100)
        if number < REFUSED:
            return "503"
        if number < REFUSED + REPEATED:
            return "repeat"
        return f"wait {self.chance.uniform(SHORTEST, LONGEST):.3f}"


@pytest.fixture
def behaviour(s3: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Misbehaviour]:
    with proxy(s3) as (url, behaviour), short_locks():
        for name, value in options_for(url).values:
            monkeypatch.setenv(name.upper(), value)
        yield behaviour


def check_slow(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    folder: Path,
    chance: random.Random,
    capfd: pytest.CaptureFixture[str],
) -> None:
    folder.mkdir()
    is_later = chance.random() < 0.5
    storage = storage_at(f"s3://bucket/{uuid.uuid4().hex}/w", options_for(s3))
    if (before := undisturbed.before(AUDIT, is_later=is_later)) is not None:
        put(before, storage, folder / "put")
    words = [AUDIT, "--warehouse", storage.place, *undisturbed.words(AUDIT, is_later=is_later)]
    words += ["--report", str(folder / "report")]
    behaviour.next, asked = Drawn(chance), len(behaviour.requests)
    capfd.readouterr()
    code = cli.main(words)
    lines = capfd.readouterr().err.splitlines()
    assert len(behaviour.requests) > asked + 100
    behaviour.next = []
    if code != ExitCode.CLEAN:
        assert code == ExitCode.UNUSABLE_WAREHOUSE, lines
        assert len(lines) == 1 and lines[0].startswith("groupscope: s3://"), lines
        assert cli.main(words) == ExitCode.CLEAN
    check_like(storage, folder / "copy", undisturbed.after(AUDIT, is_later=is_later))


def test_an_audit_on_a_slow_server_leaves_what_an_undisturbed_one_leaves(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    tmp_path: Path,
    seed: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    check_slow(s3, behaviour, undisturbed, tmp_path / "run", random.Random(seed), capfd)


@pytest.mark.soak
def test_audits_on_a_slow_server_leave_what_undisturbed_ones_leave(
    s3: str,
    behaviour: Misbehaviour,
    undisturbed: Undisturbed,
    tmp_path: Path,
    seed: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chance = random.Random(seed)
    for number in range(MANY_AUDITS):
        check_slow(s3, behaviour, undisturbed, tmp_path / str(number), chance, capfd)
