"""The HTTP server: uvicorn's, with time limits for requests and signals that end it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from raystream.base.interrupts import raise_dropped
from raystream.viewport.canvas import CanvasView

REQUEST = 5.0  # seconds until a request is there, from its connection or the answer before on
MAX_MESSAGE = 1 << 16  # bytes of a WebSocket


class _Connection(H11Protocol):
    """A connection that is closed where its request is not there in time."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._limit()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._limit()

    def _limit(self) -> None:
        cycle = self.cycle
        self.loop.call_later(REQUEST, lambda: self._late(cycle))

    def _late(self, cycle: Any) -> None:
        """Close it if no request has come since the one of ``cycle``; a WebSocket stays open."""
        if self.cycle is cycle and self.transport.get_protocol() is self:
            self.transport.abort()


class Server(uvicorn.Server):
    """Serves an ASGI application of a view until a signal, or until the view is closed."""

    def __init__(self, app: Any, view: CanvasView) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=_Connection,
                log_level="critical",
                lifespan="on",
                ws_max_size=MAX_MESSAGE,
                ws_per_message_deflate=False,  # JPEG and PNG are compressed already
                timeout_graceful_shutdown=1,
            )
        )
        self.view = view

    def listen(self, sockets: list[socket.socket]) -> None:
        """Serve. Raises KeyboardInterrupt after a signal."""
        self.run(sockets=sockets)
        if self.view.closed:  # by a Ctrl-C taken over by the canvas's loop
            raise KeyboardInterrupt

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's, with the end of the terminal: its handler would raise somewhere in the event loop."""
        with super().capture_signals():
            signum = getattr(signal, "SIGHUP", None)
            handler = None if signum is None or current_thread() is not main_thread() else signal.getsignal(signum)
            if signum is None or not callable(handler):  # nohup has it ignored
                yield
                return
            signal.signal(signum, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signum, handler)  # which uvicorn then has called

    async def on_tick(self, counter: int) -> bool:
        """Several times a second: whether to end."""
        raise_dropped()
        # The canvas's event loop takes over Ctrl-C once it has work, and would stop without the server.
        if signal.getsignal(signal.SIGINT) != self.handle_exit and current_thread() is main_thread():
            signal.signal(signal.SIGINT, self.handle_exit)
        return await super().on_tick(counter) or self.view.closed
