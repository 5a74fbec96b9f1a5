"""A real broker with a listener of every kind, users, and permissions."""

import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from tests.kafka.access.certificates import Authority, Issued
from tests.kafka.broker import START_SECONDS, Broker, free_ports, kafka_command
from tests.kafka.releases import NEWEST

# Name of the listener, its protocol.
LISTENERS: Final = {
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "LOGIN": "SASL_PLAINTEXT",
    "TLSLOGIN": "SASL_SSL",
    "STRANGER": "SSL",
    "SCRAMONLY": "SASL_PLAINTEXT",
}
# A user of PLAIN is named in a line of words, one of SCRAM can have any name.
PLAIN_USER: Final = "alice"
SCRAM_USER: Final = "al=ice,b"
# Whose characters would end a field, a string or a line somewhere.
PASSWORD: Final = 'pa"ss\\wörd; =,#'
GUEST: Final = "guest"
# After which the listener of SCRAM alone wants a client to log in again.
SESSION_MS: Final = 1500
MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
MODULES: Final = "org.apache.kafka.common.security"


@dataclass
class Secured:
    broker: Broker
    ports: dict[str, int]
    authority: Authority
    stranger: Authority
    own: Issued
    client: Issued

    def address(self, listener):
        return f"127.0.0.1:{self.ports[listener]}"

    def tool(self, main, *arguments):
        """What one of Kafka's own tools says, over the plain listener, as the super user."""
        command = kafka_command(self.broker.release, main, ["--bootstrap-server", self.broker.bootstrap, *arguments])
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=START_SECONDS)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def secured(folder):
    with ExitStack() as held:
        port, controller_port, *others = free_ports(2 + len(LISTENERS))
        ports = dict(zip(LISTENERS, others, strict=True))
        authority, stranger = (Authority(folder / name, name) for name in ("known", "stranger"))
        node = folder / "node"
        node.mkdir()
        broker = Broker(NEWEST, node, port, controller_port)
        broker.format()
        held.callback(broker.stop)
        own, client = authority.issued("broker", "IP:127.0.0.1"), authority.issued("client", "DNS:client")
        result = Secured(broker, ports, authority, stranger, own, client)
        broker.start(properties(result))
        add_user(result, folder)
        yield result


def properties(secured):
    broker = secured.broker
    ours = {name: f"{name}://{secured.address(name)}" for name in LISTENERS}
    plain = f"PLAINTEXT://{broker.bootstrap}"
    result = {
        "listeners": ",".join([plain, *ours.values(), f"CONTROLLER://127.0.0.1:{broker.controller_port}"]),
        "advertised.listeners": ",".join([plain, *ours.values()]),
        "listener.security.protocol.map": ",".join(
            ["PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT", *(f"{name}:{kind}" for name, kind in LISTENERS.items())]
        ),
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(secured.own.store),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(secured.authority.certificate),
        "listener.name.mutual.ssl.client.auth": "required",
        # Good for another host, by an authority that nobody trusts.
        "listener.name.stranger.ssl.keystore.type": "PEM",
        "listener.name.stranger.ssl.keystore.location": str(secured.stranger.issued("broker", "DNS:elsewhere").store),
        "listener.name.scramonly.connections.max.reauth.ms": str(SESSION_MS),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:ANONYMOUS;User:CN=client;User:{PLAIN_USER};User:{SCRAM_USER}",
    }
    users = f'user_{PLAIN_USER}={quoted(PASSWORD)} user_{GUEST}="{GUEST}"'
    modules = {"PLAIN": f"{MODULES}.plain.PlainLoginModule required {users};"}
    modules |= dict.fromkeys(MECHANISMS[1:], f"{MODULES}.scram.ScramLoginModule required;")
    for name, offered in (("login", MECHANISMS), ("tlslogin", MECHANISMS), ("scramonly", MECHANISMS[1:])):
        result[f"listener.name.{name}.sasl.enabled.mechanisms"] = ",".join(offered)
        for mechanism in offered:
            result[f"listener.name.{name}.{mechanism.lower()}.sasl.jaas.config"] = modules[mechanism]
    return {name: property_text(value) for name, value in result.items()}


def quoted(text):
    """In a line of JAAS."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def property_text(value):
    """In a file of properties."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n")
    return "".join(character if character.isascii() else utf_16(character) for character in escaped)


def utf_16(character):
    units = character.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def add_user(secured, folder):
    entity = ["--entity-type", "users", "--entity-name", SCRAM_USER]
    for name in MECHANISMS[1:]:
        config = client_file(folder / "user.properties", {name: f"password={PASSWORD}"})
        secured.tool("org.apache.kafka.tools.ConfigCommand", "--alter", "--add-config-file", str(config), *entity)


def client_file(path, values):
    path.write_text("".join(f"{name}={property_text(value)}\n" for name, value in values.items()))
    return path


def login(mechanism, user=None, password=PASSWORD):
    """The properties of a client that logs in."""
    kind, name = (
        ("plain.PlainLoginModule", PLAIN_USER) if mechanism == "PLAIN" else ("scram.ScramLoginModule", SCRAM_USER)
    )
    options = f"username={quoted(user or name)} password={quoted(password)}"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{MODULES}.{kind} required {options};"}
