"""Findings about the log itself: damage, records that nobody can read, holes, sources that have stopped."""

import pytest

from tests.findings.cases import Answer, cases, check

CASES = cases("""
let damage
    rejected_records byte_position=5 reason=bad_crc num_records=3 source_file=f offsets_partition=4
damaged bytes are critical, with the offsets that they held
    damage from_offset=7 to_offset=9 record_offset=1
    > critical damaged_records group_id=- topic=- partition=- evidence=4:7-9 confidence=certain at_time=- num_rows=1
      message="f, byte 5: bad_crc, 3 records"
one damaged record of a live log, estimated
    damage source_file=- num_records=1 is_num_records_estimated=yes
    > critical damaged_records confidence=likely message="a batch of the live log, byte 5: bad_crc, 1 record"
the worst damage is named
    damage num_records=1
    damage num_records=30 byte_position=6
    damage num_records=2 byte_position=7
    > critical damaged_records num_rows=3 message="f, byte 6: bad_crc, 30 records (the worst of 3 like it)"
damage at the first byte counts, whatever its reason
    damage byte_position=0 reason=unknown_record_type
    > critical damaged_records message="f, byte 0: unknown_record_type, 3 records"

let rejected
    rejected_records reason=underrun record_type=2 part=value field=members offsets_partition=4 record_offset=8
a record that no release writes is critical
    rejected
    > critical rejected_records group_id=- evidence=4:8-8 confidence=certain at_time=- topic=- partition=-
      message="record type 2: underrun in its value, field members"
of a rejected record nothing need be known but the reason and where
    rejected record_type=- field=- part=key
    > critical rejected_records message="record type unknown: underrun in its key"
a record of an unknown type or version is of a newer release
    rejected reason=unknown_record_type
    rejected reason=unknown_value_version record_offset=9
    > warning unknown_records num_rows=2 evidence=4:8-8 confidence=certain group_id=- topic=- partition=- at_time=-
      message="record type 2: unknown_record_type (the worst of 2 like it)"
of a record of a newer release the type may be unknown
    rejected reason=unknown_value_version record_type=-
    > warning unknown_records message="record type unknown: unknown_value_version"

a part of the log that was never read lies between two known ones
    history_coverage offsets_partition=4 first_offset=12 last_offset=20
    history_coverage offsets_partition=4 first_offset=0 last_offset=9
    > warning history_hole evidence=4:10-11 confidence=certain group_id=- topic=- partition=- at_time=-
      message="offsets partition 4: offsets 10 to 11 were never read"
the longest hole is named
    history_coverage first_offset=0 last_offset=9
    history_coverage first_offset=12 last_offset=20
    history_coverage first_offset=121 last_offset=130
    > warning history_hole num_rows=2 evidence=0:21-120
      message="offsets partition 0: offsets 21 to 120 were never read (the worst of 2 like it)"
what is known of another offsets partition makes no hole
    history_coverage first_offset=0 last_offset=9
    history_coverage first_offset=12 last_offset=20 offsets_partition=1

let anomaly
    replay_anomalies group_id=g kind=odd message="what it is" record_time=now evidence=2:5-6 confidence=possible
an anomaly has its own severity, and is an event
    anomaly severity=info
    > info replay_anomaly group_id=g topic=- partition=- evidence=2:5-6 confidence=possible at_time=now
      message="odd: what it is"
anomalies of different severities are different findings
    anomaly severity=info
    anomaly severity=critical record_time=-1h
    anomaly severity=critical record_time=-2h
    > critical replay_anomaly num_rows=2 at_time=-1h
    > info replay_anomaly num_rows=1 at_time=now
an anomaly after the as-of time is none yet
    anomaly severity=info record_time=+1s
an anomaly at the end of the time asked for counts
    with since=-2h until=-1h
    anomaly severity=info record_time=-1h
    > info replay_anomaly
an anomaly after the end of the time asked for is left out
    with since=-2h until=-1h
    anomaly severity=info record_time=-59m
an anomaly at the beginning of the time asked for was reported before
    with since=-2h
    anomaly severity=info record_time=-2h
an anomaly without a time still lasts
    with since=-2h
    anomaly severity=info record_time=-
    > info replay_anomaly at_time=-

let log
    history_coverage last_offset=9 to_time=-26h
let end
    topic_snapshots topic=__consumer_offsets partition=0 log_start_offset=0
nothing new came from any source
    log
    end captured_time=-27h log_end_offset=20
    > critical source_not_advancing group_id=- topic=- partition=- evidence=- confidence=certain at_time=-
      message="the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has the source
      stopped?"
without snapshots the log alone says that the source has stopped
    log
    > critical source_not_advancing
      message="the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has the source
      stopped?"
the newer of log and snapshots is named
    log to_time=-30h
    topic_snapshots topic=t captured_time=-26h
    > critical source_not_advancing
      message="the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has the source
      stopped?"
old snapshots alone say that the source has stopped
    topic_snapshots topic=t captured_time=-26h
    > critical source_not_advancing
      message="the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has the source
      stopped?"
a record of exactly so long ago is new enough
    log to_time=-25h
a record of a moment longer ago is too old
    log to_time=-25h-1ms
    > critical source_not_advancing
the newest record of all offsets partitions counts
    log
    log offsets_partition=1 to_time=-1h
a snapshot of exactly so long ago is new enough
    topic_snapshots topic=t captured_time=-25h
a source may be older by the setting
    with max_source_age_hours=26
    log
a source is too old by the setting
    with max_source_age_hours=2
    log to_time=-3h
    > critical source_not_advancing
      message="the newest record or snapshot is of 2026-11-21 00:00:00, more than 2 h before the run: has the source
      stopped?"
with 0 hours no source is too old
    with max_source_age_hours=0
    log to_time=-9d
    end captured_time=-8d log_end_offset=20
    end captured_time=-1h log_end_offset=25
the age is that at the start of the run, whatever the as-of time
    with as_of=-2d started=now
    log
    > critical source_not_advancing
a run that started earlier finds no source too old
    with started=-2h
    log
the log is old and snapshots go on, which do not show how far it goes
    log
    topic_snapshots topic=t captured_time=-1h
    end captured_time=-26h log_end_offset=10
    > critical source_not_advancing evidence=- partition=-
      message="the newest record of the log is of 2026-11-20 01:00:00, more than 25 h before the run, while snapshots
      go on: has the copy of the log stopped?"
snapshots go on and the log has never been read
    topic_snapshots topic=t captured_time=-1h
snapshots confirm that nothing was written
    log
    end captured_time=-1h log_end_offset=10
a snapshot of the moment at which the run starts counts
    log
    end captured_time=now log_end_offset=10
a snapshot of the future says nothing
    log
    end captured_time=-26h log_end_offset=10
    end captured_time=+1s log_end_offset=10
    > critical source_not_advancing
      message="the newest record or snapshot is of 2026-11-20 01:00:00, more than 25 h before the run: has the source
      stopped?"
an offsets partition goes on and its copy does not
    log
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=12
    end captured_time=-1h log_end_offset=15
    > critical source_not_advancing group_id=- topic=- partition=- evidence=0:10-14 confidence=certain at_time=-
      message="offsets partition 0: known up to record 9 of 2026-11-20 01:00:00, but since 2026-11-20 01:00:00
      snapshots show more, 5 by now: has its copy stopped?"
the log is old and one of its partitions goes on
    log to_time=-27h
    end captured_time=-26h log_end_offset=12
    end captured_time=-1h log_end_offset=15
    > critical source_not_advancing evidence=0:10-14
      message="offsets partition 0: known up to record 9 of 2026-11-20 00:00:00, but since 2026-11-20 01:00:00
      snapshots show more, 5 by now: has its copy stopped?"
the copy of an offsets partition is late by one record since exactly so long
    log to_time=now
    end captured_time=-25h log_end_offset=11
the copy of an offsets partition is late by one record
    log to_time=now
    end captured_time=-25h-1s log_end_offset=11
    > critical source_not_advancing evidence=0:10-10
the copy of an offsets partition has every record
    log to_time=now
    end captured_time=-26h log_end_offset=10
another topic has more messages than the offsets partition has records
    log to_time=now
    topic_snapshots topic=t captured_time=-26h log_end_offset=99
an offsets partition has gone on for an hour
    log
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=10
    end captured_time=-1h log_end_offset=15
no record of an offsets partition ever came
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=3
    end captured_time=-1h log_end_offset=3
    > warning source_not_advancing evidence=0:0-2
      message="offsets partition 0: none of its records is known, but since 2026-11-20 01:00:00 snapshots show more, 3
      by now: has its copy stopped?"
all records of an offsets partition were deleted
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=3 log_start_offset=3
    end captured_time=-1h log_end_offset=3 log_start_offset=3
where an offsets partition begins may be unknown
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=3 log_start_offset=-
    > warning source_not_advancing evidence=0:0-2
an empty offsets partition lacks no record
    log offsets_partition=1 to_time=now
    end captured_time=-26h log_end_offset=0 log_start_offset=-
the offsets partition that lacks most is named
    log offsets_partition=0..2 last_offset=9
    log offsets_partition=3 to_time=now
    end captured_time=-26h partition=0 log_end_offset=12
    end captured_time=-26h partition=1 log_end_offset=25
    end captured_time=-26h partition=2 log_end_offset=14
    > critical source_not_advancing num_rows=3 evidence=1:10-24

no snapshot was ever taken
    no topic_snapshots
    > info no_snapshots group_id=- topic=- partition=- evidence=- confidence=certain at_time=- num_rows=1
      message="no snapshot of topics: lag and everything that needs end offsets is unknown; `groupscope capture` takes
      some"
one snapshot is enough
    topic_snapshots topic=t captured_time=now

let unnamed
    ownership_intervals topic=- topic_id=x partition=3 group_id=g evidence=2:5-6 confidence=likely from_time=-1h
of a topic with an owner only the id is known
    unnamed
    > info unnamed_topics group_id=g topic=- partition=3 evidence=2:5-6 confidence=likely at_time=-
      message="topic id x: no record or snapshot has its name"
of a topic not even the id is known
    unnamed topic_id=-
    > info unnamed_topics message="topic id ?: no record or snapshot has its name"
a topic with a name is no finding
    unnamed topic=t
a topic had an owner from the as-of time on, or since nobody knows when
    unnamed from_time=now
    unnamed from_time=- group_id=h
    > info unnamed_topics group_id=g
    > info unnamed_topics group_id=h
a topic has an owner only later
    unnamed from_time=+1s
a topic no longer has an owner
    unnamed to_offset=9 to_time=now
    unnamed to_offset=9 to_time=-
the owner of a topic ends later than the as-of time
    unnamed to_offset=9 to_time=+1s
    > info unnamed_topics
partitions without a name are counted
    unnamed partition=3
    unnamed partition=4
    > info unnamed_topics num_rows=2 partition=-
      message="topic id x: no record or snapshot has its name (the worst of 2 like it, in 2 partitions)"
two rows about one partition name it
    unnamed partition=4
    unnamed partition=4 topic_id=y evidence=2:4-4
    > info unnamed_topics num_rows=2 partition=4 evidence=2:4-4
      message="topic id y: no record or snapshot has its name (the worst of 2 like it)"
""")


@pytest.mark.parametrize("name", CASES)
def test_of_these_rows_these_are_the_findings(name: str, answer: Answer) -> None:
    check(CASES[name], answer)
