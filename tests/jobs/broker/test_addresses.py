"""Addresses of brokers on the command line: what is none is wrong usage, whatever the command."""

from pathlib import Path

import pytest

from jobs import cli
from jobs.broker.cluster import addresses
from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode
from tests.kafka.broker import free_ports

WRONG = {
    "foo": "foo", "host:notaport": "host:notaport", ":9092": ":9092", "h:0": "h:0", "h:70000": "h:70000", "h:": "h:",
    "h:-1": "h:-1", "h:9_0": "h:9_0", "h:٩٠٩٢": "h:٩٠٩٢", "a:1,b:x": "b:x", "a:1,,b:2": "", ",": "", "[]:1": "[]:1",
    "//h:9092": "//h:9092", "PLAINTEXT://h:9092": "PLAINTEXT://h:9092", "a b:1": "a b:1", "ada@h:1": "ada@h:1",
    "h:" + "9" * 5_000: "h:" + "9" * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("servers", WRONG, ids=lambda servers: servers[:20])
def test_what_is_no_address_is_wrong_usage(servers: str) -> None:
    with pytest.raises(Failure) as failed:
        addresses(servers)
    line = "is no HOST:PORT; give the host and port of a broker, such as broker-1:9092"
    assert str(failed.value) == f"--source kafka:{servers}: {WRONG[servers]!r} {line}"
    assert failed.value.code == ExitCode.USAGE


def test_addresses_are_taken_apart() -> None:
    nodes = addresses("h:1, broker-1.example:09092,127.0.0.1:65535,[::1]:9092,a..b:2")
    assert [(node.host, node.port) for node in nodes] == [
        ("h", 1), ("broker-1.example", 9092), ("127.0.0.1", 65535), ("::1", 9092), ("a..b", 2)
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["audit", "ingest", "capture"])
def test_every_command_ends_with_2_and_where_nobody_answers_with_21(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (port,), place = free_ports(1), ("--warehouse", str(tmp_path / "w"))
    assert cli.main([command, "--source", "kafka:localhost", *place]) == ExitCode.USAGE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("groupscope: --source kafka:localhost: 'localhost' is no HOST:PORT; give ")
    properties = tmp_path / "client.properties"
    properties.write_text("default.api.timeout.ms=50\n")
    words = [command, "--source", f"kafka:127.0.0.1:{port}", "--command-config", str(properties), *place]
    assert cli.main(words) == ExitCode.UNREADABLE_INPUT
    assert "connection refused" in capsys.readouterr().err
