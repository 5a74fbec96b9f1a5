"""All targets, by name."""

from collections.abc import Mapping, Sequence

from tests.fuzz.framing_target import FramingTarget
from tests.fuzz.payload_target import PayloadTarget
from tests.fuzz.record_target import RecordTarget
from tests.fuzz.target import Target
from tests.fuzz.text_targets import ArchiveTarget, PropertiesTarget, SnapshotTarget, SpecTarget


def targets(logs: Sequence[bytes]) -> Mapping[str, Target]:
    """`logs`: bytes of segments that brokers wrote, to start from."""
    result = (
        *(FramingTarget(logs), RecordTarget(logs), PayloadTarget(logs), ArchiveTarget(logs)),
        *(SnapshotTarget(), SpecTarget(), PropertiesTarget()),
    )
    return {target.name: target for target in result}
