"""Reads the TLS and SASL settings of a client properties file, and refuses by name those it cannot apply.

No message contains a value that may be secret.
"""

import re
import ssl
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from jobs.output.failure import Failure
from schemas.words.exit_codes import ExitCode

PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
TLS_VERSIONS: Final = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}

HONOURED: Final = frozenset(
    {
        "security.protocol",
        "ssl.truststore.type",
        "ssl.truststore.location",
        "ssl.truststore.certificates",
        "ssl.keystore.type",
        "ssl.keystore.location",
        "ssl.keystore.key",
        "ssl.keystore.certificate.chain",
        "ssl.key.password",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "sasl.mechanism",
        "sasl.jaas.config",
    }
)
# Properties of Java's implementation, or of other mechanisms.
WITHOUT_MEANING: Final = re.compile(
    r"ssl\.(truststore|keystore)\.password|ssl\.protocol|ssl\.(keymanager|trustmanager)\.algorithm"
    r"|ssl\.secure\.random\.implementation|sasl\.kerberos\..*|sasl\.oauthbearer\..*"
    r"|sasl\.login\.(refresh|retry|connect|read)\..*"
)
EXPORT: Final = {
    "truststore": "keytool -list -rfc -keystore FILE > ca.pem",
    "keystore": "keytool -importkeystore -srckeystore FILE -destkeystore client.p12 -deststoretype PKCS12; "
    "openssl pkcs12 -in client.p12 -out client.pem",
}
# No block contains the beginning of another: a file of thousands of them without an end would take a minute.
PEM_BLOCK: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----((?:(?!-----BEGIN ).)*?)-----END \1-----", re.DOTALL)

# As in java.io.StreamTokenizer, with which Kafka reads such a line. A line break ends what is in quotes, and text that
# begins like a number is not a word. A single slash hides the character after it too, also a line break, and then the
# line that this character begins.
JAAS_BLANK: Final = re.compile(r"(?:[\0- ]|/\*.*?(?:\*/|\Z)|//[^\r\n]*|/.?[^\r\n]*)*", re.DOTALL)
JAAS_TOKEN: Final = re.compile(
    r"""(?:"((?:\\.|[^"\\\r\n])*)(?:"|(?=[\r\n]))|'((?:\\.|[^'\\\r\n])*)(?:'|(?=[\r\n]))"""
    r"""|((?![0-9.-])[a-zA-Z0-9_.$\xa0-\U0010ffff-]+)|([=;]))""",
    re.DOTALL,
)
JAAS_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})
JAAS_ESCAPE: Final = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
JAAS_ESCAPED: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True)
class Credentials:
    mechanism: str
    username: str
    password: str = field(repr=False)


@dataclass(frozen=True)
class Security:
    protocol: str
    # None: no TLS.
    context: ssl.SSLContext | None = field(repr=False)
    # None: no SASL.
    credentials: Credentials | None


def security(values: Mapping[str, str]) -> Security:
    protocol = protocol_of(values)
    return Security(
        protocol,
        tls_context(values) if "SSL" in protocol else None,
        credentials(values) if "SASL" in protocol else None,
    )


def bad_property(name: str, why: str) -> Failure:
    return Failure(ExitCode.UNREADABLE_INPUT, f"client property {name}: {why}")


def protocol_of(values: Mapping[str, str]) -> str:
    protocol = values.get("security.protocol", "PLAINTEXT").strip().upper()
    if protocol not in PROTOCOLS:
        raise bad_property("security.protocol", f"must be one of {', '.join(PROTOCOLS)}, is {protocol!r}")
    return protocol


def refuse_unknown(values: Mapping[str, str]) -> None:
    """Refuses properties of the protocol in use that cannot be applied: ignoring a cipher would be wrong, unless it is
    unused."""
    protocol = protocol_of(values)
    families = ["security."] + ["ssl."] * ("SSL" in protocol) + ["sasl."] * ("SASL" in protocol)
    for name, value in values.items():
        is_plain = name in HONOURED or WITHOUT_MEANING.fullmatch(name) or not value.strip()
        if name.startswith(tuple(families)) and not is_plain:
            raise bad_property(name, "not supported; leave it out if the cluster can do without it")


def portable(values: Mapping[str, str]) -> dict[str, str]:
    """The same with the contents of PEM files: tasks may run where the files are not."""
    settings = dict(values)
    if "SSL" not in protocol_of(values):
        return settings
    for store, name in (("truststore", "ssl.truststore.certificates"), ("keystore", "ssl.keystore.key")):
        location = settings.pop(f"ssl.{store}.location", "").strip()
        if not location:
            continue
        content = store_content(store, location, values)
        settings[f"ssl.{store}.type"] = "PEM"
        settings[name] = content
        if store == "keystore":
            settings["ssl.keystore.certificate.chain"] = content
    return settings


def store_content(store: str, location: str, values: Mapping[str, str]) -> str:
    name = f"ssl.{store}.location"
    try:
        content = Path(location).read_bytes()
    except OSError as error:
        raise bad_property(name, f"{location}: {error.strerror or type(error).__name__}") from error
    kind = values.get(f"ssl.{store}.type", "").strip().upper()
    is_pem = b"-----BEGIN " in content
    if kind not in {"", "PEM"} or not is_pem:
        what = "holds no PEM" if kind == "PEM" else f"{kind or 'JKS'} stores cannot be read"
        raise bad_property(name, f"{location}: {what}; export it ({EXPORT[store]}) and set ssl.{store}.type=PEM")
    return content.decode("ascii", "replace")


def tls_context(values: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    versions = tls_versions(values.get("ssl.enabled.protocols", ""))
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    # Java trusts every certificate in the store, even if it is not a root.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    identification = values.get("ssl.endpoint.identification.algorithm", "https").strip()
    if identification.lower() not in {"https", ""}:
        raise bad_property("ssl.endpoint.identification.algorithm", f"{identification!r} is neither https nor empty")
    context.check_hostname = bool(identification)
    trust(context, values.get("ssl.truststore.certificates", ""))
    identify(context, values)
    return context


def tls_versions(enabled: str) -> list[ssl.TLSVersion]:
    names = [name.strip() for name in enabled.split(",") if name.strip()] or list(TLS_VERSIONS)
    known = [TLS_VERSIONS[name] for name in names if name in TLS_VERSIONS]
    if not known:
        raise bad_property("ssl.enabled.protocols", f"{enabled!r} names none of {', '.join(TLS_VERSIONS)}")
    return known


def trust(context: ssl.SSLContext, certificates: str) -> None:
    if not certificates.strip():
        return context.load_default_certs()
    try:
        context.load_verify_locations(cadata=pem(certificates, "CERTIFICATE"))
    except (ssl.SSLError, ValueError) as error:
        raise bad_property("ssl.truststore.certificates", "holds no certificate that can be read") from error


def identify(context: ssl.SSLContext, values: Mapping[str, str]) -> None:
    """Loads the client's own certificate, if it has one."""
    key = pem(values.get("ssl.keystore.key", ""), "PRIVATE KEY")
    chain = pem(values.get("ssl.keystore.certificate.chain", ""), "CERTIFICATE")
    if not key and not chain:
        if values.get("ssl.keystore.key", "").strip():
            raise bad_property("ssl.keystore.key", "holds no private key in PEM")
        return
    if not key or not chain:
        name, what = ("ssl.keystore.certificate.chain", "certificate") if key else ("ssl.keystore.key", "private key")
        raise bad_property(name, f"holds no {what} in PEM")
    # The library reads them only from files. This file can be read only by its owner, and is deleted at once.
    with tempfile.NamedTemporaryFile("w", encoding="ascii", prefix="groupscope-") as file:
        file.write(key + chain)
        file.flush()
        try:
            # Never empty: an empty one would cause a prompt on the terminal.
            context.load_cert_chain(file.name, password=values.get("ssl.key.password", "") or "none")
        except (ssl.SSLError, ValueError) as error:
            is_mismatch = isinstance(error, ssl.SSLError) and error.reason == "KEY_VALUES_MISMATCH"
            wrong = "this private key does not belong to the first certificate of ssl.keystore.certificate.chain"
            why = wrong if is_mismatch else "cannot be read: is ssl.key.password right?"
            raise bad_property("ssl.keystore.key", why) from error


def pem(text: str, label: str) -> str:
    """Blocks whose label ends like this. In a property on one line, spaces replace the line breaks."""
    blocks = []
    for name, body in PEM_BLOCK.findall(text):
        if name.endswith(label):
            # A line such as `Proc-Type: 4,ENCRYPTED` needs its own line breaks.
            lines = body.strip() if ":" in body else "\n".join(body.split())
            blocks.append(f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----\n")
    return "".join(blocks)


def credentials(values: Mapping[str, str]) -> Credentials:
    # Java's default, which would need a ticket.
    mechanism = values.get("sasl.mechanism", "GSSAPI").strip().upper()
    if mechanism not in MECHANISMS:
        raise bad_property("sasl.mechanism", f"{mechanism!r} is not supported, only {', '.join(MECHANISMS)}")
    options = jaas_options(values.get("sasl.jaas.config", ""))
    if options.get("tokenauth", "false").lower() == "true":
        raise bad_property("sasl.jaas.config", "tokenauth is not supported")
    missing = [name for name in ("username", "password") if name not in options]
    if missing:
        raise bad_property("sasl.jaas.config", f"has no {missing[0]}")
    return Credentials(mechanism, options["username"], options["password"])


def jaas_options(line: str) -> dict[str, str]:
    """Options of "a.LoginModule required name="value" …;": a client may give only these."""
    words, signs = jaas_tokens(line)
    pairs = words[2:]
    # After the first two words, each option is a name, a sign and a value.
    is_whole = signs == "ww" + "w=w" * (len(pairs) // 2) + ";"
    if not is_whole or words[1].lower() not in JAAS_FLAGS:
        raise bad_property("sasl.jaas.config", 'is not of the form: MODULE required username="…" password="…";')
    return dict(zip(pairs[::2], pairs[1::2], strict=True))


def jaas_tokens(line: str) -> tuple[list[str], str]:
    """The words, and the order of words (`w`) and signs; both empty if there is anything else."""
    words, signs, at = [], "", jaas_blank(line, 0)
    while at < len(line):
        match = JAAS_TOKEN.match(line, at)
        if match is None:
            return [], ""
        at = jaas_blank(line, match.end())
        double, single, word, sign = match.groups()
        signs += sign or "w"
        if not sign:
            words.append(word or jaas_unescaped(double or single or ""))
    return words, signs


def jaas_blank(line: str, at: int) -> int:
    """The position of the next token."""
    match = JAAS_BLANK.match(line, at)
    assert match is not None
    return match.end()


def jaas_unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        with suppress(ValueError):
            return chr(int(escape, 8))
        return JAAS_ESCAPED.get(escape, escape)

    return JAAS_ESCAPE.sub(character, text)
