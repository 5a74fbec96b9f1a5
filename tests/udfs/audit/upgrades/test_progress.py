"""Progress of groups that change from eager rebalancing to a cooperative assignor, to the consumer protocol, or back.

A case is a log and, after some of its operations, rows: `> coop`, or nothing, is the row of the first of these ways,
`forth` and `back` are those of the others, `only` says which there are. An operation is a time and its records. Times
are milliseconds (`?`: the record has none; d: a day, b: BACK_WITHIN). `range a=t0` is a value of a classic group with
its members, coop is cooperative-sticky, and a member is `id=assigned<claimed`, with : for the version of its
subscription, / for its static id and @ for the generation that it says. Without @ that is the group's last one for
members that had been there, else -1. `gone` ends a classic group. Of consumer groups, `+n` is a member, `~a` one that
speaks the classic protocol, `-a` one that left, `e7` a group epoch, and `e-` the group's end.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

import pytest

from tests.builders.groups.classic_log import member
from tests.builders.groups.upgrade_log import (
    COOPERATIVE,
    DAY,
    STICKY,
    TO_CLASSIC,
    TO_CONSUMER,
    Log,
    Written,
    classic,
    epoch,
    gone,
    ids,
    left,
    micros,
    native,
    run,
    turning,
    upgrades_of,
    value,
)  # fmt: skip
from udfs.audit import upgrades

WAYS = {"coop": COOPERATIVE, "forth": TO_CONSUMER, "back": TO_CLASSIC}
MEMBER = re.compile(r"([\w-]+)=([\w+]*)(?:<([\w+]*))?(?::(\d))?(?:/(\w+))?(?:@(\S+))?")
TURNING = """
    0 range old=t0+t1 gone=t2+t3
    1000 range old=t0+t1+t2+t3
    2000 coop old=t0+t1 new=t2+t3"""
# Of two members, the one that was left leaves.
GONE_LAST = f"""{TURNING}
    3000 coop new=t0+t1+t2+t3<t2+t3"""
THREE = "0 range a=t0 b=t1 c=t2"
# A classic group of two, and a native member that turns it.
UPGRADED = """
    0 range(5) a=t0 b=t1
    1000 gone ~a ~b e5 +n e6"""
CASES = f"""
members that were there before the group turned are left
    {TURNING}
    > phase=in_progress done=new left=old start=2000 end=- first=2 last=2 confidence=likely
a member that had nothing before the group turned is left too
    0 range busy=t0 idle=
    1 coop new=t0 idle=
    > left=idle
the same process cannot change, but a static one keeps its id where the coordinator gives it back
    {TURNING}
    3000 coop old=t0+t1<t0+t1 new=t2+t3<t2
    > phase=finished done=old+new left=- start=2000 end=3000 confidence=certain
it is finished once the last of the old members is back; what comes after is no part of it
    {GONE_LAST}
    4000 coop new=t0+t1<t0+t1 third=
    > phase=finished done=new+third end=4000
    5000 coop new=t0+t1<t0+t1
    6000 coop new=t0+t1<t0+t1 fourth=
    7000 coop new=t0+t1<t0+t1 fourth=@-1 fifth=
    > end=4000
a member that is not back has gone for good, or may come back yet
    {GONE_LAST}
    > phase=finished left=- end=3000 confidence=likely
a member that is soon back; no record shows whether one that has just come would claim
    {GONE_LAST}
    3000+b coop new=t0+t1<t0+t1 third=
    > phase=finished left=- end=3000+b confidence=likely
a member that is not soon back has gone for good
    {GONE_LAST}
    3001+b coop new=t0+t1<t0+t1 third=
    > phase=finished left=- end=3000 confidence=likely
a member of unknown time is not known to be back
    {GONE_LAST}
    ? coop new=t0+t1<t0+t1 third=
    > end=3000
a member whose successor came before it left is not awaited
    {TURNING}
    2500 coop old=t0 new=t1<t1 next=t2
    3000 coop new=t0+t1<t0+t1 next=@-1
    > phase=finished end=3000
the last of several that are away counts
    {THREE}
    1000 range a=t0+t1+t2
    2000 coop a=t0 new=t1+t2
    3000 coop new=t0+t1<t0+t1
    > end=3000
    4000 coop new=t0+t1<t0+t1 b2=
    > end=4000
    5000 coop new=t0+t1<t0+t1 b2=@-1 a2=
    > end=5000
    6000 coop new=t0+t1<t0+t1 b2=@-1 a2=@-1 more=
    > end=5000
a member that comes gives those that are away no more time
    {THREE}
    1000 coop new=t0+t1+t2
    1000+b coop new=t0+t1<t0+t1 second=
    1001+b coop new=t0+t1<t0+t1 second=@-1 third=
    > end=1000+b
members that leave one after the other may come back for as long as the last one
    {THREE}
    1000 range a=t0+t1 b=t2
    1000+b coop new=t0+t1+t2
    2000+b coop new=t0+t1<t0+t1 second=
    > end=2000+b
a group that was stopped meanwhile has turned when all of it is back
    0 range a=t0 b=t1
    1000 range
    2000 coop new=t0+t1
    > end=2000
    3000 coop new=t0+t1<t0+t1 other=
    > start=2000 end=3000
of two members that start anew as the group turns, only one has left the old assignor out; generation 3 left no record
    0 range a=t0 b=t1
    1000 coop a2=t0 b2=t1
    > phase=finished
    2000 coop(4) a2=t0<t0@3 b2=t1@3
    > phase=in_progress left=b2
    3000 coop a2=t0+t1<t0
    4000 coop a2=t0<t0+t1 b3=
    > phase=finished end=4000
a static member that came back as the group turned is done
    0 range a-1=t0/a b-1=t1/b
    1 coop a-2=t0/a b-1=t1/b
    > done=a-2 left=b-1 instances=b
a newcomer that gives everything up offers an eager assignor too, whatever the others do
    {TURNING}
    3000 coop new=t0+t1<t2+t3 eager=t2+t3
    > phase=finished
    4000 coop new=t0+t1<t0 eager=t2
    > phase=in_progress left=eager end=-
a member that was reset says nothing
    {GONE_LAST}
    4000 coop new=t0+t1+t2+t3@-1
    > phase=finished
a member that missed a round says nothing
    {GONE_LAST}
    4000 coop new=t0+t1+t2+t3@2
    > phase=finished
a member that had nothing says nothing
    {GONE_LAST}
    4000 coop new=t0+t1+t2+t3<t0+t1 idle=
    5000 coop new=t0+t1+t2+t3<t0+t1 idle=
    > phase=finished
a member before generations were recorded is left when it claims nothing
    {GONE_LAST}
    4000 coop new=t0+t1+t2+t3:1@-
    > left=new
a group of cooperative members from the start is on no way
    0 coop a=t0
    1 coop a=t0<t0 b=
    > none
an eager member of a group that never turned shows a way half gone, as where the cleaner has left the end of a log
    0 coop(7) a=t0 b=t1
    1 coop a=t0<t0 b=t1
    > phase=in_progress done=a left=b start=1 confidence=likely
    2 coop a=t0<t0 b=t1<t1
    > phase=finished end=2 confidence=likely
a subscription that cannot claim keeps its member from changing
    {TURNING}
    3000 coop new=t0<t2 python=t1:0
    > readiness=blocked blockers=old_client:python
a group that turns back half way has not finished and does not stand still; when it turns once more, that is another way
    {TURNING}
    3000 range old=t0+t1 new=t2+t3
    > phase=taken_back done=- left=old+new readiness=unknown blockers=turned_back:None
    4000 coop newer=t0+t1+t2+t3
    > phase=finished start=4000 blockers=-
of a group that turned back nobody has changed, whoever comes
    {TURNING}
    3000 range old=t0+t1 other=t2+t3
    > done=- left=old+other
a group that turns back after it had finished has finished; when it turns once more, that is another way
    {GONE_LAST}
    4000 coop new=t0+t1<t0+t1 third=
    5000 range range-again=t0+t1+t2+t3@-1
    > phase=finished done=new+third left=- end=4000 blockers=-
    5000+2d range(8) range-again=t0+t1+t2+t3@-1
    > phase=finished done=new+third left=- end=4000 blockers=-
    6000+2d coop newer=t0+t1+t2+t3
    > start=6000+2d
rounds are counted anew when a member changes
    0 range one=t0 two=t1
    1 coop one=t0@-1 two=t1@-1 new=t2<t2@-1
    1 coop one=t0@-1 two=t1@-1 new=t2<t2@-1
    1 coop one=t0@-1 two=t1@-1 new=t2<t2@-1
    1 coop one=t0@-1 two=t1@-1 new=t2<t2@-1
    2 coop one=t0@-1 new=t2<t2@-1
    2+d coop one=t0@-1 new=t2<t2@-1
    > phase=in_progress
a static member that comes back is no round
    {TURNING}
    2000 coop(3) old=t0@2 new-0=t1/n
    2000+d coop(3) old=t0@2 new-1=t1/n
    2000+2d coop(3) old=t0@2 new-2=t1/n
    > phase=in_progress
a group that was empty meanwhile turns at once
    0 range a=t0
    1 range
    2 coop b=t0
    > phase=finished start=2 end=2
an unknown assignor may have been cooperative all along
    0 house-rules a=t0
    1 coop a=t0<t0
    > none
# -- between protocols
classic members of a group that was converted are left
    {UPGRADED}
    > only forth
    > forth type=consumer phase=in_progress readiness=ready confidence=certain
    > forth done=n left=a+b start=1000 end=- first=1 last=6
the conversion is finished when the last classic member has gone
    {UPGRADED}
    2000 -a e7
    3000 +n2 e8
    > forth left=b
    4000 -b e9
    5000 +n3 e10
    > only forth
    > forth phase=finished done=n+n2+n3 left=- start=1000 end=4000
a member that comes back in the new protocol has changed; a static one takes over its record under its own id
    {UPGRADED}
    2000 -a +a-native/a +b e7
    > forth phase=finished
a conversion is not stuck while members change
    {UPGRADED}
    2000 +n0 e7
    2001 +n1 e8
    1000+d -b e10
    > forth phase=in_progress
a conversion is stuck when epochs and a day go by and nobody changes
    {UPGRADED}
    2000 +n0 e7
    2001 +n1 e8
    1000+d e10
    > forth phase=stuck
a conversion is not stuck after two epochs
    {UPGRADED}
    2000 +n0 e7
    1000+d e10
    > forth phase=in_progress
a way back goes on while classic members come
    0 +n e2
    0 ~a e3
    1 +n0 e4
    1 +n1 e5
    1 +n2 e6
    0+d ~b e8
    > back phase=in_progress
a way back is stuck when no classic member comes
    0 +n e2
    0 ~a e3
    1 +n0 e4
    1 +n1 e5
    1 +n2 e6
    0+d ~a e8
    > back phase=stuck
what was known of assignors ends with the conversion
    {TURNING}
    3000 gone ~old e3 +n e4
    4000 -n -old e- coop(5) old=t0<t0
    > only forth back
what was known of an eager assignor ends with the conversion
    0 range a=t0
    1000 gone ~a e1 +n e2
    2000 -n -a e- coop(2) a=t0@1
    > only forth back
members that left with the group they were of are not left of the next, where their own tombstones are missing
    {UPGRADED}
    2000 e- range(6) a=t0
    3000 gone ~a e6 +n e7
    4000 -a e8
    > forth phase=finished end=4000
a conversion that is taken back half way does not stand still
    {UPGRADED}
    2000 -n -a -b e- range(6) a=t0 b=t1
    > forth type=classic phase=taken_back readiness=unknown left=a+b blockers=turned_back:None start=1000 first=1
    > back phase=finished done=a+b left=- confidence=certain start=2000 end=2000
a group that is converted again is on its way again
    {UPGRADED}
    2000 -n -a -b e- range(6) a=t0
    3000 gone ~a e6 +m e7
    > only forth
    > forth phase=in_progress start=3000
classic members that join native ones lead the group back; it never was on its way forth
    0 +n e2
    1000 ~a e3
    > back phase=in_progress done=a left=n start=1000
    2000 -n -a e- range(4) a=t0
    > back phase=finished start=1000
    > forth phase=not_started blockers=-
a classic member that goes again leaves no way behind
    0 +n e1
    1000 ~a e2
    2000 -a e3
    > only
a classic member after a finished conversion leads back
    {UPGRADED}
    2000 -a -b e7
    3000 ~late e8
    > forth phase=finished end=2000 left=-
    > back phase=in_progress done=late
a conversion that finished and the one back are two finished ones; who had changed is who had until members went back
    {UPGRADED}
    2000 -a -b e7
    3000 +n2 e8
    4000 -n e9
    5000 ~c e10
    > back phase=in_progress done=c left=n2
    6000 -n2 -c e- range(10) c=t0+t1:1
    6000+2d range(11) c=t0:1@-1 d=t1:1
    > forth phase=finished start=1000 end=2000 done=n+n2 left=- readiness=blocked blockers=old_client:c+old_client:d
    > back phase=finished start=5000 end=6000 done=c+d left=-
who changed are those of the end
    {UPGRADED}
    2000 -a -b e7
    0+d -n2 ~c e9
    0+d -n -c e- range(9) c=t0
    > forth done=n
who changed are those of the end and who is soon back
    {UPGRADED}
    2000 -a -b e7
    2000+b +n2 e8
    0+d -n2 ~c e9
    0+d -n -c e- range(9) c=t0
    > forth done=n+n2
who comes later is not who changed
    {UPGRADED}
    2000 -a -b e7
    2001+b +n2 e8
    0+d -n2 ~c e9
    0+d -n -c e- range(9) c=t0
    > forth done=n
who changed are the first that come to a group that all had left, however late
    {UPGRADED}
    2000 -a -b -n e7
    0+d +n2 e8
    0+2d ~c e9
    0+3d -n2 -c e- range(9) c=t0
    > forth done=n2
nobody is awaited who left before a conversion
    0 range a=t0 b=t1
    1000 range a=t0+t1
    2000 gone ~a e2 +n e3
    3000 -n -a e- range(3) a=t0+t1
    4000 coop c=t0+t1
    5000 coop c=t0<t0+t1 more=t1
    > end=4000
a way back that nobody goes on with is stuck
    {UPGRADED}
    2000 -a -b e7
    3000 ~c e8
    4000 +n0 e9
    4000+d +n1 e10
    4000+2d +n2 e11
    > forth phase=finished
    > back phase=stuck
an empty group is converted at once
    0 range(3) a=t0
    1000 range
    2000 gone +n e1
    > forth phase=finished start=2000 end=2000
    3000 -n e2
    4000 e- range(0)
    5000 range(1) b=t0
    > back phase=finished end=4000 done=b
    > forth phase=finished end=2000
a log that begins with a mixed group shows a conversion begun earlier
    0 +n
    1000 ~a
    2000 e9
    > only forth
    > forth phase=in_progress start=1000 confidence=likely
a deleted group says nothing, nor does another of its name
    {UPGRADED}
    2000 -n -a -b e-
    > only
    3000 +n e2
    > only
    4000 e-
    5000 range(1) c=t0
    > forth phase=not_started
an emptied classic group asks for no readiness
    0 range a=t0
    1 range
    > only
"""


def cases() -> Iterator[Any]:
    for title, lines in re.findall(r"^([^#\s].*)\n((?:\s+\S.*\n)+)", CASES, re.M):
        yield pytest.param([line.strip() for line in lines.splitlines() if line.strip()], id=title)


def time_of(text: str) -> int | None:
    """Milliseconds."""
    if text in "?-":
        return None
    whole, _, more = text.partition("+")
    days = int(more[:-1] or 1) if more.endswith("d") else 0
    return int(whole) + days * DAY + (more == "b") * (upgrades.BACK_WITHIN // 1000)


class Story:
    def __init__(self) -> None:
        self.log = Log()
        self.generation = 0
        self.members: set[str] = set()

    def write(self, time: int | None, words: Sequence[str]) -> None:
        written: list[Written] = []
        for number, word in enumerate(words):
            if match := re.fullmatch(r"e(\d+|-)", word):
                written.append(epoch(None if match[1] == "-" else int(match[1])))
            elif word == "gone":
                written.append(gone())
                self.members = set()
            elif word[0] in "+~-":
                member_id, _, instance = word[1:].partition("/")
                written.append({"+": native, "~": classic, "-": lambda each, **_: left(each)}[word[0]](
                    member_id, **({"group_instance_id": instance} if instance else {})))  # fmt: skip
            elif "=" not in word:
                written.append(self.value(word, list(takewhile(lambda each: "=" in each, words[number + 1 :]))))
        self.log.write(time, *written)

    def value(self, assignor: str, words: Sequence[str]) -> Written:
        name, number = re.fullmatch(r"([\w-]+?)(?:\((\d+)\))?", assignor).groups()  # type: ignore[union-attr]
        last, self.generation = self.generation, int(number or self.generation + 1)
        members = []
        for word in words:
            match = MEMBER.fullmatch(word)
            assert match, word
            member_id, assigned, claimed, version, instance, stated = match.groups()
            said = last if member_id in self.members else -1
            if stated is not None:
                said = None if stated == "-" else int(stated)  # type: ignore[assignment]
            parts = (partitions.replace("+", " ") for partitions in (assigned, claimed or ""))
            members.append(member(member_id, *parts, generation=said, version=int(version or 3), instance=instance))
        self.members = {each["member_id"] for each in members}
        return value(self.generation, members, STICKY if name == "coop" else name)

    def check(self, words: Sequence[str]) -> None:
        rows = upgrades_of(self.log)
        if words[0] == "only":
            assert set(rows) == {WAYS[word] for word in words[1:]}
            return
        way, words = (words[0], words[1:]) if words[0] in WAYS else ("coop", words)
        if words == ["none"]:
            assert WAYS[way] not in rows
            return
        row = rows[WAYS[way]]
        shown = {
            "type": row.group_type, "phase": row.phase, "readiness": row.readiness, "confidence": row.confidence,
            "done": ids(row.members_done), "left": ids(row.members_remaining),
            "start": row.started_time, "end": row.finished_time,
            "first": row.evidence_first_offset, "last": row.evidence_last_offset,
            "instances": {each.group_instance_id for each in row.members_remaining},
            "blockers": {f"{each.kind}:{each.member_id}" for each in row.blockers},
        }  # fmt: skip
        for name, text in (word.split("=") for word in words):
            if name in ("start", "end"):
                time = time_of(text)
                assert shown[name] == (None if time is None else micros(time)), name
            elif isinstance(shown[name], set):
                assert shown[name] == (set() if text == "-" else set(text.split("+"))), name
            else:
                assert str(shown[name]) == text, name


@pytest.mark.parametrize("lines", list(cases()))
def test_groups_are_followed(lines: list[str]) -> None:
    story = Story()
    for line in lines:
        first, *words = line.split()
        if first == ">":
            story.check(words)
        else:
            story.write(time_of(first), words)


@pytest.mark.parametrize(
    ("rounds", "time", "phase"),
    [(3, DAY, "stuck"), (2, DAY, "in_progress"), (3, DAY - 1, "in_progress"), (30, DAY // 24, "in_progress")],
)
def test_it_is_stuck_when_rounds_and_a_day_go_by_and_nobody_changes(rounds: int, time: int, phase: str) -> None:
    log = turning()
    for number in range(rounds):
        members = [member("old", "t0", generation=3 + number), member("new", "t1", "t1", generation=3 + number)]
        log.write(2000 + (time if number == rounds - 1 else 1), value(4 + number, members, STICKY))
    result = upgrades_of(log)[COOPERATIVE]
    assert (result.phase, [each.kind for each in result.blockers]) == (phase, ["no_progress"] * (phase == "stuck"))


def test_groups_of_other_protocol_types_are_on_no_way_whatever_their_assignors_are_called() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0")], protocol_type="house"))
    log.write(1, value(2, [member("a", "t0", generation=1)], STICKY, protocol_type="house"))
    assert COOPERATIVE not in upgrades_of(log)


def test_a_way_that_was_taken_back_names_the_first_record_of_that() -> None:
    log = turning()
    log.write(3000, value(4, [member("old", "t0 t1", generation=3)]))
    log.write(4000, value(5, [member("old", "t0 t1", generation=4)]))
    assert [each.detail for each in upgrades_of(log)[COOPERATIVE].blockers] == [
        "the group went back to its former protocol; the record at offset 3 shows it"
    ]


def test_the_last_entry_of_a_member_counts_as_coordinators_load_it() -> None:
    log = Log()
    log.write(0, value(1, [member("a", "t0", version=0), member("b", ""), member("a", "t0", version=3)]))
    result = upgrades_of(log)[TO_CONSUMER]
    assert ([each.member_id for each in result.members_remaining], result.blockers) == (["a", "b"], ())


def test_the_member_that_changed_is_named_with_its_client() -> None:
    log = Log()
    log.write(0, value(5, [member("a", "t0")]))
    log.write(1, gone(), classic("a"), epoch(5), native("n"), epoch(6))
    assert upgrades_of(log)[TO_CONSUMER].members_done[0].client_id == "client-n"


def test_share_and_streams_groups_are_on_no_way() -> None:
    log = Log()
    for group_type in ("share", "streams"):
        log.write(0, native("n", group_type=group_type), epoch(2, group_type=group_type))
    assert run(log.operations, {}, None) == ({}, {})
