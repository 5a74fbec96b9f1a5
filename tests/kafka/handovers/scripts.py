"""What happens to the members of each group: every way in which a partition is without a reader for some time.

Groups are alike in what happens to them and differ in their clients and protocols. They play side by side, each as fast
as its members settle."""

import time
from collections.abc import Callable, Collection
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final

from tests.kafka.handovers.play import (
    CLASSIC,
    CONFLUENT,
    CONSUMER,
    COOPERATIVE,
    JAVA,
    KAFKA_PYTHON,
    RANGE,
    SESSION_MS,
    SHARE,
    STREAMS,
    Group,
    Play,
)

EAGER_JAVA, COOPERATIVE_JAVA, CONSUMER_JAVA = (JAVA, RANGE), (JAVA, COOPERATIVE), (JAVA, CONSUMER)
STREAMS_JAVA, SHARE_JAVA = (JAVA, STREAMS), (JAVA, SHARE)
OF_JAVA: Final = (EAGER_JAVA, COOPERATIVE_JAVA, CONSUMER_JAVA)
SOME: Final = (*OF_JAVA, (KAFKA_PYTHON, RANGE), (CONFLUENT, RANGE), (CONFLUENT, CONSUMER))
ALL: Final = (*SOME, (KAFKA_PYTHON, COOPERATIVE), (CONFLUENT, COOPERATIVE), STREAMS_JAVA)
TOPICS: Final = {"orders": 4, "clicks": 2, "fading": 3, "failing": 3}
GROWING_FROM, GROWING_TO = 2, 5
# Whoever is not meant to time out does not, on a busy machine either.
CALM: Final[dict[str, Any]] = {"session_ms": 5 * SESSION_MS}


def play_all(play: Play, protocols: Collection[str], rounds: int) -> None:
    """With groups of the protocols that the broker has."""

    def groups(script: str, *kinds: tuple[str, str], **more: Any) -> list[Group]:
        return [
            Group(f"{script}-{library}-{protocol}", library, protocol, **more)
            for library, protocol in kinds
            # librdkafka speaks no preview of the consumer protocol.
            if protocol in CLASSIC or (protocol in protocols and (library == JAVA or play.is_since_4))
        ]

    for topic, number in TOPICS.items():
        play.topic(topic, number)
    play.snapshot()
    for library in (KAFKA_PYTHON, CONFLUENT):
        play.stayers[library] = play.process(library, library)
    slow = groups("slow", COOPERATIVE_JAVA, CONSUMER_JAVA, (CONFLUENT, RANGE), slow_ms=1_500, **CALM)
    never = groups("never", EAGER_JAVA, CONSUMER_JAVA, commit_ms=0, **CALM)
    seldom = groups("seldom", EAGER_JAVA, CONSUMER_JAVA, commit_ms=5_000, **CALM)
    doomed = [
        *groups("killed", *SOME, STREAMS_JAVA),
        *groups("killed-never", EAGER_JAVA, CONSUMER_JAVA, commit_ms=0),
        *groups("killed-seldom", EAGER_JAVA, CONSUMER_JAVA, commit_ms=5_000),
    ]
    alone = groups("only-killed", EAGER_JAVA, CONSUMER_JAVA, (CONFLUENT, RANGE))
    # In consumer groups nobody gets the name of a static member that has not left.
    back = groups("static-killed", EAGER_JAVA, (CONFLUENT, RANGE), (KAFKA_PYTHON, RANGE), is_static=True)
    # Nearly always one of kafka-python's members would be stuck.
    readers = [kind for kind in SOME if kind[0] != KAFKA_PYTHON]
    grown = [groups(topic, *readers, topics=(topic,), **CALM) for topic in map("growing{}".format, range(rounds))]
    faded = groups("fading", EAGER_JAVA, CONSUMER_JAVA, topics=("fading", "clicks"), **CALM)
    scripts: list[Callable[[], None]] = [
        *(partial(deploy, play, group, rounds) for group in [*groups("deploy", *ALL, **CALM), *slow, *never, *seldom]),
        partial(killed, play, doomed, alone, back, 1 + rounds),
        *(partial(static, play, group, rounds) for group in groups("static", *SOME, is_static=True)),
        *(partial(only, play, group, rounds) for group in groups("only", *SOME, STREAMS_JAVA, **CALM)),
        *(partial(growing, play, each) for each in grown),
        partial(fading, play, faded),
        *(partial(standing, play, group, rounds) for group in groups("standing", *OF_JAVA, max_poll_ms=4_000)),
        *(partial(shared, play, group, rounds) for group in groups("shared", SHARE_JAVA)),
        partial(manual, play, Group("manual", JAVA, "manual")),
    ]
    with play.snapshots(), ThreadPoolExecutor(len(scripts)) as threads:
        done, waiting = wait(map(threads.submit, scripts), return_when=FIRST_EXCEPTION)
        play.is_over = bool(waiting)
        for each in done:
            each.result()
    failover(play, groups("failing", *OF_JAVA, (CONFLUENT, RANGE), topics=("failing",)))
    play.end()


def deploy(play: Play, group: Group, rounds: int) -> None:
    """Members join one after another; then each is replaced by another one; the group shrinks in the end."""
    time.sleep(play.random.uniform(0, 3))
    for _ in range(2):
        play.join(group)
        play.settle(group)
    for _ in range(rounds):
        for client in list(group.members):
            play.close(group, client)
            if play.random.random() < 0.5:
                play.settle(group)
            play.join(group)
            play.settle(group)
    play.join(group)
    play.settle(group)
    play.close(group, group.members[0])
    play.settle(group)
    play.leave_all(group)


def killed(play: Play, groups: list[Group], only: list[Group], back: list[Group], rounds: int) -> None:
    """A process with a member of each group is killed. Of `only` it is the only one: another one takes its place. Of
    `back` it is a static one that comes back, once."""
    for number in range(rounds):
        all_groups = [*groups, *only, *back]
        libraries = sorted({group.library for group in all_groups})
        doomed = {library: play.process(library, f"doomed-{library}-{number}") for library in libraries}
        for group in [*groups, *back]:
            if not group.members:
                play.join(group)
        clients = {group.name: play.join(group, doomed[group.library]) for group in all_groups}
        play.settle(*all_groups)
        for process in doomed.values():
            play.kill(process)
        time.sleep(1)
        for group in only:
            play.join(group)
        for group in back:
            play.join(group, client=clients[group.name])
        play.settle(*all_groups)
        play.leave_all(*only, *back)
        back = []
    play.leave_all(*groups)


def static(play: Play, group: Group, rounds: int) -> None:
    """Restarts that the coordinator does not notice, quick and slow ones, and one that takes longer than a session."""
    for _ in range(2):
        play.join(group)
    play.settle(group)
    for _ in range(rounds):
        for away_seconds in (0, 2, 4):
            client = play.random.choice(group.members)
            play.close(group, client)
            time.sleep(away_seconds)
            play.join(group, client=client)
            play.settle(group)
    play.close(group, group.members[-1])
    play.settle(group)
    play.leave_all(group)


def only(play: Play, group: Group, rounds: int) -> None:
    """The only member of its group restarts."""
    play.join(group)
    play.settle(group)
    for away_seconds in (0, 1, 3, 5)[: 2 + 2 * rounds]:
        play.leave_all(group)
        time.sleep(away_seconds)
        play.join(group)
        play.settle(group)
    play.leave_all(group)


def growing(play: Play, groups: list[Group]) -> None:
    """A topic gets more partitions just after a snapshot."""
    topic = groups[0].topics[0]
    play.topic(topic, GROWING_FROM)
    for group in groups:
        for _ in range(2):
            play.join(group)
    play.settle(*groups)
    play.snapshot()
    with play.event("topic_grown", topic=topic, partitions_before=GROWING_FROM, partitions_after=GROWING_TO):
        play.stage.order("grow", topic=topic, partitions=GROWING_TO)
    play.traffic(topic, GROWING_TO)
    play.settle(*groups)
    play.leave_all(*groups)


def fading(play: Play, groups: list[Group]) -> None:
    """One of two topics is deleted. Its members stay: Java's would try for a minute to commit it before they leave."""
    for group in groups:
        for _ in range(2):
            play.join(group)
    play.settle(*groups)
    play.snapshot()
    with play.event("topic_deleted", topic="fading", partitions_before=play.partitions["fading"]):
        play.delete("fading")


def standing(play: Play, group: Group, rounds: int) -> None:
    """A member that does not poll for longer than it may, and comes back."""
    for _ in range(2):
        play.join(group)
    play.settle(group)
    for _ in range(rounds):
        play.stand_still(group.members[-1], 2 * group.max_poll_ms)
        time.sleep(2 * group.max_poll_ms / 1000)
        play.settle(group)
    play.leave_all(group)


def shared(play: Play, group: Group, rounds: int) -> None:
    """Its only member restarts, then one of two leaves."""
    for away_seconds in (3, 5)[: 1 + rounds]:
        play.join(group)
        play.settle(group)
        play.leave_all(group)
        time.sleep(away_seconds)
    for _ in range(2):
        play.join(group)
        play.settle(group)
    play.close(group, group.members[0])
    play.settle(group)
    play.leave_all(group)


def manual(play: Play, group: Group) -> None:
    """Partitions are assigned by hand: it commits, and has no members."""
    play.join(group)
    time.sleep(10)
    play.leave_all(group)


def failover(play: Play, groups: list[Group]) -> None:
    """The coordinator loads again; members that were killed while it was away have their whole session from then on."""
    libraries = sorted({group.library for group in groups})
    doomed = {library: play.process(library, f"failing-{library}") for library in libraries}
    for group in groups:
        play.join(group)
        play.join(group, doomed[group.library])
    play.settle(*groups)
    play.snapshot()
    with play.event("restarted"):
        play.broker.stop()
        for process in doomed.values():
            play.kill(process)
        play.start()
    play.settle(*groups)
    play.snapshot()
