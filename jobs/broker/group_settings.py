"""Reads the settings that groups have of their own. Any broker knows them for all groups."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from jobs.broker.cluster import KafkaCluster
from jobs.broker.errors import error_name
from jobs.broker.groups import FORBIDDEN, parts

GROUP_RESOURCE: Final = 32
# The source of a value that is set for the group itself, not for the brokers.
OF_THE_GROUP: Final = 8
# The response of a broker without group settings.
INVALID_REQUEST: Final = 42


def group_settings(
    cluster: KafkaCluster, groups: Collection[str], names: Sequence[str], left_out: dict[str, list[str]]
) -> dict[str, dict[str, str]] | None:
    """Settings of each group; None: the brokers have no such settings. Groups that it may not read go to `left_out`, by
    reason."""
    by_group: dict[str, dict[str, str]] = {}
    for part in parts(sorted(groups)):
        results = config_results(cluster, part, names)
        if all(each.error_code == INVALID_REQUEST for each in results):
            return None
        for each in results:
            if each.error_code:
                left_out.setdefault(reason(each.error_code), []).append(each.resource_name)
            else:
                by_group[each.resource_name] = own_settings(each.configs, names)
    return by_group


def config_results(cluster: KafkaCluster, groups: Sequence[str], names: Sequence[str]) -> Sequence[Any]:
    from kafka.protocol.admin import DescribeConfigsRequest

    resource = DescribeConfigsRequest.DescribeConfigsResource
    resources = [
        resource(resource_type=GROUP_RESOURCE, resource_name=group, configuration_keys=list(names)) for group in groups
    ]
    results: Sequence[Any] = cluster.ask(DescribeConfigsRequest(resources=resources)).results
    return results


def own_settings(configs: Sequence[Any], names: Sequence[str]) -> dict[str, str]:
    own = {each.name: each.value for each in configs if each.config_source == OF_THE_GROUP}
    return {name: own[name] for name in names if own.get(name) is not None}


def reason(code: int) -> str:
    return (
        "the Kafka user has no DESCRIBE_CONFIGS permission on these groups" if code == FORBIDDEN else error_name(code)
    )
