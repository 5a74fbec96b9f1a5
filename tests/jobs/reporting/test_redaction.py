"""A redacted report: no name of the cluster is in it, and it still says what happened."""

import html
import json
import re
from pathlib import Path

import pytest

from jobs import cli
from jobs.redacting.redaction import Redaction
from jobs.warehouses.any_warehouse import reading
from tests.builders.warehouses.for_reports import FINDING, judged, state
from tests.builders.warehouses.hostile_names import NAMES
from tests.builders.warehouses.hostile_report import hostile_warehouse
from tests.oracles.pages.documents import detail_of, document_at, rows_of

# Where names of groups, members, clients, hosts and topics are, and texts that users chose.
NAMED = {
    "classic_group_metadata": ("group_id", "leader"),
    "group_member_metadata": ("group_id", "member_id", "client_id", "client_host", "subscribed_topic_regex"),
    "group_state_intervals": ("group_id",),
    "membership_intervals": ("group_id", "member_id", "client_id", "client_host", "group_instance_id", "rack_id"),
    "offset_commits": ("group_id", "topic", "topic_id", "metadata"),
    "source_files": ("cluster", "source_file"),
    "topics": ("topic", "topic_id"),
}
# Names in the sample that are words of ours too.
ALSO_WORDS = {
    "again",
    "converted",
    "expired",
    "inventory",
    "lines",
    "one",
    "transactional",
    "two",
    "__consumer_offsets",
}
KEY = b"0123456789abcdef"
HASH = "id-[0-9a-f]{14}"
STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "NotReady")


def redacted(warehouse: Path, folder: Path, *flags: str) -> str:
    words = ["report", "--warehouse", str(warehouse), "--report", str(folder), "--redact", *flags]
    assert cli.main(words) == 0
    pages = sorted(folder.rglob("*.html"))
    documents = [document_at(page) for page in pages]
    details = [detail_of(document, group) for document in documents for group in document["details"]]
    return "".join([*(page.read_text() for page in pages), *(json.dumps(each, ensure_ascii=False) for each in details)])


def names_of(warehouse: Path) -> set[str]:
    result: set[str] = set()
    for table, columns in NAMED.items():
        rows = reading(str(warehouse)).rows(table, columns)
        assert rows is not None
        result.update(name for column in columns for name in rows.column(column).to_pylist() if name)
    # Texts of ours have hosts without Java's slash.
    return result | {name.removeprefix("/") for name in result}


def occurs(name: str, text: str) -> bool:
    # Most do not, which is seen much sooner without a pattern.
    return name in text and re.search(rf"(?<![0-9A-Za-z]){re.escape(name)}(?![0-9A-Za-z])", text) is not None


def test_no_name_of_the_sample_is_in_its_redacted_report(audited_sample: Path, tmp_path: Path) -> None:
    text = html.unescape(redacted(audited_sample, tmp_path / "r"))
    names = names_of(audited_sample)
    assert len(names) > 100
    assert {name for name in names if occurs(name, text)} <= ALSO_WORDS | {"sample"}
    assert str(audited_sample) not in text
    document = document_at(tmp_path / "r" / "index.html")
    about = document["about"]
    assert about["is_redacted"] and about["warehouse"] == "WAREHOUSE" and re.fullmatch(HASH, about["cluster"])
    # It still says what happened; a command that names a hash would find nothing.
    down, stopped, *_ = rows_of(document["findings"])
    who = rf"{HASH} at {HASH}, {HASH} at {HASH}"
    assert re.match(rf"its last 2 members timed out at 2026-11-21T17:39:03Z \({who}\)", down["message"])
    assert re.match(rf"{HASH}-3: no commit for 2 min 50 s", stopped["message"])
    assert down["dump"] is None and down["next"] is None
    assert len(document["details"]) > 20
    for group in document["details"]:
        detail = detail_of(document, group)
        assert detail["why"] is None and re.fullmatch(HASH, group)
        assert {*detail.get("states", {"state": []})["state"]} <= {"Stable", "Empty", "Dead", *STATES}
    # Words of ours and of Kafka stay, in rows and in statements.
    assert '"OffsetCommit"' in text and "kind = 'expired'" in text and "created again" in text


def test_hostile_names_are_redacted_too(tmp_path: Path) -> None:
    hostile_warehouse(tmp_path / "w", NAMES)
    text = html.unescape(redacted(tmp_path / "w", tmp_path / "r"))
    seen = {name for name in NAMES if name.strip() and name != "-rf" and name[:200] in text}
    assert seen == set()
    assert "pwned" not in text


def test_an_assignor_of_users_is_a_name_and_one_of_kafka_a_word(tmp_path: Path) -> None:
    assignors = ("com.acme.Orders", "cooperative-sticky")
    message = "made by com.acme.Orders, before by cooperative-sticky"
    judged(
        tmp_path / "w",
        {
            "findings": [FINDING | {"group_id": "a", "message": message}],
            "group_state_intervals": [state(name[0], assignor=name) for name in assignors],
        },
    )
    text = redacted(tmp_path / "w", tmp_path / "r")
    assert "acme" not in text
    assert re.search("made by id-[0-9a-f]{14}, before by cooperative-sticky", text)


def test_one_key_makes_reports_that_can_be_compared_and_none_makes_each_another(tmp_path: Path) -> None:
    hostile_warehouse(tmp_path / "w", NAMES[:3])
    (tmp_path / "key").write_bytes(KEY + b"\n")
    flags = ("--redact-key", str(tmp_path / "key"))
    assert redacted(tmp_path / "w", tmp_path / "a", *flags) == redacted(tmp_path / "w", tmp_path / "b", *flags)
    assert redacted(tmp_path / "w", tmp_path / "c") != redacted(tmp_path / "w", tmp_path / "d")


def test_redacted_reports_of_one_folder_are_of_one_cluster_as_far_as_hashes_show(tmp_path: Path) -> None:
    hostile_warehouse(tmp_path / "w", NAMES[:1])
    (tmp_path / "key").write_bytes(KEY)
    (tmp_path / "other").write_bytes(KEY[::-1])
    words = ["report", "--warehouse", str(tmp_path / "w"), "--report", str(tmp_path / "r")]
    for flags, code in (
        ((), 0),
        # The report of the cluster itself is known by its name.
        (("--redact", "--redact-key", str(tmp_path / "key")), 0),
        (("--redact", "--redact-key", str(tmp_path / "key")), 0),
        (("--redact", "--redact-key", str(tmp_path / "other")), 2),
        ((), 2),
        # Others may compare its hashes: those of a key that nobody keeps would end that unseen.
        (("--redact",), 2),
    ):
        assert cli.main([*words, *flags]) == code, flags


def test_a_report_redacted_without_a_key_file_replaces_one_of_its_kind_and_none_of_a_key_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile_warehouse(tmp_path / "w", NAMES[:1])
    (tmp_path / "key").write_bytes(KEY)
    words = ["report", "--warehouse", str(tmp_path / "w"), "--redact"]
    assert [cli.main([*words, "--report", str(tmp_path / "r")]) for _ in range(2)] == [0, 0]
    kept = [*words, "--report", str(tmp_path / "kept")]
    assert cli.main([*kept, "--redact-key", str(tmp_path / "key")]) == 0
    before = (tmp_path / "kept" / "index.html").read_bytes()
    capsys.readouterr()
    assert cli.main(kept) == 2
    (line,) = capsys.readouterr().err.splitlines()
    expected = "holds a report redacted with a key file; add --redact-key FILE, or choose another folder"
    assert line == f"groupscope: --report {tmp_path / 'kept'}: {expected}"
    assert (tmp_path / "kept" / "index.html").read_bytes() == before


def test_a_hash_is_an_hmac_of_the_name() -> None:
    """Test case 2 of RFC 4231."""
    assert Redaction(b"Jefe", ()).name("what do ya want for nothing?") == "id-5bdcc146bf6075"
    assert Redaction(b"Jefe", ()).name("") == ""


DOTS = ".".join("x" * 200)
NAMES_OF_TEXTS = ("orders", "orders-eu", "it's", "/10.0.0.7", "<b>", "日本", "a\x1bb", "1", "a\\b'c", DOTS)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders-3: no commit", "[orders]-3: no commit"),
        ("orders-eu-3 and orders", "[orders-eu]-3 and [orders]"),
        ("reorders v_orders", "reorders v_orders"),
        ("WHERE g = 'it''s' OR g = 'orders'", "WHERE g = '[it's]' OR g = '[orders]'"),
        ("member (10.0.0.7) at /10.0.0.7", "member ([/10.0.0.7]) at [/10.0.0.7]"),
        ("x <b>日本</b> 日本語", "x [<b>][日本]</b> 日本語"),
        ("said a\\x1bb, said a\x1bb", "said [a\x1bb], said [a\x1bb]"),
        ("1 of 12 moved", "[1] of 12 moved"),
        ("WHERE g = url_decode('a%5Cb''c') OR g = url_decode('x')", "WHERE g = '[a\\b'c]' OR g = url_decode('x')"),
        (f"{DOTS}-3 moved", f"[{DOTS}]-3 moved"),
    ],
)
def test_names_in_texts_are_replaced_the_longest_first(text: str, shown: str) -> None:
    redaction = Redaction(KEY, NAMES_OF_TEXTS)
    for name in NAMES_OF_TEXTS:
        shown = shown.replace(f"[{name}]", redaction.name(name))
    assert redaction.text(text) == shown


def test_columns_that_are_not_known_are_names_and_bytes_are_left_out() -> None:
    redaction = Redaction(KEY, ["orders"])
    row = {
        "state": "Stable", "message": "orders", "column_of_tomorrow": "Stable", "num": 3, "key_bytes": b"orders",
        "assigned": [{"topic": "orders", "partitions": [0]}], "members_joined": ["m", None],
        "trigger_detail": "members orders timed out",
    }  # fmt: skip
    hashed = redaction.name
    assert redaction.rows([row]) == [{
        "state": "Stable", "message": hashed("orders"), "column_of_tomorrow": hashed("Stable"), "num": 3,
        "key_bytes": None, "assigned": [{"topic": hashed("orders"), "partitions": [0]}],
        "members_joined": [hashed("m"), None], "trigger_detail": f"members {hashed('orders')} timed out",
    }]  # fmt: skip
