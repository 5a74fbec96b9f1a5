"""Files of client properties are read as Kafka's own tools read them, and give no secret away."""

import pickle
import ssl
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from jobs.broker.client_properties import ClientProperties, client_properties, entries
from jobs.broker.client_security import jaas_options, pem, security
from jobs.output.failure import Failure
from jobs.spark.jars import jar_folder
from tests.kafka.java_programs import compile_java, java_command
from tests.kafka.releases import NEWEST

SECRET = "s3cret-of-nobody"
PIECES = ["a", "key", "=", ":", " ", "\t", "\f", "\\", "\\\\", "\\\n", "\\\r\n", "\n", "\r", "#", "!", "\\u00e4", "é"]
PIECES += ["\\ud83d\\udddd", "\\:", "\\=", "\\ ", "\\n", "\\t", "\\q", "", "value", "\n  more", "\\\n  more"]
JAAS_PIECES = ['"', "'", "\\\\", "=", ";", " ", "a.b.Module", "required", "optional", "username", "pass-word_$1", ","]
JAAS_PIECES += ['username="x"', 'password="a\\\\"b"', "password='c d'", "\\\\n", "\\\\101", "ü", ".", "/", "x=y", "1"]
JAAS_PIECES += ["/*", "*/", "/", "//", "\\n"]
JAAS_WHOLE = 'org.x.Module required username="u{}" password="{}";'


def properties_text(rng: np.random.Generator) -> str:
    return "".join(rng.choice(PIECES, rng.integers(1, 40)))


def jaas_text(rng: np.random.Generator) -> str:
    inner = "".join(rng.choice(JAAS_PIECES, rng.integers(0, 8)))
    shape = rng.integers(3)
    line = inner if shape == 0 else JAAS_WHOLE.format(*(inner if at == shape else "p" for at in (1, 2)))
    return f"sasl.jaas.config={line}\n"


def by_java(lines: list[str]) -> list[dict[str, str] | None]:
    def pairs(line: str) -> dict[str, str] | None:
        if line == "wrong":
            return None
        words = [bytes.fromhex(word[1:]).decode("utf-16-be", "replace") for word in line.split()[1:]]
        return dict(zip(words[::2], words[1::2], strict=True))

    return [pairs(line) for line in lines]


def read(path: Path) -> dict[str, str] | None:
    try:
        return dict(entries(path.read_bytes().decode("iso-8859-1")))
    except ValueError:
        return None


def named(values: dict[str, str] | None) -> dict[str, str] | None:
    """Where a file ends in a line that goes on, Java may add a property without a name."""
    return values and {name: value for name, value in values.items() if name}


def options(values: dict[str, str] | None) -> dict[str, str] | None:
    try:
        return None if values is None else jaas_options(values["sasl.jaas.config"])
    except (Failure, KeyError):
        return None


@pytest.mark.broker
def test_files_are_read_as_kafka_reads_them(tmp_path: Path, rng: np.random.Generator) -> None:
    texts = [properties_text(rng) for _ in range(1500)] + [jaas_text(rng) for _ in range(1500)]
    texts += ["bad=\\u12", "a\\", "", "a", "=b", "a==b", "a = = b ", "a\\\n#b", "# c\\\nd=e"]
    jaas_lines = [JAAS_WHOLE.format("/*//\\n;/\\n;", "p"), "m required username=\\u00a0\\u00d7\\u00b2 password=p;"]
    texts += [f"sasl.jaas.config={line}\n" for line in jaas_lines]
    paths = [tmp_path / f"{at}.properties" for at in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text.encode("iso-8859-1"))
    jars = [jar_folder(jar_set) for jar_set in NEWEST.jar_sets]
    program = compile_java([Path(__file__).with_name("ClientProperties.java")], jars)
    command = java_command("ClientProperties", [program, *jars], [str(path) for path in paths])
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    for text, path, java, jaas in zip(texts, paths, by_java(said[::2]), by_java(said[1::2]), strict=True):
        assert named(read(path)) == named(java), text
        # Java takes modules, flags and options that no client of ours could use; whatever both take is the same.
        ours = options(java)
        assert ours is None or ours == jaas, text
        assert jaas is None or ours is not None or "username" not in jaas, text


def test_secrets_are_in_no_repr_and_survive_the_way_to_a_task(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(f'sasl.jaas.config=m required username="u" password="{SECRET}";\nssl.key.password={SECRET}\n')
    properties = client_properties(path)
    assert SECRET not in repr(properties)
    assert SECRET not in str(properties)
    assert pickle.loads(pickle.dumps(properties)) == properties
    made = security(properties.values | {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"})
    assert made.credentials is not None
    assert made.credentials.password == SECRET
    assert SECRET not in repr(made)


def test_without_a_file_nothing_is_set() -> None:
    assert client_properties(None) == ClientProperties({})
    assert security({}).protocol == "PLAINTEXT"


@pytest.mark.parametrize(
    ("enabled", "versions"),
    [("", ("1_2", "1_3")), ("TLSv1.2", ("1_2", "1_2")), ("TLSv1.1, TLSv1.3", ("1_3", "1_3"))],
)
def test_versions_of_tls_are_those_enabled_and_never_older_ones(enabled: str, versions: tuple[str, str]) -> None:
    context = security({"security.protocol": "SSL", "ssl.enabled.protocols": enabled}).context
    assert context is not None
    result = (context.minimum_version, context.maximum_version)
    assert result == tuple(ssl.TLSVersion[f"TLSv{version}"] for version in versions)


TLS, LOGIN = "security.protocol=SSL\n", "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "security.protocol=TLS\n",
            "client property security.protocol: must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, is 'TLS'",
        ),
        (TLS + f"ssl.cipher.suites={SECRET}", "client property ssl.cipher.suites: not supported"),
        (TLS + f"ssl.provider={SECRET}", "client property ssl.provider: not supported"),
        (TLS + f"ssl.engine.factory.class={SECRET}", "client property ssl.engine.factory.class: not supported"),
        (LOGIN + f"sasl.login.class={SECRET}", "client property sasl.login.class: not supported"),
        (LOGIN + f"sasl.client.callback.handler.class={SECRET}", "client property sasl.client.callback.handler.class"),
        (f"security.providers={SECRET}", "client property security.providers: not supported"),
        (TLS + "ssl.truststore.location=/no/such", "ssl.truststore.location: /no/such: No such file"),
        (TLS + "ssl.enabled.protocols=TLSv1.1", "ssl.enabled.protocols: 'TLSv1.1' names none of TLSv1.2, TLSv1.3"),
        (TLS + "ssl.endpoint.identification.algorithm=ldap", "'ldap' is neither https nor empty"),
        (TLS + f"ssl.truststore.certificates={SECRET}", "ssl.truststore.certificates: holds no certificate"),
        (TLS + f"ssl.keystore.key={SECRET}", "ssl.keystore.key: holds no private key in PEM"),
        (LOGIN, "sasl.jaas.config: is not of the form"),
        (LOGIN + f"sasl.jaas.config={SECRET}", "sasl.jaas.config: is not of the form"),
        (LOGIN + f'sasl.jaas.config=m required password="{SECRET}";', "sasl.jaas.config: has no username"),
        (LOGIN + 'sasl.jaas.config=m required username="a";', "sasl.jaas.config: has no password"),
        (LOGIN + 'sasl.jaas.config=m required tokenauth="true";', "sasl.jaas.config: tokenauth"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER", "'OAUTHBEARER' is not supported, only PLAIN"),
        ("security.protocol=SASL_SSL\n", "'GSSAPI' is not supported, only PLAIN"),
        (f"ssl.key.password={SECRET}\\u1", "ssl.key.password: \\u without four hexadecimal digits"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name_and_without_its_value(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)
    with pytest.raises(Failure) as failed:
        security(client_properties(path).values)
    assert said in str(failed.value)
    assert SECRET not in str(failed.value)
    assert "\n" not in str(failed.value)
    assert failed.value.code == 21


@pytest.mark.parametrize(
    "text",
    [
        "ssl.cipher.suites=X\nsasl.login.class=Y\nsasl.mechanism=GSSAPI\nssl.truststore.location=/no/such",
        "group.id=g\nauto.offset.reset=earliest\nmax.poll.records=7\nclient.id=x\nretries=3",
        TLS + "ssl.keystore.password=x\nssl.truststore.password=y\nssl.protocol=TLSv1.3\nssl.cipher.suites=",
        "security.protocol=plaintext \n",
    ],
)
def test_what_does_not_matter_is_ignored(tmp_path: Path, text: str) -> None:
    path = tmp_path / "client.properties"
    path.write_text(text)
    security(client_properties(path).values)


@pytest.mark.parametrize("store", ["truststore", "keystore"])
@pytest.mark.parametrize("kind", ["", "JKS", "PKCS12"])
def test_java_stores_are_refused_with_the_way_out(tmp_path: Path, store: str, kind: str) -> None:
    (tmp_path / "store.jks").write_bytes(b"\xfe\xed\xfe\xed\0\0\0\2")
    path = tmp_path / "client.properties"
    path.write_text(f"{TLS}ssl.{store}.type={kind}\nssl.{store}.location={tmp_path}/store.jks\n")
    with pytest.raises(Failure, match=rf"ssl.{store}.location: .*store.jks: {kind or 'JKS'} stores .*keytool.*PEM"):
        client_properties(path)


def test_a_file_that_is_absent_or_a_number_that_is_none_is_reported(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="client properties /no/such: No such file or directory"):
        client_properties(Path("/no/such"))
    wrong = ClientProperties({"default.api.timeout.ms": "soon"})
    with pytest.raises(Failure, match=r"default\.api\.timeout\.ms: 'soon' is no number of milliseconds"):
        wrong.seconds("default.api.timeout.ms")
    assert ClientProperties().seconds("default.api.timeout.ms") == 60


@pytest.mark.parametrize("number", ["2147483648", "606060606060606060000", "9" * 5000, "-1"])
def test_milliseconds_beyond_an_int_of_java_are_refused(number: str) -> None:
    with pytest.raises(Failure, match=r"request\.timeout\.ms: '.*' is no number of milliseconds from 0 to 2147483647"):
        ClientProperties({"request.timeout.ms": number}).seconds("request.timeout.ms")


def test_milliseconds_up_to_the_largest_int_of_java_are_read() -> None:
    assert ClientProperties({"request.timeout.ms": "0002147483647"}).seconds("request.timeout.ms") == 2147483.647


def test_blocks_without_an_end_take_time_in_proportion_to_their_bytes() -> None:
    started = time.process_time()
    assert pem("-----BEGIN PRIVATE KEY-----\n" * 50_000, "PRIVATE KEY") == ""
    block = "-----BEGIN B KEY-----\nx\n-----END B KEY-----\n"
    assert pem(f"-----BEGIN A KEY-----\n{block}", "KEY") == block
    with pytest.raises(Failure, match="is not of the form"):
        jaas_options("/*\n" * 50_000)
    assert time.process_time() - started < 3


def test_a_comment_without_an_end_hides_all_that_follows() -> None:
    """As java.io.StreamTokenizer reads it."""
    with pytest.raises(Failure, match="is not of the form"):
        jaas_options('M required username="a" password="b" /* open\n;')
