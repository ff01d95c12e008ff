"""A client of Cupel's HTTP API, for Python 3.9 and newer, with the standard library alone.

Made by scripts/python-client from the service's OpenAPI document: change that script or
scripts/python-client-base.py, not this file.

    client = Client("https://cupel.example.com:8443", token_file="cupel-token", ca_file="site-ca.pem")
    for node in client.list_nodes(rack="a01"):
        print(node["name"])

Each call asks on a connection of its own, over TLS that is verified or over a Unix socket. It follows no redirect and
uses no proxy. What comes back is bounded by max_answer bytes, and each wait by timeout seconds. Errors are CupelError.
"""
from __future__ import annotations

import http.client
import json
import os
import socket
import ssl
import stat
import time
import urllib.parse
import uuid
from typing import Any, Callable, Dict, Generic, List, Literal, Optional, TypedDict, TypeVar, Union

_MOST_TOKEN = 16 << 10  # bytes
_MOST_TEXT = 10_000  # characters of a message
_MOST_PAGES = 1_000_000
_SILENCE = 45.0  # seconds; a stream has a comment each 15
_MOST_LOSSES = 10  # of a stream's connection, one behind the other
_LONGEST_PAUSE = 30.0  # seconds between them

T = TypeVar("T")


class CupelError(Exception):
    """What a call of this module ends with where it does not do what it says."""


class NoAnswer(CupelError):
    """The service was not reached, did not answer in time, or has a certificate that is not trusted.

    A POST may have been done: with the same idempotency_key it is done once, however often it is sent.
    """

    idempotency_key: Optional[str] = None


class BadAnswer(CupelError):
    """The answer is none of Cupel, or is larger than max_answer."""


class ProblemError(CupelError):
    """The service answered with a problem (RFC 9457)."""

    def __init__(self, status: int, problem: Dict[str, Any], retry_after: Optional[str]):
        errors = problem.get("errors")
        self.status = status
        self.code = printable(problem.get("code"))  # stable
        self.title = printable(problem.get("title"))
        self.detail = printable(problem.get("detail")) or f"HTTP {status}"
        self.errors = [  # every wrong value
            {"where": printable(each.get("where")), "what": printable(each.get("what"))}
            for each in (errors if isinstance(errors, list) else [])
            if isinstance(each, dict)
        ]
        seconds = retry_after or ""
        self.retry_after = int(seconds) if seconds.isdecimal() and len(seconds) < 10 else None
        others = [f"{each['where']}: {each['what']}" for each in self.errors if each["what"] not in self.detail]
        super().__init__("; ".join([self.detail, *others]))


def printable(text: Any) -> str:
    """Without what is not seen on a terminal, or acts there."""
    return "".join(c for c in text[:_MOST_TEXT] if c.isprintable()) if isinstance(text, str) else ""


def _value_of(text: bytes) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(text.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(f"the answer is no JSON: {printable(str(error))}") from None


def _part(value: Union[str, int]) -> str:
    return urllib.parse.quote(str(value), safe="")


def _query_of(values: Dict[str, Any]) -> str:
    """None is absent."""
    words = {True: "true", False: "false"}
    given = {
        name: words[value] if isinstance(value, bool) else value for name, value in values.items() if value is not None
    }
    return "?" + urllib.parse.urlencode(given) if given else ""


def _token_in(path: str) -> str:
    """The first line of the file, which no other user may read and its group may not change."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(_MOST_TOKEN + 1) if stat.S_ISREG(mode) else b""
    except OSError as error:
        raise CupelError(f"{path}: {error.strerror}") from None
    if mode & 0o027:
        raise CupelError(f"{path}: other users may read or change it; run chmod 600 on it")
    token = text.split(b"\n", 1)[0].strip().decode("ascii", "replace")
    return _sound_token(token, f"the first line of {path}")


def _sound_token(token: str, named: str) -> str:
    if not 0 < len(token) <= _MOST_TOKEN or not all("!" <= c <= "~" for c in token):
        raise CupelError(f"{named} is no token; make one with cupel token add NAME --role viewer")
    return token


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Items(Generic[T]):
    """All items of a list; each page is asked for when it is reached."""

    def __init__(self, ask: Callable[[Optional[str]], Any]):
        self._ask = ask
        self._page: List[T] = []
        self._cursor: Optional[str] = None
        self._pages = 0
        self._is_last = False
        #: Whether the service ended a page before it had looked at all that there is: ask again later.
        self.incomplete = False

    def __iter__(self) -> Items[T]:
        return self

    def __next__(self) -> T:
        while not self._page:
            if self._is_last:
                raise StopIteration
            self._turn()
        return self._page.pop()

    def _turn(self) -> None:
        page = self._ask(self._cursor)
        items = page.get("items") if isinstance(page, dict) else None
        following = page.get("next") if isinstance(page, dict) else None
        self._pages += 1
        has_end = following != self._cursor or following is None
        if not isinstance(items, list) or not isinstance(following, (str, type(None))):
            raise BadAnswer("the answer is no list")
        if not has_end or self._pages > _MOST_PAGES:
            raise BadAnswer("the list has no end")
        self.incomplete = self.incomplete or page.get("incomplete") is True
        self._page = items[::-1]
        self._cursor = following
        self._is_last = following is None


class EventStream:
    """Events as they are written, without an end; leave the loop, or close(), to end it.

    A connection that is lost is made again behind the last event (Last-Event-ID): none is missed, none comes twice.
    After ten losses without a sign of life it ends with NoAnswer.
    """

    def __init__(self, client: Client, path: str, after: Optional[str]):
        self._client = client
        self._path = path
        self._after = after
        self._response: Optional[http.client.HTTPResponse] = None
        self._pause = 2.0  # seconds
        self._losses = 0
        #: Of the newest event: `after` of a later stream goes on behind it.
        self.last_event_id = ""

    def __iter__(self) -> EventStream:
        return self

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def __next__(self) -> Event:
        while True:
            try:
                if self._response is None:
                    self._open()
                event = self._read()
            except (NoAnswer, OSError, http.client.HTTPException) as error:
                self._lose(error)
            except ProblemError as problem:
                if problem.status not in (429, 503) or not self.last_event_id:
                    raise
                self._lose(problem)
            except BadAnswer:
                self.close()
                raise
            else:
                if event is not None:
                    return event
                self._lose("the service ended the stream")

    def _open(self) -> None:
        fields = {"Accept": "text/event-stream"}
        after = self._after
        if self.last_event_id:
            fields["Last-Event-ID"] = self.last_event_id
            after = None
        self._response = self._client._open("GET", self._path + _query_of({"after": after}), fields, None, _SILENCE)

    def _lose(self, why: Any) -> None:
        self.close()
        self._losses += 1
        if self._losses > _MOST_LOSSES:
            raise NoAnswer(f"{self._client.server}: {printable(str(why))}") from None
        time.sleep(min(self._pause * 2 ** (self._losses - 1), _LONGEST_PAUSE))

    def _read(self) -> Optional[Event]:
        """None: the stream has ended; an event that was cut off comes again. Source: HTML Living Standard, 9.2."""
        assert self._response is not None
        most = self._client.max_answer
        identity, data, size = "", [], 0
        while True:
            line = self._response.readline(most + 1)
            size += len(line)
            if size > most:
                raise BadAnswer(f"an event has over {most} bytes")
            if not line.endswith(b"\n"):
                return None
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            value = value[1:] if value.startswith(b" ") else value
            if line.startswith(b":"):
                self._losses = size = 0  # a sign of life
            elif field == b"id":
                identity = value.decode("ascii", "replace")
            elif field == b"data":
                data.append(value)
            elif field == b"retry" and value.isdigit():
                self._pause = min(max(int(value[:6]) / 1000, 0.1), _LONGEST_PAUSE)
            elif not field and data:
                event = _value_of(b"\n".join(data))
                self.last_event_id = identity
                self._losses = 0
                return event


class _Identity(TypedDict):
    name: str
    kind: str
    role: str


class Identity(_Identity, total=False):
    racks: List[str]  # absent: all of them
    expires: str
    csrf: str  # to be sent as X-Cupel-CSRF with each change
    two_person: List[str]  # what needs a second person's approval
    reason_required: List[str]  # commands that need a reason


class _Status(TypedDict):
    version: str
    started: str
    runs: List[Any]


class Status(_Status, total=False):
    site: Any
    rehearsal: bool
    pid: int


class _Inventory(TypedDict):
    site: Any
    racks: List[Any]
    power: List[Any]
    profiles: List[Any]


class Inventory(_Inventory, total=False):
    file: str
    digest: str
    nodes: int


class _Node(TypedDict):
    name: str


class Node(_Node, total=False):
    rack: Any
    unit: int
    height: int
    profile: str
    feeds: List[str]
    serial: str
    run: int  # newest that it took part in
    runs: List[Any]  # newest first


class _Result(TypedDict):
    node: str
    run: int  # of which the state is
    state: str  # pass, fail, inconclusive; ended: nothing was judged


class Result(_Result, total=False):
    newest: int  # a newer run, which judged nothing
    cause: str


class Target(TypedDict):
    targets: List[str]  # one: address and port
    labels: Any  # node, rack, profile, __meta_cupel_verdict, __meta_cupel_run


class _PastRun(TypedDict):
    run: int
    playbook: str
    began: str
    state: str  # the verdict; without one inconclusive where a step failed, or as the run


class PastRun(_PastRun, total=False):
    cause: str


class _Found(TypedDict):
    kind: str
    node: str
    text: str


class Found(_Found, total=False):
    run: int
    part: str


class _Playbook(TypedDict):
    name: str


class Playbook(_Playbook, total=False):
    description: Any
    parameters: List[Any]


class _Schedule(TypedDict):
    name: str
    playbook: str
    when: str  # local time of the service's machine
    next: str


class Schedule(_Schedule, total=False):
    nodes: str  # as --nodes; for who may see all racks
    idle_only: bool
    missed: str  # what becomes of a time that was missed: once, skip
    due: str  # when it was last due
    outcome: str  # first-seen, begun, started, skipped, refused
    run: int
    why: str  # where nothing was started; for who may see all racks


class _NoticeHook(TypedDict):
    name: str
    kind: str  # webhook, slack, mail, otlp
    on: List[str]  # what raises a notice
    waiting: int  # notices that are not delivered yet
    sent: int  # notices that were delivered
    lost: int  # notices that were given up, or found 100 others waiting


class NoticeHook(_NoticeHook, total=False):
    host: str  # absent: its address is a secret; for who may see all racks
    racks: List[str]  # absent: all of them
    group_s: int  # what comes within so many seconds is sent as one
    quiet: str  # hours that hold notices back, in local time of the service's machine
    urgent: List[str]  # what is sent in quiet hours too
    tries: int  # how often what is to be sent next has failed
    next: str  # when it is tried
    last_sent: str
    last_failed: str
    why: str  # of the newest failure; for who may see all racks


class _Cable(TypedDict):
    switch: str
    port: str  # as it stands on the switch


class Cable(_Cable, total=False):
    node: str  # absent: between two switches
    hca: str
    rail: int  # from 1
    group: int  # of nodes that share their leaves, from 1
    below: str  # the switch of the lower level
    below_port: str


class _Plan(TypedDict):
    playbook: str
    groups: List[Any]
    forecast: Dict[str, Any]


class Plan(_Plan, total=False):
    steps: int
    max_parallel: int


_RunWords = TypedDict("_RunWords", {"pass": "int"}, total=False)


class _Run(_RunWords):
    run: int
    playbook: str
    state: str
    began: str
    nodes: int


class Run(_Run, total=False):
    ended: str
    seconds: float
    fail: int
    inconclusive: int
    in_work: int
    rehearsal: bool
    by: str
    error: str  # why its journal cannot be read; then without counts
    range: str  # its nodes, of a run with an error
    steps: List[Any]
    racks: List[Any]
    standing: Dict[str, Any]
    ends: Any
    held: Any
    approvals: Any
    failures: List[Any]
    site: Any
    parameters: Dict[str, Any]
    hands_until: Any
    halted: bool


class Started(TypedDict):
    run: int


class _Requalification(TypedDict):
    node: str
    of_run: int  # whose evidence is kept
    text: str  # the same for people


class Requalification(_Requalification, total=False):
    new_machine: bool  # another chassis: all is run, and nothing is kept
    failed_since: List[Any]  # runs
    changes: List[Any]
    unseen: List[str]  # said to be replaced, with the serial number that it had
    again: List[Any]  # stages, each with its seconds and why
    whole: Any  # the short stage of the whole node
    kept: List[str]  # stages whose evidence stands
    open: List[str]  # void, and not to be renewed by one node
    elsewhere: List[str]  # failed since, and no stage of that run
    stages: int  # of that run
    seconds: int
    seconds_of_all: int


_RunStatusWords = TypedDict("_RunStatusWords", {"pass": "int"}, total=False)


class _RunStatus(_RunStatusWords):
    run: int
    playbook: str
    state: str  # interrupted: no controller drives it
    began: str
    range: str  # its nodes in one word: a01-n[01-08]
    nodes: List[Any]


class RunStatus(_RunStatus, total=False):
    ended: str
    seconds: float
    rehearsal: bool
    requalifies: Dict[str, Any]
    fail: int
    inconclusive: int
    in_work: int
    failures: List[Any]
    standing: Dict[str, Any]  # of one that is not over
    driven_by: int  # process of its controller
    eta_s: int
    ends: str
    held: List[Any]
    approvals: Dict[str, Any]  # step: nodes that wait there for approval
    messages: Dict[str, Any]  # step: the playbook's message for who approves it
    hands_until: str
    steps: List[Any]  # nodes by how they stand at each step


class _RunNode(TypedDict):
    node: str
    state: str


class RunNode(_RunNode, total=False):
    rack: Any
    unit: int
    height: int
    profile: Any
    step: str
    step_began: str
    attempt: int
    waits_for: str
    cause: str
    overdue: bool
    done: int
    steps: int


class _NodeRecord(TypedDict):
    node: str
    run: int
    verdict: str
    causes: List[Any]


class NodeRecord(_NodeRecord, total=False):
    checked: List[Any]
    slow: List[Any]
    steps: List[Any]
    bmc_parts: List[Any]
    stages: Dict[str, Any]
    evidence: Dict[str, Any]
    nvlink_domain: Any
    nvlink_domains: Any
    console: List[Any]
    schema: int
    hand_off: Any
    audit: Any
    security_floor: Any
    profile: Any
    rack: Any
    unit: int
    chassis_serial: Any
    gpus_with_serial: int
    serials: Any
    measurements: List[Any]


class _Console(TypedDict):
    files: List[Any]


class Console(_Console, total=False):
    file: int
    offset: int
    text: Any
    next: int


class _Step(TypedDict):
    node: str
    step: str
    outcome: Any  # empty: it is not over
    began: str


class Step(_Step, total=False):
    ended: str
    attempts: int
    detail: str
    overdue: bool


class Power(TypedDict):
    levels: List[Any]


class _Event(TypedDict):
    run: int
    sequence: int
    time: str
    kind: str
    data: Dict[str, Any]
    hash: str


class Event(_Event, total=False):
    node: str
    step: str
    # of a list, where data has over 16 KiB: its bytes, and the href of the whole event; here data has its short members
    # alone
    truncated: Dict[str, Any]
    words: str


class _Measurement(TypedDict):
    run: int
    subject: str
    stage: str
    measure: str
    value: float


class Measurement(_Measurement, total=False):
    node: Any
    part: str
    unit: Any
    time: str
    profile: Any
    criterion: str


class _Verdict(TypedDict):
    node: str
    verdict: str
    causes: List[Any]


class Verdict(_Verdict, total=False):
    checked: int
    not_met: int


class _Report(TypedDict):
    summary: Dict[str, Any]


class Report(_Report, total=False):
    schema: Any


class _Command(TypedDict):
    command: int
    kind: str
    answer: str


class Command(_Command, total=False):
    node: str
    step: str
    reason: str
    by: str
    origin: str
    at: str
    why: str


class Actions(TypedDict):
    actions: List[Any]


class _Approval(TypedDict):
    approval: str


class Approval(_Approval, total=False):
    what: Dict[str, Any]
    by: str
    origin: str
    at: str
    expires: str


class Decision(TypedDict, total=False):
    approval: str
    decision: str
    run: int
    command: int


class _AuditEntry(TypedDict):
    sequence: int
    time: str
    who: str
    what: str


class AuditEntry(_AuditEntry, total=False):
    origin: Any
    data: Dict[str, Any]
    hash: str


class _Token(TypedDict):
    id: str
    name: str
    role: str


class Token(_Token, total=False):
    racks: List[str]
    made_by: str
    created: str
    expires: str
    last_used: str
    revoked: str


class IdentityProvider(TypedDict):
    issuer: str  # an https:// address
    client_id: str
    scope: str  # what a login asks for


class Locator(TypedDict):
    node: str
    on: bool


class Health(TypedDict):
    status: str


class _OpenApi(TypedDict):
    openapi: str


class OpenApi(_OpenApi, total=False):
    info: Dict[str, Any]
    servers: List[Any]
    security: List[Any]
    paths: Dict[str, Any]
    components: Dict[str, Any]


class _Problem(TypedDict):
    type: str
    title: str
    status: int
    code: str  # stable
    detail: str


class Problem(_Problem, total=False):
    errors: List[Any]  # every wrong value: where, what


class Client:
    """The service at `server`: https://HOST:PORT, or unix:/PATH on its own machine.

    token_file: a file with the token, read for each request; over a Unix socket the user is known without one.
    ca_file: the authorities of the service's certificate, in PEM; without it the system's. timeout: seconds that the
    service may be silent, and that an answer may take. max_answer: bytes. Errors: ValueError; OSError of ca_file.
    """

    def __init__(
        self,
        server: str,
        *,
        token_file: Optional[str] = None,
        token: Optional[str] = None,
        ca_file: Optional[str] = None,
        timeout: float = 60.0,
        max_answer: int = 64 << 20,
    ):
        self.server = server
        self.timeout = timeout
        self.max_answer = max_answer
        self._token_file = token_file
        self._token = token
        parts = urllib.parse.urlsplit(server)
        self._host, self._port = parts.hostname or "", parts.port or 443
        self._socket = parts.path if parts.scheme == "unix" else ""
        is_url = parts.scheme == "https" and self._host and parts.path in ("", "/")
        if not is_url and not self._socket.startswith("/") or parts.query or parts.fragment or "@" in parts.netloc:
            raise ValueError(f"the service is https://HOST:PORT or unix:/PATH, not {printable(server)!r}")
        self._tls = None if self._socket else ssl.create_default_context(cafile=ca_file)
        if self._tls is not None:
            # Python 3.13 wants of a certificate that signed itself what RFC 5280 asks of authorities: the service's
            # own has none of that. Its signature, its dates and its host name are verified as ever.
            self._tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)

    @classmethod
    def from_environment(cls, **options: Any) -> Client:
        """Of $CUPEL_SERVER, $CUPEL_CA, and $CUPEL_TOKEN_FILE or $CUPEL_TOKEN."""
        server = os.environ.get("CUPEL_SERVER", "")
        if not server:
            raise ValueError("which service? CUPEL_SERVER=https://HOST:PORT or unix:/PATH")
        token_file = os.environ.get("CUPEL_TOKEN_FILE") or None
        token = os.environ.get("CUPEL_TOKEN") or None
        return cls(server, token_file=token_file, token=token, ca_file=os.environ.get("CUPEL_CA") or None, **options)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._tls is None:
            return _UnixConnection(self._socket, timeout)
        return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)

    def _fields(self) -> Dict[str, str]:
        fields = {"Connection": "close", "User-Agent": "cupel-client"}
        if self._token_file is not None:
            fields["Authorization"] = "Bearer " + _token_in(self._token_file)
        elif self._token is not None:
            fields["Authorization"] = "Bearer " + _sound_token(self._token, "what was given")
        return fields

    def _open(
        self, method: str, target: str, fields: Dict[str, str], body: Optional[bytes], timeout: float
    ) -> http.client.HTTPResponse:
        """An answer whose body is not read yet. Errors: NoAnswer; ProblemError; BadAnswer: a redirect."""
        fields = {**self._fields(), **fields}
        connection = self._connection(timeout)
        try:
            connection.request(method, target, body, fields)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            hint = "; name the authority of its certificate with ca_file" if isinstance(error, ssl.SSLError) else ""
            raise NoAnswer(f"{self.server}: {printable(str(error)) or type(error).__name__}{hint}") from None
        if response.status < 300:
            return response
        with response:
            text = self._body(response, timeout)
        if response.status < 400:
            raise BadAnswer(f"{self.server}: HTTP {response.status}, and no redirect is followed")
        try:
            problem = _value_of(text)
        except BadAnswer:
            problem = {}
        raise ProblemError(
            response.status, problem if isinstance(problem, dict) else {}, response.headers.get("Retry-After")
        )

    def _body(self, response: http.client.HTTPResponse, timeout: float) -> bytes:
        until = time.monotonic() + timeout
        pieces, size = [], 0
        try:
            while piece := response.read1(64 << 10):
                pieces.append(piece)
                size += len(piece)
                if size > self.max_answer:
                    raise BadAnswer(f"{self.server}: the answer has over {self.max_answer} bytes")
                if time.monotonic() > until:
                    raise TimeoutError(f"the answer takes over {timeout:g} s")
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(f"{self.server}: {printable(str(error)) or type(error).__name__}") from None
        return b"".join(pieces)

    def _call(
        self,
        method: str,
        path: str,
        query: Optional[Dict[str, Any]] = None,
        body: Optional[Dict[str, Any]] = None,
        key: Optional[str] = None,
    ) -> Any:
        """JSON as Python has it, text as str, other bytes as they are; None where the answer has no body."""
        fields: Dict[str, str] = {}
        text = None
        if key is not None:
            fields["Idempotency-Key"] = key
        if body is not None:
            given = {name: value for name, value in body.items() if value is not None}
            text = json.dumps(given, allow_nan=False).encode()
            fields["Content-Type"] = "application/json"
        try:
            with self._open(method, path + _query_of(query or {}), fields, text, self.timeout) as response:
                answer = self._body(response, self.timeout)
        except NoAnswer as error:
            error.idempotency_key = key
            raise
        kind = response.headers.get_content_type()
        if response.status == 204:
            return None
        if kind == "application/json":
            return _value_of(answer)
        return answer.decode("utf-8", "replace") if kind.startswith("text/") else answer

    def _post(self, path: str, body: Dict[str, Any], key: Optional[str]) -> Any:
        """With a key of its own where none is given."""
        return self._call("POST", path, body=body, key=key or str(uuid.uuid4()))

    def _list(self, path: str, query: Optional[Dict[str, Any]] = None) -> Items[Any]:
        return Items(lambda cursor: self._call("GET", path, {**(query or {}), "cursor": cursor}))

    def who_am_i(self) -> Identity:
        """Who asks, and what that person may do. Needs the role viewer."""
        return self._call("GET", "/api/v1/whoami")

    def read_status(self) -> Status:
        """The service, and the runs that its controller drives. Needs the role viewer."""
        return self._call("GET", "/api/v1/status")

    def read_inventory(self) -> Inventory:
        """Racks, power tree and profiles. Needs the role viewer."""
        return self._call("GET", "/api/v1/inventory")

    def list_nodes(
        self,
        *,
        rack: Optional[str] = None,
        profile: Optional[str] = None,
        q: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> Items[Node]:
        """Nodes of the inventory. Needs the role viewer.

        rack: of this rack alone
        profile: of this profile alone
        q: text in name or serial number
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"rack": rack, "profile": profile, "q": q, "limit": page_size}
        return self._list("/api/v1/nodes", query)

    def read_node(self, node: str) -> Node:
        """A node of the inventory, and its runs. Needs the role viewer.

        node: name of the node
        """
        return self._call("GET", f"/api/v1/nodes/{_part(node)}")

    def list_history(self, node: str, *, limit: Optional[int] = None) -> Items[PastRun]:
        """The runs of a node, newest first, and how each left it. Needs the role viewer.

        node: name of the node
        limit: most items of the answer [20]
        """
        query: Dict[str, Any] = {"limit": limit}
        return self._list(f"/api/v1/nodes/{_part(node)}/history", query)

    def list_results(self, *, page_size: Optional[int] = None) -> Items[Result]:
        """The newest verdict on each node whose newest run is over. Needs the role viewer.

        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"limit": page_size}
        return self._list("/api/v1/results", query)

    def set_locator(self, node: str, *, on: bool, idempotency_key: Optional[str] = None) -> Locator:
        """Turn the identify LED on or off, through the BMC. Needs the role operator.

        node: name of the node
        on: the identify LED
        """
        body: Dict[str, Any] = {"on": on}
        return self._post(f"/api/v1/nodes/{_part(node)}/locate", body, idempotency_key)

    def start_look(
        self,
        node: str,
        *,
        replaced: Optional[List[str]] = None,
        after_swap: Optional[bool] = None,
        since: Optional[int] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Started:
        """Read what is in a repaired node now: a short run that changes nothing. Needs the role operator.

        node: name of the node
        replaced: parts that were replaced: gpu3, dimm A7, cable:mlx5_5, bmc
        after_swap: two parts changed places: measure again what failed [false]
        since: the run whose evidence is kept [the newest that tested most]
        reason: recorded with your name
        """
        body: Dict[str, Any] = {"replaced": replaced, "after_swap": after_swap, "since": since, "reason": reason}
        return self._post(f"/api/v1/nodes/{_part(node)}/look", body, idempotency_key)

    def plan_requalify(
        self,
        node: str,
        *,
        looked: Optional[int] = None,
        replaced: Optional[List[str]] = None,
        after_swap: Optional[bool] = None,
        since: Optional[int] = None,
        new_machine: Optional[bool] = None,
        idempotency_key: Optional[str] = None,
    ) -> Requalification:
        """What a repair has made void and a run would test again, and why; changes nothing. Needs the role viewer.

        node: name of the node
        looked: the look that was made for it [the newest run that read parts]
        replaced: parts that were replaced: gpu3, dimm A7, cable:mlx5_5, bmc
        after_swap: two parts changed places: measure again what failed [false]
        since: the run whose evidence is kept [the newest that tested most]
        new_machine: another chassis has taken the place: all is run [false]
        """
        body: Dict[str, Any] = {
            "looked": looked,
            "replaced": replaced,
            "after_swap": after_swap,
            "since": since,
            "new_machine": new_machine,
        }
        return self._post(f"/api/v1/nodes/{_part(node)}/requalify-plan", body, idempotency_key)

    def requalify(
        self,
        node: str,
        *,
        looked: int,
        replaced: Optional[List[str]] = None,
        after_swap: Optional[bool] = None,
        since: Optional[int] = None,
        new_machine: Optional[bool] = None,
        consoles: Optional[bool] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Union[Started, Approval]:
        """Test what a repair has made void, and keep the rest of the proof. Needs the role operator.

        node: name of the node
        looked: the look that was made for it
        replaced: parts that were replaced: gpu3, dimm A7, cable:mlx5_5, bmc
        after_swap: two parts changed places: measure again what failed [false]
        since: the run whose evidence is kept [the newest that tested most]
        new_machine: another chassis has taken the place: all is run [false]
        consoles: record the nodes' serial consoles [true]
        reason: recorded with your name
        """
        body: Dict[str, Any] = {
            "looked": looked,
            "replaced": replaced,
            "after_swap": after_swap,
            "since": since,
            "new_machine": new_machine,
            "consoles": consoles,
            "reason": reason,
        }
        return self._post(f"/api/v1/nodes/{_part(node)}/requalify", body, idempotency_key)

    def search(self, *, q: str, limit: Optional[int] = None) -> Items[Found]:
        """Nodes, serial numbers, models and parts that have a text. Needs the role viewer.

        q: text of at least 2 characters, in whatever case
        limit: most items of the answer
        """
        query: Dict[str, Any] = {"q": q, "limit": limit}
        return self._list("/api/v1/search", query)

    def list_playbooks(self) -> Items[Playbook]:
        """Playbooks that a run may be started with. Needs the role viewer."""
        return self._list("/api/v1/playbooks")

    def list_schedules(self) -> Items[Schedule]:
        """What the service starts by itself, when, and what became of it last. Needs the role viewer."""
        return self._list("/api/v1/schedules")

    def list_notices(self) -> Items[NoticeHook]:
        """Whom the service tells what people should know of, and what became of it. Needs the role viewer."""
        return self._list("/api/v1/notices")

    def list_cables(self, *, page_size: Optional[int] = None) -> Items[Cable]:
        """The cable plan of the inventory: nodes to leaves, switches to switches. Needs the role viewer.

        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"limit": page_size}
        return self._list("/api/v1/cables", query)

    def make_plan(
        self,
        *,
        playbook: str,
        nodes: str,
        set: Optional[Dict[str, str]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Plan:
        """What a run would do, and how long that takes; changes nothing. Needs the role viewer.

        playbook: name of a playbook of the service
        nodes: all, rack:a01, profile:dgx-h100, @GROUP, failed:RUN, a01-n[01-04], !a01-n03
        set: values of the playbook's parameters
        """
        body: Dict[str, Any] = {"playbook": playbook, "nodes": nodes, "set": set}
        return self._post("/api/v1/plans", body, idempotency_key)

    def list_runs(
        self,
        *,
        state: Optional[Literal["submitted", "running", "interrupted", "cancelled", "ended"]] = None,
        page_size: Optional[int] = None,
    ) -> Items[Run]:
        """Runs, newest first. Needs the role viewer.

        state: in this state alone
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"state": state, "limit": page_size}
        return self._list("/api/v1/runs", query)

    def start_run(
        self,
        *,
        playbook: str,
        nodes: str,
        set: Optional[Dict[str, str]] = None,
        consoles: Optional[bool] = None,
        wait_for_repair_s: Optional[int] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Union[Started, Approval]:
        """Start a run. Needs the role operator.

        playbook: name of a playbook of the service
        nodes: all, rack:a01, profile:dgx-h100, @GROUP, failed:RUN, a01-n[01-04], !a01-n03
        set: values of the playbook's parameters
        consoles: record the nodes' serial consoles [true]
        wait_for_repair_s: how long a finished run stays open for nodes that wait for repair [900]
        reason: recorded with your name
        """
        body: Dict[str, Any] = {
            "playbook": playbook,
            "nodes": nodes,
            "set": set,
            "consoles": consoles,
            "wait_for_repair_s": wait_for_repair_s,
            "reason": reason,
        }
        return self._post("/api/v1/runs", body, idempotency_key)

    def read_run(self, run: int) -> Run:
        """A run and how it stands. Needs the role viewer.

        run: number of the run
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}")

    def resume_run(
        self,
        run: int,
        *,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Union[Started, Approval]:
        """Go on with an interrupted run. Needs the role operator.

        run: number of the run
        reason: recorded with your name
        """
        body: Dict[str, Any] = {"reason": reason}
        return self._post(f"/api/v1/runs/{_part(run)}/resume", body, idempotency_key)

    def list_run_nodes(
        self,
        run: int,
        *,
        state: Optional[Literal["waiting", "running", "between-tries", "needs-operator", "failed", "pass", "fail", "inconclusive"]] = None,
        rack: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> Items[RunNode]:
        """How each node of a run stands. Needs the role viewer.

        run: number of the run
        state: in this state alone
        rack: of this rack alone
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"state": state, "rack": rack, "limit": page_size}
        return self._list(f"/api/v1/runs/{_part(run)}/nodes", query)

    def read_run_node(self, run: int, node: str) -> NodeRecord:
        """All that a run found out about a node. Needs the role viewer.

        run: number of the run
        node: name of the node
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/nodes/{_part(node)}")

    def read_console(
        self,
        run: int,
        node: str,
        *,
        file: Optional[int] = None,
        offset: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> Console:
        """The recording of a node's serial console. Needs the role viewer.

        run: number of the run
        node: name of the node
        file: which piece of the recording [the newest]
        offset: bytes to leave out
        limit: most bytes
        """
        query: Dict[str, Any] = {"file": file, "offset": offset, "limit": limit}
        return self._call("GET", f"/api/v1/runs/{_part(run)}/nodes/{_part(node)}/console", query)

    def list_steps(
        self,
        run: int,
        *,
        node: Optional[str] = None,
        step: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> Items[Step]:
        """When each step of each node began and ended. Needs the role viewer.

        run: number of the run
        node: of this node alone
        step: of this step alone
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"node": node, "step": step, "limit": page_size}
        return self._list(f"/api/v1/runs/{_part(run)}/steps", query)

    def read_run_status(self, run: int, *, steps: Optional[bool] = None) -> RunStatus:
        """A run as the command status shows it: its nodes, how far each step is. Needs the role viewer.

        run: number of the run
        steps: with nodes by how they stand at each step [true]
        """
        query: Dict[str, Any] = {"steps": steps}
        return self._call("GET", f"/api/v1/runs/{_part(run)}/status", query)

    def read_plan(self, run: int) -> Plan:
        """The plan of a run, with its forecast. Needs the role viewer.

        run: number of the run
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/plan")

    def read_power(self, run: int) -> Power:
        """Planned watts at each level of the power tree, now. Needs the role viewer.

        run: number of the run
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/power")

    def list_events(
        self,
        run: int,
        *,
        after: Optional[int] = None,
        node: Optional[str] = None,
        step: Optional[str] = None,
        kind: Optional[str] = None,
        whole: Optional[bool] = None,
        page_size: Optional[int] = None,
    ) -> Items[Event]:
        """The journal of a run. Needs the role viewer.

        run: number of the run
        after: behind this sequence
        node: of this node alone
        step: of this step alone
        kind: of this kind alone: step-ended
        whole: data above 16 KiB too is shown whole [false]
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {
            "after": after,
            "node": node,
            "step": step,
            "kind": kind,
            "whole": whole,
            "limit": page_size,
        }
        return self._list(f"/api/v1/runs/{_part(run)}/events", query)

    def read_event(self, run: int, sequence: int) -> Event:
        """An event of a run, with all its data. Needs the role viewer.

        run: number of the run
        sequence: of the event
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/events/{_part(sequence)}")

    def stream_run(self, run: int, *, after: Optional[str] = None) -> EventStream:
        """The journal of a run as it is written; Last-Event-ID resumes it. Needs the role viewer.

        run: number of the run
        after: as Last-Event-ID; `now`: only what is written from now on
        """
        return EventStream(self, f"/api/v1/runs/{_part(run)}/stream", after)

    def stream_all(self, *, after: Optional[str] = None) -> EventStream:
        """The journals of all runs as they are written; Last-Event-ID resumes it. Needs the role viewer.

        after: as Last-Event-ID; `now`: only what is written from now on
        """
        return EventStream(self, "/api/v1/stream", after)

    def list_run_measurements(
        self,
        run: int,
        *,
        measure: str,
        stage: Optional[str] = None,
        node: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> Items[Measurement]:
        """What a run measured. Needs the role viewer.

        run: number of the run
        measure: name of the measure: gemm.bf16.rate
        stage: of this stage alone
        node: of this node alone
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"measure": measure, "stage": stage, "node": node, "limit": page_size}
        return self._list(f"/api/v1/runs/{_part(run)}/measurements", query)

    def list_measurements(
        self,
        *,
        measure: str,
        profile: Optional[str] = None,
        stage: Optional[str] = None,
        node: Optional[str] = None,
        page_size: Optional[int] = None,
    ) -> Items[Measurement]:
        """What all runs measured. Needs the role viewer.

        measure: name of the measure: gemm.bf16.rate
        profile: of nodes of this profile alone
        stage: of this stage alone
        node: of this node alone
        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {
            "measure": measure,
            "profile": profile,
            "stage": stage,
            "node": node,
            "limit": page_size,
        }
        return self._list("/api/v1/measurements", query)

    def list_verdicts(self, run: int) -> Items[Verdict]:
        """The verdict on each node that was judged. Needs the role viewer.

        run: number of the run
        """
        return self._list(f"/api/v1/runs/{_part(run)}/verdicts")

    def read_record(self, run: int, node: str) -> NodeRecord:
        """The durable record of a node, with serial numbers and evidence. Needs the role viewer.

        run: number of the run
        node: name of the node
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/records/{_part(node)}")

    def read_evidence(self, run: int, sha256: str) -> bytes:
        """A raw output that an event of the run names. Needs the role viewer.

        run: number of the run
        sha256: of the raw output, as events name it
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/evidence/{_part(sha256)}")

    def read_report(
        self,
        run: int,
        *,
        format: Optional[Literal["json", "csv", "html", "markdown", "text"]] = None,
    ) -> Union[Report, str]:
        """The report of a run. Needs the role viewer.

        run: number of the run
        format: [json]
        """
        query: Dict[str, Any] = {"format": format}
        return self._call("GET", f"/api/v1/runs/{_part(run)}/report", query)

    def list_commands(self, run: int) -> Items[Command]:
        """What people asked of a run, and its answers. Needs the role viewer.

        run: number of the run
        """
        return self._list(f"/api/v1/runs/{_part(run)}/commands")

    def give_command(
        self,
        run: int,
        *,
        command: Literal["pause", "unpause", "approve", "retry", "skip", "continue", "cancel"],
        node: Optional[str] = None,
        step: Optional[str] = None,
        reason: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Union[Command, Approval]:
        """Ask something of a run; its controller answers within seconds. Needs the role operator.

        run: number of the run
        command: what is asked for
        node: of retry and skip; of approve: this node alone
        step: of skip, approve and continue; of retry: begin at this step
        reason: recorded with your name; of skip it is needed
        """
        body: Dict[str, Any] = {"command": command, "node": node, "step": step, "reason": reason}
        return self._post(f"/api/v1/runs/{_part(run)}/commands", body, idempotency_key)

    def read_command(self, run: int, command: int) -> Command:
        """What became of a command. Needs the role viewer.

        run: number of the run
        command: number of the command
        """
        return self._call("GET", f"/api/v1/runs/{_part(run)}/commands/{_part(command)}")

    def list_actions(self, *, run: Optional[int] = None) -> Actions:
        """What operators have to do, in the order in which one walks past. Needs the role viewer.

        run: of this run alone
        """
        query: Dict[str, Any] = {"run": run}
        return self._call("GET", "/api/v1/actions", query)

    def list_approvals(self) -> Items[Approval]:
        """Requests that wait for a second person. Needs the role operator."""
        return self._list("/api/v1/approvals")

    def decide_approval(
        self,
        approval: str,
        *,
        decision: Literal["approve", "reject"],
        idempotency_key: Optional[str] = None,
    ) -> Decision:
        """Approve what another person asked for, or reject it. Needs the role operator.

        approval: its id
        decision: whether it is done
        """
        body: Dict[str, Any] = {"decision": decision}
        return self._post(f"/api/v1/approvals/{_part(approval)}", body, idempotency_key)

    def list_audit(self, *, page_size: Optional[int] = None) -> Items[AuditEntry]:
        """What was changed through the service, and by whom. Needs the role admin.

        page_size: most items of one request; all pages are read
        """
        query: Dict[str, Any] = {"limit": page_size}
        return self._list("/api/v1/audit", query)

    def list_tokens(self) -> Items[Token]:
        """Tokens, without their secrets. Needs the role admin."""
        return self._list("/api/v1/tokens")

    def revoke_token(self, id: str) -> None:
        """Revoke a token and the sessions that were made from it. Needs the role admin.

        id: its id; no secret
        """
        self._call("DELETE", f"/api/v1/tokens/{_part(id)}")

    def log_in(self, *, token: str) -> Identity:
        """Begin a page's session: sets a cookie. Needs no login.

        token: as it was printed once
        """
        body: Dict[str, Any] = {"token": token}
        return self._call("POST", "/api/v1/session", body=body)

    def log_out(self) -> None:
        """End a page's session. Needs the role viewer."""
        self._call("DELETE", "/api/v1/session")

    def read_identity_provider(self) -> IdentityProvider:
        """The identity provider where a person logs in from a terminal. Needs no login."""
        return self._call("GET", "/api/v1/login")

    def read_open_api(self) -> OpenApi:
        """This document. Needs no login."""
        return self._call("GET", "/api/openapi.json")

    def read_health(self) -> Health:
        """Whether the service answers. Needs no login."""
        return self._call("GET", "/healthz")

    def read_metrics(self) -> str:
        """For Prometheus. Needs the role viewer."""
        return self._call("GET", "/metrics")

    def list_targets(
        self,
        *,
        port: Optional[int] = None,
        rack: Optional[str] = None,
        profile: Optional[str] = None,
    ) -> List[Target]:
        """The nodes, for http_sd_configs of Prometheus. Needs the role viewer.

        port: that the exporter listens on [9100]
        rack: of this rack alone
        profile: of this profile alone
        """
        query: Dict[str, Any] = {"port": port, "rack": rack, "profile": profile}
        return self._call("GET", "/metrics/targets", query)
