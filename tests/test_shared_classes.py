"""Programs take their classes from the archive: were the classpath to change, each would parse them anew."""

import os
import subprocess

import pytest

from jobs.spark.java import java_home
from tests import shared_classes
from tests.builders.storages.mini_hdfs import mini_hdfs
from tests.kafka.broker import kafka_command
from tests.kafka.releases import RELEASES
from tests.short_lived_java import SPARK_HOME, spark_flags

SKIPPED = "this Java has no archive of its own classes to add to"


@pytest.mark.broker
@pytest.mark.drawn(2)
@pytest.mark.parametrize("release", RELEASES)
def test_a_tool_of_kafka_takes_its_classes_from_the_archive(release):
    if not shared_classes.of_broker(RELEASES[release]).exists():
        pytest.skip(SKIPPED)
    options = ["-Xlog:class+load"]
    command = kafka_command(RELEASES[release], "kafka.tools.StorageTool", ["random-uuid"], options=options)
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert "org.apache.kafka.common.Uuid source: shared objects file (top)" in done.stdout


@pytest.mark.spark
def test_hdfs_takes_its_classes_from_the_archive(tmp_path):
    if not shared_classes.of_hdfs().exists():
        pytest.skip(SKIPPED)
    with mini_hdfs(tmp_path / "cluster", options=["-Xlog:class+load"]):
        said = (tmp_path / "cluster" / "log.txt").read_text()
    assert "org.apache.hadoop.hdfs.MiniDFSCluster source: shared objects file (top)" in said


@pytest.mark.spark
def test_spark_takes_its_classes_from_the_archive():
    if not shared_classes.of_executors().exists():
        pytest.skip(SKIPPED)
    variables = {"JAVA_HOME": str(java_home()), "SPARK_SUBMIT_OPTS": f"{spark_flags()} -Xlog:class+load"}
    command = [SPARK_HOME / "bin" / "spark-submit", "--version"]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, check=False, timeout=120
    )
    assert "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)" in done.stdout, done.stderr
