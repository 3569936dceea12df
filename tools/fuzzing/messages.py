"""Messages of a page to a view in a browser, handed to the server's application without a network."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from raystream.remote.guard import Guard, is_well_formed
from raystream.viewport.preferences import Preferences

SIZE = (16, 12)  # pixels of the page
TOKEN = "token"  # of the address
TURNS = 20  # of the event loop, for what a message has brought about
TRIANGLE = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.int32([[0, 1, 2]])
_POINTER = {"timestamp": 0.5, "modifiers": ["Shift"], "buttons": [1], "ntouches": 0, "touches": {}}
MESSAGES: dict[str, dict[str, Any]] = {
    "resize": {"timestamp": 0.5, "width": 20.0, "height": 14.0, "pwidth": 20, "pheight": 14, "ratio": 1.0},
    "pointer_down": {**_POINTER, "x": 3.0, "y": 4.5, "button": 1},
    "pointer_move": {**_POINTER, "x": 5.0, "y": 4.0, "button": 0},
    "pointer_up": {**_POINTER, "x": 3.0, "y": 4.5, "button": 1},
    "wheel": {**_POINTER, "x": 3.0, "y": 4.5, "dx": 0.0, "dy": 100.0},
    "pinch": {**_POINTER, "x": 3.0, "y": 4.5, "ratio": 1.1},
    "key_down": {"timestamp": 0.5, "key": "w", "modifiers": []},
    "option": {"name": "exposure", "value": "1.5"},
    "action": {"name": "exposure.up"},
    "_framefeedback": {"timestamp": 0.5, "index": 1},
}


class _Faults(logging.Handler):
    """What rendercanvas and the event loop catch and only log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line, and of an exception its traceback."""
        self.said.append(logging.Formatter().format(record))

    def loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An exception of a task that nobody awaits."""
        self.said.append(f"{context['message']}: {context.get('exception')!r}")


class Pages:
    """A view of one triangle, and pages that open it one after the other, each to send a message.

    It is one view for all of them, as a server's is: what a message has changed stays.
    """

    def __init__(self) -> None:
        self._loop, self._faults = asyncio.new_event_loop(), _Faults()
        self._loop.set_exception_handler(self._faults.loop)
        self._loop.run_until_complete(self._open())

    async def _open(self) -> None:
        from raystream.remote.canvas import RemoteCanvas

        options = {"program": "cast", "machine": "singlepass", "preferences": Preferences()}
        self._canvas = RemoteCanvas(TRIANGLE, SIZE, **options)
        self._canvas.view.wait()
        self._guard = Guard(self._canvas.app, TOKEN, self._canvas.files())

    def send(self, data: bytes) -> None:
        """A page is opened, tells its size, sends the message, and is closed after some turns of the event loop.

        Raises RuntimeError for what the server logs, or where the view has ended.
        """
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = None  # a message of bytes
        is_well_formed(text)  # whose exceptions would end a task that nobody awaits
        logger = logging.getLogger("rendercanvas")
        logger.addHandler(self._faults)
        try:
            self._loop.run_until_complete(self._page(text, data))
        finally:
            logger.removeHandler(self._faults)
        said, self._faults.said = self._faults.said, []
        if self._canvas.view.closed:
            said.append("the view is closed")
        if said:
            raise RuntimeError("\n".join(said))

    async def _page(self, text: str | None, data: bytes) -> None:
        width, height = SIZE
        size = {"type": "resize", "timestamp": 0.0, "pwidth": width, "pheight": height, "ratio": 1.0}
        message = {"bytes": data} if text is None else {"text": text}
        received = [{"type": "websocket.receive", **each} for each in ({"text": json.dumps(size)}, message)]
        events = iter([{"type": "websocket.connect"}, *received])

        async def receive() -> dict[str, Any]:
            if (event := next(events, None)) is not None:
                return event
            for _ in range(TURNS):
                await asyncio.sleep(0)
            return {"type": "websocket.disconnect"}

        async def send(event: dict[str, Any]) -> None:
            if event["type"] == "websocket.close":
                raise RuntimeError("the page is refused")

        headers = [(b"host", b"localhost")]
        await self._guard({"type": "websocket", "path": f"/{TOKEN}/", "headers": headers}, receive, send)

    def close(self) -> None:
        """End the view."""

        async def end() -> None:
            self._canvas.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        self._loop.run_until_complete(end())
        self._loop.close()


@cache
def _pages() -> Pages:
    return Pages()


def read_message(path: Path) -> None:
    """The message in a file, sent to a view that is kept."""
    _pages().send(path.read_bytes())


def close() -> None:
    """End the view, where there is one; the next message opens another."""
    if _pages.cache_info().currsize:
        _pages().close()
        _pages.cache_clear()


def messages() -> dict[str, bytes]:
    """Messages by names of files."""
    return {f"{kind}.message": json.dumps({"type": kind, **rest}).encode() for kind, rest in MESSAGES.items()}
