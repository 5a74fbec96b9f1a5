"""An audit on a slow server of objects, which delays each answer, asks for fewer requests now and then, and gets some
requests twice, as on a bad line: the tables are those of an undisturbed one."""

import pytest

from schemas.words.exit_codes import ExitCode
from tests.builders.storages.s3_server import READING
from tests.faults.killed_runs import AUDIT, check_like

SHORTEST, LONGEST = 0.05, 0.2
# Of a hundred requests. A write that comes twice looks as if somebody else had been first: a run may end by it.
REFUSED, REPEATED = 3, 1
MANY_AUDITS = 20


class Drawn(list[str]):
    """Never empty: what happens to a request is drawn when it comes."""

    def __init__(self, chance):
        super().__init__(["drawn"])
        self.chance = chance

    def pop(self, _=-1):
        number = self.chance.randrange(100)
        if number < REFUSED:
            return "503"
        if number < REFUSED + REPEATED:
            return "repeat"
        return f"wait {self.chance.uniform(SHORTEST, LONGEST):.3f}"


def check_slow(runs, folder):
    is_later = runs.chance.random() < 0.5
    storage = runs.stored_before(AUDIT, is_later=is_later, beside=folder)
    words = [AUDIT, "--warehouse", storage.place, *runs.undisturbed.words(AUDIT, is_later=is_later)]
    words += ["--report", str(folder / "report")]
    behaviour = runs.behaviour
    behaviour.next, asked = Drawn(runs.chance), len(behaviour.requests)
    behaviour.repeated.clear()
    code, lines = runs.run(words)
    # Whatever else the server does, a client that asks again gets there.
    assert code == ExitCode.CLEAN or any(not each.startswith(READING) for each in behaviour.repeated), lines
    # A run that such a write has ended may have asked for little before.
    assert code != ExitCode.CLEAN or len(behaviour.requests) > asked + 100
    runs.end_well(words, code, lines, str(is_later))
    check_like(storage, folder / "copy", runs.undisturbed.after(AUDIT, is_later=is_later))


def test_an_audit_on_a_slow_server_leaves_what_an_undisturbed_one_leaves(disturbed):
    check_slow(disturbed, disturbed.folder / "run")


@pytest.mark.soak
def test_audits_on_a_slow_server_leave_what_undisturbed_ones_leave(disturbed):
    for number in range(MANY_AUDITS):
        check_slow(disturbed, disturbed.folder / str(number))
