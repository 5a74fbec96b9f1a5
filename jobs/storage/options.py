"""How storages are reached: options by the names of the usual environment variables, from there or from settings.

They are read once, where a command runs, and go to workers inside what is pickled for them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

# As object stores' own tools name them; others of the same beginning mean nothing to us.
NAMES = {
    "aws": (
        *("access_key_id", "secret_access_key", "session_token", "region", "default_region", "endpoint_url"),
        *("allow_http", "virtual_hosted_style_request", "skip_signature", "role_arn", "role_session_name"),
        *("web_identity_token_file", "container_credentials_relative_uri", "container_credentials_full_uri"),
        *("container_authorization_token_file", "server_side_encryption", "sse_kms_key_id", "request_payer"),
    ),
    "google": ("service_account", "service_account_key", "application_credentials", "skip_signature"),
    "azure": (
        *("storage_account_name", "storage_account_key", "storage_sas_token", "storage_token", "client_id"),
        *("client_secret", "tenant_id", "authority_host", "federated_token_file", "use_azure_cli", "msi_endpoint"),
        *("storage_use_emulator",),
    ),
}
KNOWN = frozenset(f"{prefix}_{name}" for prefix, names in NAMES.items() for name in names)
# Those of Hadoop's files go to HDFS as they are.
OF_HADOOP = re.compile(r"(fs|dfs|hadoop)\.[\w.-]+")

RETRY_SECONDS = 30
ANSWER_SECONDS = 120
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class StorageOptions:
    """Hashable, and silent: values may be secrets."""

    values: Pairs = field(default=(), repr=False)
    # For how long one request is tried again.
    retry_seconds: int = RETRY_SECONDS
    # How long HDFS may take for the answer to one request.
    answer_seconds: int = ANSWER_SECONDS

    def of(self, prefix: str) -> dict[str, str]:
        return {name: value for name, value in self.values if name.startswith(f"{prefix}_")}

    def of_hadoop(self) -> dict[str, str]:
        return {name: value for name, value in self.values if OF_HADOOP.fullmatch(name)}


def is_known(name: str) -> bool:
    return name in KNOWN or OF_HADOOP.fullmatch(name) is not None


def storage_options(
    settings: Iterable[tuple[str, str]],
    environment: Mapping[str, str],
    hadoop: Mapping[str, str],
    retry_seconds: int = RETRY_SECONDS,
    answer_seconds: int = ANSWER_SECONDS,
) -> StorageOptions:
    """Settings win over those of the Spark application, these over the environment."""
    from_environment = ((name.lower(), value) for name, value in environment.items() if name.lower() in KNOWN)
    values = dict(chain(from_environment, options_of_hadoop(hadoop).items(), settings))
    return StorageOptions(tuple(sorted(values.items())), retry_seconds, answer_seconds)


# Hadoop's names of the same things, without `spark.hadoop.`.
HADOOP_NAMES = {
    "fs.s3a.access.key": "aws_access_key_id",
    "fs.s3a.secret.key": "aws_secret_access_key",
    "fs.s3a.session.token": "aws_session_token",
    "fs.s3a.endpoint.region": "aws_region",
    "fs.s3a.assumed.role.arn": "aws_role_arn",
    "fs.gs.auth.service.account.json.keyfile": "google_service_account",
    "google.cloud.auth.service.account.json.keyfile": "google_service_account",
    "fs.azure.account.oauth2.client.id": "azure_client_id",
    "fs.azure.account.oauth2.client.secret": "azure_client_secret",
}
# The name of an account may follow these.
OF_ACCOUNT = {
    "fs.azure.account.key": "azure_storage_account_key",
    "fs.azure.sas.fixed.token": "azure_storage_sas_token",
}
TENANT = re.compile(r"https://login\.microsoftonline\.com/([^/]+)/")


def options_of_hadoop(conf: Mapping[str, str]) -> dict[str, str]:
    """Of a Spark application's `spark.hadoop.*`, by their meaning; HDFS's own as they are."""
    options: dict[str, str] = {}
    plain = {name.removeprefix("spark.hadoop."): value for name, value in conf.items()}
    for name, value in plain.items():
        if name in HADOOP_NAMES:
            options[HADOOP_NAMES[name]] = value
        elif name.startswith(("dfs.", "fs.viewfs.", "hadoop.")):
            options[name] = value
        for beginning, meaning in OF_ACCOUNT.items():
            if name.startswith(beginning):
                options[meaning] = value
                options |= account(name.removeprefix(beginning))
        if name.startswith("fs.azure.account.oauth2.client.endpoint") and (tenant := TENANT.match(value)):
            options["azure_tenant_id"] = tenant[1]
    return options | endpoint(plain)


def account(host: str) -> dict[str, str]:
    return {"azure_storage_account_name": host.strip(".").split(".")[0]} if host.strip(".") else {}


def endpoint(conf: Mapping[str, str]) -> dict[str, str]:
    """Hadoop's endpoint need not say how it speaks."""
    options: dict[str, str] = {}
    is_secure = conf.get("fs.s3a.connection.ssl.enabled", "true").lower() != "false"
    if host := conf.get("fs.s3a.endpoint"):
        url = host if "://" in host else f"{'https' if is_secure else 'http'}://{host}"
        options["aws_endpoint_url"] = url
        if url.startswith("http:"):
            options["aws_allow_http"] = "true"
    if style := conf.get("fs.s3a.path.style.access"):
        options["aws_virtual_hosted_style_request"] = "false" if style.lower() == "true" else "true"
    return options
