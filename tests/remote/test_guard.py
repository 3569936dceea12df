"""Who is let in and what is answered, request by request, without a server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from raystream.remote import guard as module
from raystream.remote.guard import (
    HEADERS,
    MAX_MESSAGE,
    File,
    Guard,
    is_well_formed,
)

TOKEN = "aToken-_9"
HERE = "127.0.0.1:8765"
PAGE, SCRIPT = File.text("text/html", "<p>ü</p>"), File.text("text/javascript", "1")


async def made() -> File:
    return File("image/png", b"\x89PNG")


FILES = {"index.html": PAGE, "page.js": SCRIPT, "picture.png": made}


class Behind:
    """The application behind a guard: what comes to it, message by message."""

    def __init__(self) -> None:
        self.scopes: list[Any] = []
        self.taken: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.scopes.append(scope)
        while not self.taken or self.taken[-1]["type"] not in ("websocket.disconnect", "lifespan.shutdown"):
            self.taken.append(await receive())
        await send({"type": "done"})


def asked(
    scope: dict[str, Any], events: tuple[dict[str, Any], ...] = (), local: bool = True
) -> tuple[Behind, list[dict[str, Any]], list[dict[str, Any]]]:
    """What came to the application, what was sent, and the events that nobody took."""
    behind, sent, waiting = Behind(), [], list(events)

    async def receive() -> dict[str, Any]:
        return waiting.pop(0)

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    asyncio.run(Guard(behind, TOKEN, FILES, local)(scope, receive, send))
    return behind, sent, waiting


def request(path: str, method: str = "GET", host: str | None = HERE, **headers: str) -> dict[str, Any]:
    given = {**({} if host is None else {"host": host}), **headers}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
    }


def status(scope: dict[str, Any], local: bool = True) -> int:
    behind, sent, _ = asked(scope, local=local)
    assert not behind.scopes, "files are the guard's own"
    start, body = sent
    assert (start["type"], body["type"]) == ("http.response.start", "http.response.body")
    return int(start["status"])


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "", (200, "text/html; charset=utf-8", "<p>ü</p>".encode())),
        ("GET", "index.html", (200, "text/html; charset=utf-8", "<p>ü</p>".encode())),
        ("GET", "page.js", (200, "text/javascript; charset=utf-8", b"1")),
        ("GET", "picture.png", (200, "image/png", b"\x89PNG")),
        ("GET", "page.css", (404, "text/plain; charset=utf-8", b"not found")),
        ("POST", "page.js", (405, "text/plain; charset=utf-8", b"only GET")),
    ],
)
def test_answers(method: str, path: str, answer: tuple[int, str, bytes]) -> None:
    """Each with the headers that keep the token and the page to this view."""
    behind, sent, _ = asked(request(f"/{TOKEN}/{path}", method))
    code, kind, body = answer
    assert not behind.scopes and sent == [
        {"type": "http.response.start", "status": code, "headers": [(b"content-type", kind.encode()), *HEADERS]},
        {"type": "http.response.body", "body": body},
    ]


def test_headers() -> None:
    """Nothing is kept, nobody is told the address, and nothing is loaded from elsewhere."""
    found = dict(HEADERS)
    assert found.keys() == {
        b"cache-control",
        b"referrer-policy",
        b"x-content-type-options",
        b"content-security-policy",
    }
    assert (found[b"cache-control"], found[b"referrer-policy"]) == (b"no-store", b"no-referrer")
    assert found[b"x-content-type-options"] == b"nosniff"
    rules = dict(rule.split(" ", 1) for rule in found[b"content-security-policy"].decode().split("; "))
    assert rules == {
        "default-src": "'self'",
        "img-src": "'self' blob: data:",
        "style-src": "'self' 'unsafe-inline'",
        "connect-src": "'self' ws:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "",
        f"/{TOKEN}",
        f"{TOKEN}/",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}x/",
        f"/{TOKEN.lower()}/",
        f"/{TOKEN}/one/two",
        f"/one/{TOKEN}/",
        f"//{TOKEN}/",
        f"/{TOKEN}é/",
        "//",
    ],
)
def test_paths_without_the_token(path: str) -> None:
    """Wherever else it stands, and with anything more; also to a page of another machine."""
    for local in (True, False):
        behind, sent, _ = asked(request(path), local=local)
        text = b"The address lacks its token: take the one that raystream has printed."
        assert not behind.scopes and sent == [
            {
                "type": "http.response.start",
                "status": 403,
                "headers": [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS],
            },
            {"type": "http.response.body", "body": text},
        ]


@pytest.mark.parametrize(
    ("host", "here", "anywhere"),
    [
        ("127.0.0.1", 200, 200),
        ("localhost", 200, 200),
        ("LOCALHOST:8765", 200, 200),
        ("[::1]:8765", 200, 200),
        ("192.0.2.1:8765", 403, 200),
        ("elsewhere.example", 403, 200),
        ("localhost.example:8765", 403, 200),
        ("", 403, 200),
        (None, 403, 200),
        ("[::1", 403, 403),
        ("a]b", 403, 403),
        ("%5b", 403, 200),
    ],
)
def test_hosts(host: str | None, here: int, anywhere: int) -> None:
    """A view of this machine alone answers to its own names: another's may be turned to it (DNS rebinding)."""
    assert status(request(f"/{TOKEN}/", host=host)) == here
    assert status(request(f"/{TOKEN}/", host=host), local=False) == anywhere


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        (f"http://{HERE}", 200),
        (f"https://{HERE}", 200),
        ("http://127.0.0.1:8766", 403),
        ("http://127.0.0.1", 403),
        ("http://localhost:8765", 403),
        ("http://elsewhere.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
    ],
)
def test_origins(origin: str, code: int) -> None:
    """A page from elsewhere may know the address, and yet is not let in; names of headers are in any case."""
    assert status(request(f"/{TOKEN}/", origin=origin)) == code
    assert status(request(f"/{TOKEN}/", ORIGIN=origin), local=False) == code
    assert status(request(f"/{TOKEN}/", host=None, Host=HERE, Origin=origin)) == code


def test_a_websocket() -> None:
    """The application has it as it is, but for messages that are malformed."""
    good, bad = '{"type": "action", "name": "quit"}', '{"type": "action"}'
    events = (
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": bad},
        {"type": "websocket.receive", "text": good},
        {"type": "websocket.receive", "bytes": b"1"},
        {"type": "websocket.receive", "text": bad},
        {"type": "websocket.disconnect", "text": bad},
    )
    scope = {**request(f"/{TOKEN}/"), "type": "websocket"}
    behind, sent, left = asked(scope, events)
    assert behind.scopes == [scope] and not left and sent == [{"type": "done"}]
    assert behind.taken == [events[0], events[2], events[5]]


def test_a_websocket_without_the_token() -> None:
    """It is closed before it opens, once its connection has been taken."""
    connect, more = {"type": "websocket.connect"}, {"type": "websocket.disconnect"}
    behind, sent, left = asked({**request("/no/"), "type": "websocket"}, (connect, more))
    assert not behind.scopes and sent == [{"type": "websocket.close", "code": 1008}] and left == [more]


# -- messages ----------------------------------------------------------------------------------------------------------

FIELDS = {
    "resize": {"pwidth": 640, "pheight": 400, "ratio": 1.5},
    "pointer_down": {"x": 1, "y": 2.5, "button": 1},
    "pointer_move": {"x": 1, "y": 2.5},
    "pointer_up": {"x": 1, "y": 2.5, "button": 1},
    "wheel": {"x": 1, "y": 2.5, "dx": 0, "dy": -100},
    "pinch": {"x": 1, "y": 2.5, "ratio": 1.1},
    "seek": {"seconds": 0.5},
    "animation": {"number": -1},
    "speed": {"times": 0.25},
    "_framefeedback": {},
    "key_down": {"key": "a"},
    "key_up": {"key": "a"},
    "option": {"name": "spp", "value": "3"},
    "action": {"name": "quit"},
}


def taken(kind: object, **fields: Any) -> bool:
    """Whether a message is well formed; its time is 0.5 where nothing else is given, and left out where it is None."""
    found = {"type": kind, "timestamp": 0.5, **fields}
    if found["timestamp"] is None:
        del found["timestamp"]
    return is_well_formed(json.dumps(found))


@pytest.mark.parametrize("kind", FIELDS)
def test_fields(kind: str) -> None:
    """All that a type has must be there: numbers that are finite and of a page, or texts."""
    fields = FIELDS[kind]
    assert taken(kind, **fields) and taken(kind, **fields, more={"of": ["anything", None]})
    for name, value in fields.items():
        rest = {each: other for each, other in fields.items() if each != name}
        optional = name == "button" and kind == "pointer_move"
        assert taken(kind, **rest) is optional, name
        number = not isinstance(value, str)
        for other in (None, True, False, [1], {}, "1", "", 3, -3.5, 1e5, -1e5, 1e5 + 1, -1e5 - 1, 10**400):
            good = (
                (isinstance(other, (int, float)) and not isinstance(other, bool) and abs(other) <= 100000)
                if number
                else isinstance(other, str)
            )
            assert taken(kind, **{**fields, name: other}) is good, (name, other)


@pytest.mark.parametrize("kind", FIELDS)
def test_times(kind: str) -> None:
    """Rendercanvas's messages have theirs; the view's own need none."""
    fields = FIELDS[kind]
    for time, good in (
        (0, True),
        (-1.5, True),
        (1e15, True),
        (-1e15, True),
        (2e15, False),
        (-2e15, False),
        (True, False),
        ("0", False),
        ([], False),
    ):
        assert taken(kind, **fields, timestamp=time) is good, time
    assert taken(kind, **fields, timestamp=None) is (kind in ("option", "action", "seek", "animation", "speed"))


@pytest.mark.parametrize("kind", ["key_down", "pointer_move", "option", "hover"])
@pytest.mark.parametrize(
    ("more", "good"),
    [
        ({"modifiers": ["Shift", "Control"]}, True),
        ({"modifiers": [[]]}, False),
        ({"modifiers": "Shift"}, False),
        ({"modifiers": None}, False),
        ({"buttons": [1, "2"]}, True),
        ({"buttons": None}, False),
        ({"button": 1e5}, True),
        ({"button": 2e5}, False),
        ({"button": None}, False),
        ({"button": True}, False),
    ],
)
def test_fields_that_any_message_may_have(kind: str, more: dict[str, Any], good: bool) -> None:
    assert taken(kind, **FIELDS.get(kind, {}), **more) is good


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        ("hover", True),
        ("", True),
        ("_hover", False),
        ("_clients_change", False),
        ("_", False),
        ("_framefeedback", True),
        (None, False),
        (3, False),
        (["resize"], False),
    ],
)
def test_other_types(kind: object, good: bool) -> None:
    """What begins with an underscore is rendercanvas's own, but for the one that pages send."""
    assert taken(kind) is good


@pytest.mark.parametrize(
    "text",
    [None, b'{"type": "hover", "timestamp": 0}', 3, "", "{", "[]", "3", '"hover"', "null", "{}", "[" * MAX_MESSAGE],
)
def test_texts_that_are_no_message(text: Any) -> None:
    assert not is_well_formed(text)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_numbers_that_are_none(constant: str) -> None:
    """JSON knows none of these, Python's reader does; the last two become infinite."""
    assert not is_well_formed(f'{{"type": "pointer_move", "timestamp": 0, "x": {constant}, "y": 0}}')
    assert is_well_formed(f'{{"type": "hover", "timestamp": 0, "more": {constant}}}') is constant.endswith("1e400")


def test_lengths_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = len(json.dumps({"type": "hover", "timestamp": 0.5, "more": ""}))
    monkeypatch.setattr(module, "MAX_MESSAGE", empty + 3)
    assert taken("hover", more="xyz") and not taken("hover", more="wxyz")
