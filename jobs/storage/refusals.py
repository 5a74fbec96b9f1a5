"""What a storage refused, as an OSError of one line that names the place, the reason and the remedy, and no secret.

Messages of the libraries repeat requests, and requests may hold keys: only what is known to be harmless is taken of
them.
"""

import errno
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeGuard

from deltalake.exceptions import DeltaError, TableNotFoundError

from jobs.output.failure import Failure, os_error_line
from jobs.storage.calls.answers import NoAnswer
from jobs.storage.calls.processes import ForkedError
from schemas.words.exit_codes import ExitCode

STATUS = re.compile(r"status code:?\W+(?:\[\d+m\W*)?(\d{3} [A-Za-z ]+)|\b([45]\d\d [A-Z][a-z]+(?: [A-Z][A-Za-z]+)*)")
CODE = re.compile(r"<Code>(\w+)</Code>")
NO_BUCKET = re.compile("NoSuchBucket|ContainerNotFound|FilesystemNotFound|specified bucket does not exist")
NO_ANSWER = re.compile("error sending request|HTTP error|timed out|operation timed|Connection refused|connection error")
# Of a name node that ended while a client was connected to it.
LOST_CONNECTION = re.compile("RPC listener disconnected")
SAFE_MODE = re.compile("SafeModeException|in safe mode", re.IGNORECASE)
FORBIDDEN = re.compile(
    "40[13] |AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|PermissionDenied|Unauthenticated|"
    # Of a name node.
    "AccessControlException"
)
NO_KEYS = re.compile(
    "CredentialsNotLoaded|no providers in chain|credential provider|metadata endpoint|instance metadata"
)
# How delta-rs begins what it says of files of a table's log that it has read.
OF_CONTENT = re.compile("Kernel error: (?!Error interacting with object store)")
COLOUR = re.compile("\x1b\\[[0-9;]*m")
URL = re.compile(r"\w+://\S+")
JAVA_CLASS = re.compile(r"\b(?:org|java)\.[\w.]+?\.(\w+Exception)")


def refusal(error: BaseException, place: str, seconds: float) -> OSError:
    """`seconds`: for how long it was tried."""
    refused = known_refusal(error, place, seconds)
    return OSError(errno.EIO, harmless(str(error)) or type(error).__name__, place) if refused is None else refused


def known_refusal(error: BaseException, place: str, seconds: float) -> OSError | None:
    """None: nothing that is known of storages."""
    text = COLOUR.sub("", str(error))
    if isinstance(error, NoAnswer):
        remedy = "check that it runs, then run it again (a server that is only slow: raise [storage] answer_seconds)"
        return OSError(errno.EIO, f"no answer from the server for {error.seconds:g} s: {remedy}", place)
    if isinstance(error, FileExistsError) or type(error).__name__ in ("AlreadyExistsError", "PreconditionError"):
        return FileExistsError(errno.EEXIST, "is there already", place)
    if NO_BUCKET.search(text):
        line = "no such bucket or container; give one that is there"
        return OSError(errno.ENXIO, line, place)
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, "no such file", place)
    if isinstance(error, PermissionError) or FORBIDDEN.search(f"{type(error).__name__} {text}"):
        line = (
            f"permission denied{status_text(text)}: check the access key or Kerberos ticket, and its permissions there"
        )
        return PermissionError(errno.EACCES, line, place)
    if NO_KEYS.search(text):
        return PermissionError(errno.EACCES, "no credentials: set those of the storage, or [storage] options", place)
    if status_text(text):
        line = f"the server refuses{status_text(text)}, tried for {seconds:g} s: try again later, or look into its log"
        return OSError(errno.EIO, line, place)
    if NO_ANSWER.search(text) or isinstance(error, TimeoutError | ConnectionError):
        line = f"no answer from the server, tried for {seconds:g} s: check the endpoint, and that the server runs"
        return OSError(errno.EIO, line, place)
    if SAFE_MODE.search(text):
        return OSError(errno.EIO, "the name node is in safe mode, as it is after a start: run it again later", place)
    if LOST_CONNECTION.search(text):
        return OSError(errno.EIO, "the server closed the connection: check that it runs, then run it again", place)
    return None


def is_refusal(error: BaseException) -> TypeGuard[OSError]:
    """Whether it says all that there is to say: a storage that refuses or does not answer has no damaged files. A file
    that is not there was lost."""
    return isinstance(error, OSError) and bool(error.filename) and not isinstance(error, FileNotFoundError)


class Refused(Failure):
    """Ends a command where a warehouse's storage refuses or does not answer: nothing of the warehouse is damaged."""


def refusal_of_warehouse(error: BaseException, place: object) -> Refused | None:
    return Refused(ExitCode.UNUSABLE_WAREHOUSE, os_error_line(error, place)) if is_refusal(error) else None


def raise_refusal(error: BaseException, place: object) -> None:
    """Call it before an error is reported as damage: a storage that refuses or does not answer has lost nothing."""
    if (refusal := refusal_of_warehouse(error, place)) is not None:
        raise refusal from error


def status_text(text: str) -> str:
    """Status and code that a server gave."""
    status, code = STATUS.search(text), CODE.search(text)
    parts = [next(group for group in status.groups() if group).strip()] if status else []
    parts += [code[1]] if code else []
    return f" ({', '.join(parts)})" if parts else ""


def harmless(text: str) -> str:
    """Its first line, without the requests that it repeats."""
    first = next((line for line in COLOUR.sub("", text).splitlines() if line.strip()), "")
    return URL.sub("…", JAVA_CLASS.sub(r"\1", first)).strip()[:200]


@contextmanager
def refusals_as_failures(place: str, seconds: float) -> Iterator[None]:
    try:
        yield
    except ForkedError:
        raise
    except Exception as error:
        raise refusal(error, place, seconds) from None


@contextmanager
def reword_delta_failures(place: str, seconds: float) -> Iterator[None]:
    """Around what delta-rs does: its messages take several lines and repeat requests. What it says of the content of
    files is no refusal: they are damaged."""
    try:
        yield
    except TableNotFoundError:
        raise
    except (OSError, DeltaError) as error:
        if OF_CONTENT.match(str(error)) and known_refusal(error, place, seconds) is None:
            raise DeltaError(harmless(str(error))) from None
        raise refusal(error, place, seconds) from None
