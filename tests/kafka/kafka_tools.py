"""What Kafka's own tools say about a running cluster, read from what they print."""

import json
import re
import subprocess
from typing import Final

from tests.kafka.broker import Broker, kafka_command
from tests.kafka.releases import NEWEST

SECONDS: Final = 300
TOPIC: Final = re.compile(r"Topic: (\S+)\s+TopicId: (\S+)\s+PartitionCount: (\d+)")
PARTITION: Final = re.compile(r"Topic: (\S+)\s+Partition: (\d+)\s+Leader: (\d+)")
SETTING: Final = re.compile(r"\s+([\w.]+)=(.*) sensitive=")
GROUP_CONFIGS: Final = re.compile(r"Dynamic configs for group (.+) are:")
NODE: Final = re.compile(r"(\S+):(\d+) \(id: (\d+) rack: ([^\s)]+)")
EARLIEST, LATEST = "-2", "-1"
TOPICS, OFFSETS = "org.apache.kafka.tools.TopicCommand", "org.apache.kafka.tools.GetOffsetShell"
GROUPS = "org.apache.kafka.tools.GroupsCommand"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONFIGS = "org.apache.kafka.tools.ConfigCommand"
CONFIGS_BEFORE_4_4 = "kafka.admin.ConfigCommand"
SHARE_GROUPS = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"


def tool(broker: Broker, main: str, *arguments: str) -> str:
    words = ["--bootstrap-server", broker.bootstrap, *arguments]
    command = kafka_command(broker.release, main, words, options=broker.scratch_options)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def offsets(broker: Broker, time: str) -> dict[tuple[str, int], int]:
    lines = (line.rsplit(":", 2) for line in tool(broker, OFFSETS, "--time", time).splitlines())
    return {(topic, int(partition)): int(offset) for topic, partition, offset in lines}


def topic_ids(broker: Broker) -> dict[str, tuple[str, int]]:
    """Ids and numbers of partitions."""
    return {name: (topic_id, int(number)) for name, topic_id, number in TOPIC.findall(described(broker))}


def leaders(broker: Broker, topic: str) -> dict[int, int]:
    found = PARTITION.findall(described(broker))
    return {int(partition): int(leader) for name, partition, leader in found if name == topic}


def described(broker: Broker) -> str:
    return tool(broker, TOPICS, "--describe")


def configs(broker: Broker, *arguments: str) -> str:
    return tool(broker, CONFIGS if broker.release is NEWEST else CONFIGS_BEFORE_4_4, *arguments)


def settings(broker: Broker) -> dict[str, str]:
    arguments = ["--describe", "--all", "--entity-type", "brokers", "--entity-name", "1"]
    return dict(SETTING.findall(configs(broker, *arguments)))


def set_for_group(broker: Broker, group: str, **settings: int | str) -> None:
    told = ",".join(f"{name.replace('_', '.')}={value}" for name, value in settings.items())
    configs(broker, "--alter", "--entity-type", "groups", "--entity-name", group, "--add-config", told)


def group_settings(broker: Broker) -> dict[str, dict[str, str]]:
    """Of each group that sets some for itself."""
    found: dict[str, dict[str, str]] = {}
    for line in configs(broker, "--describe", "--entity-type", "groups").splitlines():
        if about := GROUP_CONFIGS.match(line):
            own = found.setdefault(about[1], {})
        elif setting := SETTING.match(line):
            own[setting[1]] = setting[2]
    return found


def groups_by_type(broker: Broker) -> dict[str, str]:
    """Names of groups, and of which type they are; a release before 4.0 lists those of consumers alone."""
    main = GROUPS if broker.release.is_modern else CONSUMER_GROUPS
    words = ["--list"] if broker.release.is_modern else ["--list", "--type"]
    rows = [line.split() for line in tool(broker, main, *words).splitlines()[1:]]
    return {row[0]: row[1].lower() for row in rows if len(row) > 1}


def nodes(broker: Broker) -> list[dict[str, object]]:
    package = "org.apache.kafka.tools" if broker.release.is_modern else "kafka.admin"
    found = NODE.findall(tool(broker, f"{package}.BrokerApiVersionsCommand"))
    return [{"id": int(id), "host": host, "port": int(port), "rack": rack} for host, port, id, rack in found]


def start_share_group(broker: Broker, group: str, topic: str) -> None:
    arguments = ["--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute"]
    tool(broker, SHARE_GROUPS, *arguments)


def topics_of_share_groups(broker: Broker) -> set[str]:
    if not broker.release.is_modern:
        return set()
    rows = [line.split() for line in tool(broker, SHARE_GROUPS, "--describe", "--all-groups", "--offsets").splitlines()]
    return {row[1] for row in rows if len(row) > 2 and row[2].isdecimal()}


def delete_records(broker: Broker, topic: str, partition: int, before: int) -> None:
    path = broker.folder / "delete.json"
    one = {"topic": topic, "partition": partition, "offset": before}
    path.write_text(json.dumps({"partitions": [one], "version": 1}))
    tool(broker, DELETE_RECORDS, "--offset-json-file", str(path))


def leader_epochs(broker: Broker) -> dict[tuple[str, int], int]:
    """The last line of each checkpoint that the broker keeps."""
    found = {}
    for path in broker.log_dir.glob("*-*/leader-epoch-checkpoint"):
        topic, _, partition = path.parent.name.rpartition("-")
        entries = path.read_text().splitlines()[2:]
        if entries:
            found[topic, int(partition)] = int(entries[-1].split()[0])
    return found
