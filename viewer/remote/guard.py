"""Access control of a view: an ASGI application that admits requests with the token in their path."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_MESSAGE = 4096  # characters of a message from the page
MAX_NUMBER = 1e5  # of numbers in it: pixels, and steps of the wheel
MAX_TIME = 1e15  # of times: what is beyond every float would end their sums
# Types of messages -> their fields.
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "resize": ("pwidth", "pheight", "ratio"),
    "pointer_down": ("x", "y", "button"),
    "pointer_move": ("x", "y"),
    "pointer_up": ("x", "y", "button"),
    "wheel": ("x", "y", "dx", "dy"),
    "pinch": ("x", "y", "ratio"),
    "seek": ("seconds",),
    "animation": ("number",),
    "speed": ("times",),
    "_framefeedback": (),
}
# Types of `raystream.remote.canvas`; others are rendercanvas's, which has their times, too.
REMOTE_EVENTS = ("option", "action", "seek", "animation", "speed")
TEXTS: Mapping[str, tuple[str, ...]] = {
    "key_down": ("key",),
    "key_up": ("key",),
    "option": ("name", "value"),
    "action": ("name",),
}
# No third-party content, and no referrer, as the address contains the token.
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; connect-src 'self' ws:; "
        b"frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
)


@dataclass(frozen=True)
class File:
    """An answer to a request. kind : content type. body : itself. status : of HTTP."""

    kind: str
    body: bytes
    status: int = 200

    @classmethod
    def text(cls, kind: str, text: str, status: int = 200) -> File:
        """A response with a text, such as a page or a script."""
        return cls(f"{kind}; charset=utf-8", text.encode(), status)


Files = Mapping[str, File | Callable[[], Awaitable[File]]]


class Guard:
    """Admits requests with the token.

    app : the application behind it. files : by name, some made when they are asked for. local : admit only pages under
    this machine's own names, against DNS rebinding.
    """

    def __init__(self, app: Any, token: str, files: Files, local: bool = True) -> None:
        self.app, self.token, self.files, self.local = app, token, files, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif not self._allowed(scope):
            await _refuse(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self.app(scope, _checked(receive), send)

    def _allowed(self, scope: Scope) -> bool:
        parts = scope["path"].split("/")
        # In constant time, against timing attacks.
        token_matches = len(parts) == 3 and secrets.compare_digest(parts[1].encode(), self.token.encode())
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        try:
            local = urlsplit(f"//{host}").hostname in LOOPBACK
            same = origin is None or urlsplit(origin).netloc == host
        except ValueError:  # no name of any host
            return False
        return token_matches and same and (local or not self.local)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rsplit("/", 1)[-1] or "index.html"
        resource = self.files.get(name)
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(send, File.text("text/plain", "only GET", 405))
        elif resource is None:
            await _answer(send, File.text("text/plain", "not found", 404))
        else:
            await _answer(send, resource if isinstance(resource, File) else await resource())


def _checked(receive: Receive) -> Receive:
    """The page's messages without malformed ones."""

    async def next_message() -> dict[str, Any]:
        while True:
            event = await receive()
            if event["type"] != "websocket.receive" or is_well_formed(event.get("text")):
                return event

    return next_message


def is_well_formed(text: str | None) -> bool:
    """Whether a message of a page is well formed: JSON of finite numbers, with its type's fields."""
    if not isinstance(text, str) or len(text) > MAX_MESSAGE:
        return False
    try:
        event = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return False
    if not isinstance(event, dict) or not isinstance(kind := event.get("type"), str):
        return False
    if kind.startswith("_") and kind not in NUMBERS:  # rendercanvas's own
        return False
    modifiers = event.get("modifiers", [])
    return (
        all(_is_number(event.get(name)) for name in NUMBERS.get(kind, ()))
        and all(isinstance(event.get(name), str) for name in TEXTS.get(kind, ()))
        and _is_number(event.get("button", 0))
        and _is_number(event.get("timestamp", 0.0 if kind in REMOTE_EVENTS else None), MAX_TIME)
        and isinstance(modifiers, list)
        and all(isinstance(modifier, str) for modifier in modifiers)
        and isinstance(event.get("buttons", []), list)
    )


def _is_number(value: object, largest: float = MAX_NUMBER) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= largest


def _refuse_constant(constant: str) -> None:
    raise ValueError(constant)


async def _answer(send: Send, file: File) -> None:
    headers = [(b"content-type", file.kind.encode()), *HEADERS]
    await send({"type": "http.response.start", "status": file.status, "headers": headers})
    await send({"type": "http.response.body", "body": file.body})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 403, to a WebSocket before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        text = "The address lacks its token: take the one that raystream has printed."
        await _answer(send, File.text("text/plain", text, 403))
