"""The stories: what is done to groups on purpose, and what a person who knows that would want an audit to say.

Each function draws its names, sizes, rhythms and instants, does it, and writes down which findings are wanted, or why
none is. It is judged as whoever is on call would: one cause is one finding, which names the group that needs help.
Nothing may be said of a group that does as it should, of one that nobody misses, or of what somebody did on purpose and
what is over.
"""

from typing import Final

from tests.stories.stage import CLASSIC, Group, Play, Stage

# Of a slow client: it has fetched a second's worth of a partition, and goes on with the next partition.
FEW_AT_A_TIME: Final = {"max.poll.records": 10, "max.partition.fetch.bytes": 1_000}


def two_clients_die_at_once(stage: Stage) -> None:
    """All that a group has, in one process, which is killed; sessions last longer than the log."""
    topics = [stage.topic(stage.rng.randint(3, 7), stage.seconds(3, 8)) for _ in range(stage.rng.randint(1, 2))]
    stage.healthy(topics[0])
    group = stage.group(*topics)
    process = stage.second_process()
    clients = stage.join(group, 2, process)
    stage.until(died := stage.seconds(24, 30))
    process.kill()
    group.members.clear()
    stage.note(f"the process of {' and '.join(clients)} is killed")
    stage.want(
        group, "critical", "group_silent",
        why="nobody reads any of its partitions any more, and messages wait: one finding for the group, not one for "
        "each partition or topic",
    )  # fmt: skip
    stage.until(died + stage.seconds(16, 38))


def one_client_of_some_dies(stage: Stage) -> None:
    """As above, but others of the group go on with their partitions."""
    topic = stage.topic(stage.rng.randint(4, 6), stage.seconds(3, 8))
    stage.healthy(topic)
    group = stage.group(topic)
    process = stage.second_process()
    stage.come(group, dying := f"{group.name}-0", process)
    stage.join(group, stage.rng.randint(1, 2))
    stage.until(died := stage.seconds(24, 30))
    process.kill()
    del group.members[dying]
    stage.note(f"the process of {dying} is killed; the others go on")
    stage.want(
        group, "critical", "member_silent",
        why="messages wait in all partitions of one member: one finding that names it",
    )  # fmt: skip
    stage.until(died + stage.seconds(22, 38))


def one_partition_is_stuck(stage: Stage) -> None:
    """A message that its member cannot work off; it goes on with its other partitions."""
    topic = stage.topic(stage.rng.randint(4, 6), stage.seconds(3, 8))
    stage.healthy(topic)
    group = stage.group(topic)
    client = stage.rng.choice(stage.join(group, stage.rng.randint(1, 2)))
    stage.until(stuck := stage.seconds(24, 30))
    partition = int(stage.rng.choice(stage.owned(group, client)).rpartition("-")[2])
    stage.tell(group, "stick", client, topic=topic, partition=partition)
    stage.note(f"{client} goes no further in {topic}-{partition}")
    is_committed = group.settings["enable.auto.commit"]
    stage.want(
        group, "critical", "partition_stalled" if is_committed else "partition_stopped",
        topic=topic, partition=partition,
        why="its client's timer commits the same offset again and again, and messages wait" if is_committed
        else "the member commits its other partitions, this one no more, and messages wait",
    )  # fmt: skip
    stage.until(stuck + stage.seconds(24, 40))


def a_deploy_under_load(stage: Stage) -> None:
    """Every member is closed and comes back, one after the other."""
    topic = stage.topic(stage.rng.randint(6, 8), stage.seconds(15, 30))
    stage.healthy(stage.topic(3, 5))
    group = stage.group(topic)
    group.is_static = stage.rng.random() < 0.3
    if not group.is_static and stage.rng.random() < 0.5:
        group.settings["client.id"] = group.name
    clients = stage.join(group, stage.rng.randint(3, 6))
    stage.until(stage.seconds(18, 25))
    for client in clients:
        stage.leave(group, client)
        stage.note(f"{client} is closed")
        stage.until(stage.now() + stage.seconds(0.5, 2))
        stage.come(group, client)
        stage.settle(group)
        stage.note(f"{client} is back")
        stage.until(stage.now() + stage.seconds(2, 4))
    stage.quiet[group.name] = "each member came back within seconds: a deploy, which somebody did on purpose"
    stage.until(stage.now() + stage.seconds(15, 22))


def a_client_flaps(stage: Stage) -> None:
    """It crashes, is started again, crashes …"""
    topic = stage.topic(stage.rng.randint(4, 6), stage.seconds(3, 8))
    stage.healthy(stage.topic(3, 5))
    group = stage.group(topic)
    *_, flapping = stage.join(group, stage.rng.randint(2, 4))
    stage.until(stage.seconds(12, 16))
    rounds, least, gap = 0, stage.rng.randint(6, 14), stage.seconds(0.5, 2)
    while stage.now() < 50 or rounds < least:
        stage.leave(group, flapping)
        stage.until(stage.now() + gap)
        stage.come(group, flapping)
        stage.settle(group)
        stage.until(stage.now() + gap + stage.seconds(0.3, 1))
        rounds += 1
    stage.note(f"{flapping} has left and come back {rounds} times")
    stage.want(
        group, "warning", "rebalance_storm",
        why="one client keeps the whole group busy with rebalances; at least ten in about a minute",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(5, 10))


def an_admin_resets(stage: Stage) -> None:
    """Of a group whose members are closed for that; they come back."""
    topics = [stage.topic(stage.rng.randint(2, 4), stage.seconds(4, 8)) for _ in range(stage.rng.randint(1, 2))]
    stage.healthy(topics[0])
    group = stage.group(*topics)
    clients = stage.join(group, stage.rng.randint(1, 2))
    stage.until(stage.seconds(22, 28))
    stage.leave(group)
    stage.until(stage.now() + 1)
    to, by = stage.rng.choice(["earliest", "latest", "shift"]), stage.rng.randint(40, 90)
    is_marked = stage.rng.random() < 0.3
    stage.clients.now("alter", group=group.name, to=to, by=by, is_marked=is_marked)
    stage.note(f"an admin sets the offsets: {to}" + (f" by -{by}" if to == "shift" else ""))
    stage.until(stage.now() + 1)
    for client in clients:
        stage.come(group, client)
    stage.settle(group)
    stage.want(
        group, "warning", "offsets_reset",
        why="messages are read again or skipped, and whoever owns the group may not know of it; one finding for all "
        "topics, since it was one deed",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(12, 36))


def a_program_goes_back(stage: Stage) -> None:
    """Its members seek back in all that they own, and commit that."""
    topic = stage.topic(stage.rng.randint(3, 5), stage.seconds(4, 8))
    stage.healthy(topic)
    group = stage.group(topic)
    clients = stage.join(group, stage.rng.randint(1, 2))
    stage.until(stage.seconds(24, 30))
    by = stage.rng.choice([None, stage.rng.randint(40, 90)])
    going = [group.members[client].later("go_back", client=client, by=by) for client in clients]
    for each in going:
        each.result()
    stage.note(f"its members go back {'to the beginning' if by is None else f'{by} messages'} and commit that")
    stage.want(
        group, "warning", "offsets_reset",
        why="messages are read again; it goes on by itself, so nobody has to get up for it",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(12, 36))


def a_tool_commits_once(stage: Stage) -> None:
    """Somebody looks into a topic, by a tool with a group of its own."""
    topics = [stage.topic(stage.rng.randint(2, 4), stage.seconds(4, 8)) for _ in range(stage.rng.randint(1, 2))]
    stage.healthy(topics[0])
    stage.until(stage.seconds(12, 25))
    tool = Group(stage.group_name(), "without members", tuple(topics))
    stage.groups[tool.name] = tool
    stage.clients.now(
        "once", client=tool.name, group=tool.name, topics=topics, settings={"enable.auto.commit": False},
        commits=stage.rng.choice([1, 1, 3, 6]),
    )  # fmt: skip
    stage.note(f"a tool reads all there is, commits as {tool.name} within a moment, and ends")
    stage.quiet[tool.name] = "nobody reads as this group, so nobody falls behind, stops or is silent"
    stage.until(stage.now() + stage.seconds(40, 50))


def a_nightly_batch(stage: Stage) -> None:
    """It comes, reads what there is, goes, and comes again at its hour."""
    topic = stage.topic(stage.rng.randint(3, 5), stage.seconds(3, 6))
    stage.healthy(topic)
    group = stage.group(topic)
    hour = stage.seconds(13, 17)
    runs = 4
    for run in range(runs):
        stage.until(4 + run * hour)
        stage.join(group)
        stage.until(stage.now() + stage.seconds(1.5, 3))
        stage.leave(group)
        stage.note(f"run {run + 1} is over")
    stage.quiet[group.name] = "it came each time at its hour, and the next one has not come yet"
    stage.until(4 + (runs - 1) * hour + stage.seconds(9, 12))


def an_emptied_test_group(stage: Stage) -> None:
    """Somebody tries something for a few seconds."""
    topic = stage.topic(stage.rng.randint(3, 5), stage.seconds(4, 8))
    stage.healthy(topic)
    stage.until(stage.seconds(8, 14))
    group = stage.group(topic)
    stage.join(group)
    stage.until(stage.now() + stage.seconds(2.5, 5))
    stage.leave(group)
    stage.note("its only client is closed, for good")
    stage.quiet[group.name] = "it read for a few seconds and said goodbye: nobody misses it"
    stage.until(stage.now() + stage.seconds(40, 50))


def a_topic_is_expanded(stage: Stage) -> None:
    """Clients notice when they next look at the topic: soon, or, by their default, after the log's end."""
    before, rate = stage.rng.randint(2, 4), stage.seconds(4, 8)
    topic = stage.topic(before, rate, quieter=1)
    stage.healthy(stage.topic(3, 5))
    is_soon = stage.rng.random() < 0.7
    group = stage.group(topic, **{"metadata.max.age.ms": 2_000 if is_soon else 300_000})
    stage.join(group, stage.rng.randint(1, 2))
    stage.until(stage.seconds(22, 30))
    after = before + stage.rng.randint(1, 3)
    stage.clients.now("expand", topic=topic, partitions=after)
    stage.note(f"{topic} has {after} partitions instead of {before}")
    stage.until(stage.now() + stage.seconds(1, 4))
    stage.traffic(topic, [rate] * after)
    stage.quiet[group.name] = "it has taken the new partitions, or will when its clients next look at the topic"
    stage.until(stage.now() + stage.seconds(30, 38))


def a_topic_is_made_anew(stage: Stage) -> None:
    """Its readers stay, and go on from the beginning of the new one."""
    partitions, rate = stage.rng.randint(2, 4), stage.seconds(4, 8)
    topic = stage.topic(partitions, rate, quieter=1)
    stage.healthy(stage.topic(3, 5))
    group = stage.group(topic)
    stage.join(group, stage.rng.randint(1, 2))
    stage.until(stage.seconds(22, 30))
    stage.traffic(topic, [])
    stage.until(stage.now() + stage.seconds(1.5, 2.5))
    stage.clients.now("delete", topic=topic)
    stage.note(f"{topic} is deleted; the group had read all of it")
    stage.until(stage.now() + stage.seconds(0.5, 2))
    stage.clients.now("topic", topic=topic, partitions=partitions)
    stage.note(f"{topic} is made anew")
    stage.traffic(topic, [rate] * partitions)
    stage.settle(group)
    stage.want(
        group, "warning", "offsets_reset", may_be_silent=True,
        why="no message is lost or read twice, so a line of information is as right; but whoever does not know that "
        "the topic was made anew wonders why its offsets begin at 0 again",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(32, 40))


def a_group_falls_behind(stage: Stage) -> None:
    """More comes than it can work off."""
    partitions, rate = stage.rng.randint(3, 5), stage.seconds(8, 14)
    topic = stage.topic(partitions, rate)
    stage.healthy(topic)
    group = stage.group(topic, **FEW_AT_A_TIME)
    clients = stage.join(group, stage.rng.randint(1, 2))
    stage.until(stage.seconds(14, 18))
    share = stage.rng.uniform(0.55, 0.75)
    for client in clients:
        coming = sum(stage.topics[topic][int(at.rpartition("-")[2])] for at in stage.owned(group, client))
        stage.tell(group, "pace", client, rate=share * coming)
    # Whoever is slow may not poll for seconds.
    group.rate = share
    stage.note(f"from now on it can work off {share:.0%} of what comes")
    stage.want(
        group, "warning", "falling_behind",
        why="it reads all the time and its lag grows all the time: one finding for the group",
    )  # fmt: skip
    stage.until(stage.seconds(76, 84))


def a_lag_comes_and_goes(stage: Stage) -> None:
    """Messages come in bursts, and are worked off before the next one."""
    partitions = stage.rng.randint(2, 4)
    topic = stage.topic(partitions, 1, quieter=1)
    stage.healthy(stage.topic(3, 5))
    group = stage.group(topic, **FEW_AT_A_TIME)
    pace = stage.rng.randint(30, 60)
    group.rate = pace
    stage.join(group)
    period, burst = stage.seconds(14, 18), stage.seconds(2.5, 4)
    share = stage.rng.uniform(0.55, 0.7)
    stage.until(6)
    end = stage.seconds(76, 84)
    bursts = 0
    while (begin := 6 + bursts * period) < end:
        stage.until(begin)
        stage.traffic(topic, [share * pace * period / burst / partitions] * partitions)
        stage.until(min(begin + burst, end))
        stage.traffic(topic, [1.0] * partitions)
        bursts += 1
    stage.note(f"{bursts} bursts of {burst} s, one every {period} s; each takes it {share:.0%} of that time")
    stage.quiet[group.name] = "it has always worked off a burst before the next one"
    stage.until(end)


def a_transaction_hangs(stage: Stage) -> None:
    """Its process dies in the middle of it. The other member takes its partitions, and waits: while a transaction is
    open, a client is not told from where to read."""
    topic, output = stage.topic(stage.rng.randint(3, 5), stage.seconds(4, 8)), stage.topic(2, 0)
    stage.healthy(topic)
    group = stage.group(topic, **{"enable.auto.commit": False})
    group.output = output
    stage.short_session(group, stage.rng.randint(2_000, 3_000))
    process = stage.second_process()
    stage.come(group, dying := f"{group.name}-0", process)
    (lasting,) = stage.join(group)
    stage.until(died := stage.seconds(24, 30))
    stage.tell(group, "hang", dying)
    process.kill()
    del group.members[dying]
    stage.note(f"the process of {dying} is killed in the middle of a transaction; {lasting} stays")
    stage.settle(group)
    stage.want(
        group, "critical", "hanging_transaction",
        why="nobody will end it for ten minutes, and until then its partitions are not read: this is what somebody has "
        "to mend",
    )  # fmt: skip
    stage.want(
        group, "critical", "partition_stopped", "member_silent", "group_silent", may_be_silent=True,
        why="messages do wait where the transaction has offsets, and in all that its taker has if that gives up all it "
        "has in a rebalance; but this follows from the transaction",
    )  # fmt: skip
    stage.until(died + stage.seconds(26, 42))


def a_whole_group_is_killed(stage: Stage) -> None:
    """Its sessions end, and nobody comes."""
    group = killed(stage)
    stage.want(
        group, "critical", "group_down",
        why="it was killed, messages go on to come, and nobody is there any more: that lasts until somebody starts it",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(30, 38))


def a_killed_group_comes_back(stage: Stage) -> None:
    """Its sessions end, and somebody starts it again."""
    group = killed(stage)
    stage.until(stage.now() + stage.seconds(16, 20))
    stage.join(group, 2)
    stage.note("it is started again")
    stage.want(
        group, "warning", "long_unread",
        why="it is well again, but whoever reads what it writes waited: one finding for the whole outage",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(16, 22))


def an_admin_resets_in_an_outage(stage: Stage) -> None:
    """Somebody thinks that this helps."""
    group = killed(stage)
    stage.until(stage.now() + stage.seconds(10, 12))
    stage.clients.now("alter", group=group.name, to="earliest", by=0, is_marked=False)
    stage.note("an admin sets the offsets to the beginning")
    stage.want(group, "critical", "group_down", why="an admin's commit brings nobody back who would read")
    stage.want(
        group, "warning", "offsets_reset",
        why="whoever starts it again may not know that it begins anew, and must be told that apart from the outage",
    )  # fmt: skip
    stage.until(stage.now() + stage.seconds(16, 22))


def killed(stage: Stage) -> Group:
    """All members in one process. Returns when they are dead, before their sessions end. Records of classic groups say
    how long a session is; of others the log does not show whether a member was silent for a whole one."""
    topic = stage.topic(stage.rng.randint(3, 6), stage.seconds(3, 8))
    stage.healthy(topic)
    group = stage.group(topic, protocols=CLASSIC)
    stage.short_session(group, stage.rng.randint(3_000, 6_000))
    process = stage.second_process()
    clients = stage.join(group, stage.rng.randint(1, 2), process)
    stage.until(stage.seconds(22, 26))
    process.kill()
    group.members.clear()
    stage.note(f"the process of {' and '.join(clients)} is killed")
    return group


def a_batch_stays_away(stage: Stage) -> None:
    """It comes at its hour, some times, and then no more."""
    topic = stage.topic(stage.rng.randint(3, 5), stage.seconds(3, 6))
    stage.healthy(topic)
    group = stage.group(topic)
    hour, runs = stage.seconds(10, 12), stage.rng.randint(3, 4)
    for run in range(runs):
        stage.until(4 + run * hour)
        stage.join(group)
        stage.until(stage.now() + stage.seconds(1.5, 3))
        stage.leave(group)
        stage.note(f"run {run + 1} is over")
    stage.want(
        group, "critical", "group_down",
        why="its hour has come and gone without it: somebody must look why it did not run",
    )  # fmt: skip
    stage.until(stage.now() + 2 * hour + 4)


PLAYS: Final[dict[str, Play]] = {
    play.__name__: play
    for play in (
        two_clients_die_at_once,
        one_client_of_some_dies,
        one_partition_is_stuck,
        a_deploy_under_load,
        a_client_flaps,
        an_admin_resets,
        a_program_goes_back,
        a_tool_commits_once,
        a_nightly_batch,
        an_emptied_test_group,
        a_topic_is_expanded,
        a_topic_is_made_anew,
        a_group_falls_behind,
        a_lag_comes_and_goes,
        a_transaction_hangs,
        a_whole_group_is_killed,
        a_killed_group_comes_back,
        an_admin_resets_in_an_outage,
        a_batch_stays_away,
    )
}
