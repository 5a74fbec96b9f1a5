"""What `groupscope --version` prints."""

# As in pyproject.toml, which is not in the zip that spark-submit ships.
VERSION = "0.1.0"


def version_line() -> str:
    # Here, since they are for this line alone.
    from schemas.tables import CONTRACT_VERSION
    from udfs.assignors.questions import NEWEST_RELEASE

    kafka = ".".join(map(str, NEWEST_RELEASE[:2]))
    return f"groupscope {VERSION} (contract {CONTRACT_VERSION}, Kafka releases up to {kafka})"
