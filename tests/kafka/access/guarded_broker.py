"""A broker whose ACLs hide everything that is not granted."""

import argparse
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
)

from tests.kafka.access.secured_broker import GUEST, Secured
from tests.kafka.admin import admin_of

Right = tuple[str, ...]
ACLS, CONFIGS = "org.apache.kafka.tools.AclCommand", "org.apache.kafka.tools.ConfigCommand"
SETTLING_SECONDS = 120


@dataclass(frozen=True)
class Guarded:
    """A cluster with groups, and a user who has what the page grants."""

    secured: Secured
    properties: Path

    @property
    def broker(self):
        return self.secured.broker

    @property
    def source(self):
        address = self.secured.address("LOGIN")
        return ("--source", f"kafka:{address}", "--command-config", str(self.properties))

    @property
    def source_of_all(self):
        """As somebody who may do everything."""
        return ("--source", f"kafka:{self.broker.bootstrap}")

    def grant(self, right):
        """As the page says."""
        with self.changing(len(acls_of(right))):
            self.secured.tool(ACLS, "--add", "--allow-principal", f"User:{GUEST}", *right)

    def add(self, right):
        """Without the tool, which takes a second to start."""
        acls = acls_of(right)
        with self.changing(len(acls)), admin_of(self.broker) as admin:
            admin.create_acls(acls)

    def remove(self, right):
        acls = acls_of(right)
        with self.changing(-len(acls)), admin_of(self.broker) as admin:
            admin.delete_acls(acls)

    @contextmanager
    def changing(self, number):
        """What is asked for takes effect a little later."""
        expected = num_rights(self.broker) + number
        yield
        deadline = time.monotonic() + SETTLING_SECONDS
        while num_rights(self.broker) != expected:
            assert time.monotonic() < deadline, f"no such rights at {self.broker.bootstrap} after {SETTLING_SECONDS} s"
            time.sleep(0.05)

    @contextmanager
    def without(self, right):
        self.remove(right)
        try:
            yield
        finally:
            self.add(right)

    @contextmanager
    def having(self, right):
        self.add(right)
        try:
            yield
        finally:
            self.remove(right)


def num_rights(broker):
    """That the broker acts on."""
    everything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    wanted = ACLFilter(f"User:{GUEST}", None, ACLOperation.ANY, ACLPermissionType.ANY, everything)
    with admin_of(broker) as admin:
        result, _ = admin.describe_acls(wanted)
        return len(result)


def acls_of(right):
    """What `kafka-acls` makes of these flags."""
    flags = argparse.ArgumentParser()
    flags.add_argument("--operation", required=True)
    flags.add_argument("--topic", action="append", default=[])
    flags.add_argument("--group", action="append", default=[])
    flags.add_argument("--cluster", action="store_true")
    flags.add_argument("--resource-pattern-type", default="literal")
    given = flags.parse_args(right)
    places = [
        *((ResourceType.TOPIC, name) for name in given.topic),
        *((ResourceType.GROUP, name) for name in given.group),
    ]
    places += [(ResourceType.CLUSTER, "kafka-cluster")] if given.cluster else []
    operation = ACLOperation[re.sub(r"(?<=[a-z])(?=[A-Z])", "_", given.operation).upper()]
    kind = ACLResourcePatternType[given.resource_pattern_type.upper()]
    return [
        ACL(f"User:{GUEST}", "*", operation, ACLPermissionType.ALLOW, ResourcePattern(type_, name, kind))
        for type_, name in places
    ]
