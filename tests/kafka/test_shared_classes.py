"""Kafka's programs take their classes from the archive: were the classpath to change, each would parse them anew."""

import subprocess

import pytest

from tests.kafka.broker import kafka_command
from tests.kafka.releases import RELEASES
from tests.kafka.shared_classes import archived

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("release", RELEASES)
def test_a_tool_takes_its_classes_from_the_archive(release: str) -> None:
    if not archived(RELEASES[release]).exists():
        pytest.skip("this Java has no archive of its own classes to add to")
    options = ["-Xlog:class+load"]
    command = kafka_command(RELEASES[release], "kafka.tools.StorageTool", ["random-uuid"], options=options)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "org.apache.kafka.common.Uuid source: shared objects file (top)" in done.stdout
