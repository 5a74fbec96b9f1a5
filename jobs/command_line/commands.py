"""The commands with one line about each, in the order and under the headings of `groupscope --help`."""

SECTIONS = {
    "Ask about the past": {
        "status": "show on one screen what is wrong now: groups, resets, storms, checks, coverage",
        "groups": "list the groups at any past time, like kafka-consumer-groups --list",
        "describe": "show a group at any past time, like kafka-consumer-groups --describe",
        "rebalances": "show a group's timeline: rebalances, restarts, failovers, silences",
        "why": "explain what is wrong with a group, and a rebalance: cause, members, partitions, unread time, evidence",
        "owner": "show which member owned a partition at any past time",
        "partition": "show a group's offsets partition and coordinator, and until when the partition was read",
        "diff": "compare a group at two times",
        "offsets": "print the offsets committed at a past time, as CSV for an offset reset",
        "whatif": "compute the assignment with another assignor, other members or more partitions",
        "sql": "query the tables, views and functions with SQL",
    },
    "Keep a warehouse up to date": {
        "audit": "run ingest, replay, assignments, lag, gate and report: the job to schedule",
        "ingest": "read the offsets topic into Delta tables",
        "replay": "rebuild the history of groups, owners and offsets",
        "assignments": "check whether Kafka's assignors compute the assignments in the log",
        "lag": "compute lag and a lag verdict for each partition; detect offset resets and expiring offsets",
        "gate": "list findings about groups, worst first; with --span: record that you validated data",
        "report": "write the HTML report",
        "capture": "take snapshots of a live cluster: end offsets, brokers, settings",
        "mark": "keep a mark of a deployment or change: why, rebalances and the report show what happened soon after",
        "maintain": "merge small files, drop old closed history, delete unneeded files",
        "doctor": "check the warehouse's own files and say how to repair them",
    },
    "Work without a warehouse": {
        "dump": "print decoded records of segment files",
        "assign": "compute an assignment as Kafka's assignors do, from JSON",
        "completion": "print a script for shell completion",
    },
}
COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}

# Commands with group or topic names as arguments. Kafka lets a name begin with a hyphen.
NAMES = frozenset({"status", "describe", "rebalances", "why", "owner", "partition", "diff", "offsets", "whatif"})
# Commands of a single step.
READERS = NAMES | {"groups"}
# Commands that need no pandas unless they start Spark.
WITHOUT_PANDAS = READERS | {"assign", "doctor", "mark", "report"}
# Jobs that the local engine can run.
JOBS = frozenset({"audit", "ingest", "replay", "assignments", "lag", "gate", "maintain"})

EXAMPLES = (
    "groupscope audit --source segments:/var/lib/kafka",
    "groupscope groups --state Empty",
    "groupscope why billing --at 2026-11-21T03:00",
    "groupscope help why",
)
