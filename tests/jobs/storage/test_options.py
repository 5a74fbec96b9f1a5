"""Options of storages come from where people keep them, and stay silent."""

import pickle

import pytest

from jobs.configuration.settings import load_settings, settings_hash
from jobs.output.failure import Failure
from jobs.storage.options import StorageOptions, options_of_hadoop, storage_options


def test_settings_win_over_the_application_and_that_over_the_environment():
    environment = {
        "AWS_REGION": "eu-1",
        "AWS_ACCESS_KEY_ID": "env",
        "AWS_SECRET_ACCESS_KEY": "env",
        "AWS_PAGER": "less",
    }
    hadoop = {"spark.hadoop.fs.s3a.access.key": "spark", "spark.hadoop.fs.s3a.secret.key": "spark"}
    result = storage_options([("aws_access_key_id", "file")], environment, hadoop, 7)
    assert result.of("aws") == {
        "aws_access_key_id": "file",
        "aws_secret_access_key": "spark",
        "aws_region": "eu-1",
    }
    assert result.retry_seconds == 7
    assert pickle.loads(pickle.dumps(result)) == result


@pytest.mark.parametrize(
    ("hadoop", "options"),
    [
        (
            {
                "fs.s3a.endpoint": "minio:9000",
                "fs.s3a.connection.ssl.enabled": "false",
                "fs.s3a.path.style.access": "true",
            },
            {
                "aws_endpoint_url": "http://minio:9000",
                "aws_allow_http": "true",
                "aws_virtual_hosted_style_request": "false",
            },
        ),
        ({"fs.s3a.endpoint": "s3.eu-1.amazonaws.com"}, {"aws_endpoint_url": "https://s3.eu-1.amazonaws.com"}),
        ({"fs.s3a.session.token": "t", "fs.s3a.endpoint.region": "r"}, {"aws_session_token": "t", "aws_region": "r"}),
        ({"fs.gs.auth.service.account.json.keyfile": "/k.json"}, {"google_service_account": "/k.json"}),
        (
            {"fs.azure.account.key.logs.dfs.core.windows.net": "k"},
            {"azure_storage_account_key": "k", "azure_storage_account_name": "logs"},
        ),
        (
            {
                "fs.azure.account.oauth2.client.id": "i",
                "fs.azure.account.oauth2.client.secret": "s",
                "fs.azure.account.oauth2.client.endpoint": "https://login.microsoftonline.com/tenant/oauth2/token",
            },
            {"azure_client_id": "i", "azure_client_secret": "s", "azure_tenant_id": "tenant"},
        ),
        ({"dfs.nameservices": "prod", "fs.defaultFS": "hdfs://prod"}, {"dfs.nameservices": "prod"}),
        ({"spark.executor.memory": "1g"}, {}),
    ],
)
def test_hadoops_names(hadoop, options):
    assert options_of_hadoop({f"spark.hadoop.{name}": value for name, value in hadoop.items()}) == options


def test_options_stand_in_the_settings_and_change_no_hash(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('[storage]\noptions = { aws_region = "eu-1", "dfs.nameservices" = "a" }\nretry_seconds = 5\n')
    settings = load_settings(path)
    assert settings.storage.options == (("aws_region", "eu-1"), ("dfs.nameservices", "a"))
    assert "eu-1" not in repr(settings)
    path.write_text("")
    assert settings_hash(settings) == settings_hash(load_settings(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{ aws_secret_acess_key = "KEY" }',
            "aws_secret_acess_key: no such option, the nearest is aws_secret_access_key",
        ),
        ("{ aws_secret_access_key = 123454321 }", "aws_secret_access_key: its value is not a string"),
        ('"KEY"', "give a table with a string for each option"),
    ],
)
def test_a_wrong_option_is_reported_by_its_name_only(tmp_path, text, message):
    path = tmp_path / "own.toml"
    path.write_text(f"[storage]\noptions = {text}\n")
    with pytest.raises(Failure) as refused:
        load_settings(path)
    assert str(refused.value).startswith(f"{path}: [storage] options = …; give a table with a string for each option")
    assert str(refused.value).endswith(message)
    assert "KEY" not in str(refused.value)
    assert "123454321" not in str(refused.value)


def test_only_what_a_storage_knows_reaches_it():
    options = StorageOptions((("aws_region", "r"), ("azure_client_id", "i"), ("dfs.nameservices", "n")))
    assert (options.of("aws"), options.of_hadoop()) == ({"aws_region": "r"}, {"dfs.nameservices": "n"})
