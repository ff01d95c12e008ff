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


# Schemas.


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


# Operations.
