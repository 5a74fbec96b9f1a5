"""The commands: what each is for, in the order and under the headings of `groupscope --help`."""

SECTIONS = {
    "Ask about the past": {
        "groups": "list groups at any time, as kafka-consumer-groups --list does",
        "describe": "show a group at any time, as kafka-consumer-groups --describe does",
        "rebalances": "show a group's timeline: rebalances, restarts, failovers",
        "why": "explain a rebalance: cause, members, partitions, unread time, evidence",
        "owner": "show who owned a partition at any time",
        "diff": "compare a group at two times",
        "offsets": "print committed offsets at any time, as CSV for a reset",
        "whatif": "show what another assignor would assign",
        "sql": "query every table, view and function",
    },
    "Keep a warehouse up to date": {
        "audit": "run every step and judge the result: the job to schedule",
        "ingest": "read the offsets topic into Delta tables",
        "replay": "rebuild the history of groups, owners and offsets",
        "assignments": "compare recorded assignments with those of Kafka's assignors",
        "lag": "measure lag, verdicts, resets and expiry",
        "gate": "judge all tables, list findings; or record a validated span of data",
        "report": "write the HTML report",
        "capture": "take snapshots of a live cluster: end offsets, brokers, settings",
        "doctor": "check a warehouse and say how to repair it",
    },
    "Work without a warehouse": {
        "dump": "print decoded records of segment files",
        "assign": "answer assignment questions as Kafka's assignors do",
        "completion": "print the completion script of a shell",
    },
}
COMMANDS = {name: summary for commands in SECTIONS.values() for name, summary in commands.items()}

# Those that take names as arguments. Kafka lets a name begin with a hyphen.
NAMES = frozenset({"describe", "rebalances", "why", "owner", "diff", "offsets", "whatif"})
# Unless something makes them start Spark.
WITHOUT_PANDAS = NAMES | {"groups", "assign", "doctor", "report"}
# On the local engine.
JOBS = frozenset({"audit", "ingest", "replay", "assignments", "lag", "gate"})

EXAMPLES = (
    "groupscope audit --source segments:/var/lib/kafka",
    "groupscope groups --state Empty",
    "groupscope why billing --at 2026-11-21T03:00",
    "groupscope help why",
)
