"""Access control of a view: an ASGI application that admits requests with the token in their path."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST = 4096  # characters of a message from the page
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


class Guard:
    """Admits requests with the token.

    app : the application behind it. files : names -> (content type, body or a function that makes it). own : types of
    the page's messages not for ``app`` -> a function of their name and value. local : admit only pages under this
    machine's own names, against DNS rebinding.
    """

    def __init__(
        self,
        app: Any,
        token: str,
        files: Mapping[str, tuple[str, str | Callable[[], str]]],
        own: Mapping[str, Callable[[str, Any], None]],
        local: bool = True,
    ) -> None:
        self.app, self.token, self.files, self.own, self.local = app, token, files, own, local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif not self._allowed(scope):
            await _refuse(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self.app(scope, self._listened(receive), send)

    def _allowed(self, scope: Scope) -> bool:
        parts = scope["path"].split("/")
        # In constant time, against timing attacks.
        known = len(parts) == 3 and secrets.compare_digest(parts[1].encode(), self.token.encode())
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self.local and urlsplit(f"//{host}").hostname not in LOOPBACK:
            return False
        return known and (origin is None or urlsplit(origin).netloc == host)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rsplit("/", 1)[-1] or "index.html"
        if scope["method"] not in ("GET", "HEAD"):
            await _answer(send, 405, "text/plain", "only GET")
        elif name in self.files:
            kind, body = self.files[name]
            await _answer(send, 200, kind, body() if callable(body) else body)
        else:
            await _answer(send, 404, "text/plain", "not found")

    def _listened(self, receive: Receive) -> Receive:
        """The page's messages, without the guard's own and malformed ones."""

        async def next_message() -> dict[str, Any]:
            while True:
                event = await receive()
                if event["type"] != "websocket.receive":
                    return event
                text = event.get("text")
                message = _message(text)
                if message is None:
                    continue
                take = self.own.get(message["type"])
                if take is None:
                    return event
                take(str(message.get("name")), message.get("value"))

        return next_message


def _message(text: str | None) -> dict[str, Any] | None:
    if not isinstance(text, str) or len(text) > LONGEST:
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None


async def _answer(send: Send, status: int, kind: str, body: str) -> None:
    headers = [(b"content-type", f"{kind}; charset=utf-8".encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer 403, to a WebSocket before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
    else:
        await _answer(send, 403, "text/plain", "The address lacks its token: take the one that raystream has printed.")
