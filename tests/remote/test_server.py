"""The server's time limits and signals, without a view."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("websockets", reason="websockets is not installed")

from websockets.sync import client

from raystream.base.interrupts import Terminated
from raystream.remote import server as module
from raystream.remote.server import MAX_MESSAGE, REQUEST, Server, _Connection

PATIENCE = 300.0  # seconds, against hanging alone
KEPT = 60  # seconds that uvicorn would keep a connection
HANGUP = getattr(signal, "SIGHUP", None)


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers each request, and sends each message back."""
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
    elif scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})
    else:
        await send({"type": "websocket.accept"})
        while (event := await receive())["type"] != "websocket.disconnect":
            if event["type"] == "websocket.receive":
                await send({"type": "websocket.send", "text": str(len(event["text"]))})


@contextmanager
def serving(server: Server) -> Iterator[int]:
    """In a thread of its own; gives the port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        ended: list[BaseException | None] = []

        def serve() -> None:
            try:
                server.listen([listening])
                ended.append(None)
            except KeyboardInterrupt as stopped:
                ended.append(stopped)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.view.closed = True
            thread.join(PATIENCE)
        assert not thread.is_alive() and isinstance(ended[0], KeyboardInterrupt), "it ends with its view"


@pytest.fixture
def server() -> Server:
    return Server(app, SimpleNamespace(closed=False))  # type: ignore[arg-type]


def ended(connection: socket.socket) -> float:
    """Seconds until the other side ends it."""
    began = time.monotonic()
    connection.settimeout(PATIENCE)
    try:
        while connection.recv(4096):
            pass
    except ConnectionError:
        pass
    return time.monotonic() - began


def test_limits_of_a_connection(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that asks for nothing is closed, and so is one that has had its answer and asks no more; a WebSocket stays,
    and takes no message beyond the limit."""
    monkeypatch.setattr(module, "REQUEST", 0.3)
    server.config.timeout_keep_alive = KEPT
    with serving(server) as port, client.connect(f"ws://127.0.0.1:{port}/", open_timeout=PATIENCE) as page:
        assert not page.protocol.extensions, "nothing is compressed"
        silent = socket.create_connection(("127.0.0.1", port), PATIENCE)
        with silent, socket.create_connection(("127.0.0.1", port), PATIENCE) as asking:
            asking.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert asking.recv(12) == b"HTTP/1.1 200"
            assert ended(asking) < KEPT, "uvicorn's own limit"
            assert ended(silent) < KEPT
        page.send("x" * MAX_MESSAGE)
        assert page.recv(PATIENCE) == str(MAX_MESSAGE) == "65536"
        page.send("x" * (MAX_MESSAGE + 1))
        with pytest.raises(Exception, match="1009"):
            page.recv(PATIENCE)


class Loop:
    """An event loop whose timers run when they are told."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> None:
        self.later.append((delay, call))


@pytest.mark.parametrize(
    ("cycle", "protocol", "aborted"), [("same", "own", 1), ("next", "own", 0), ("same", "other", 0), ("next", "x", 0)]
)
def test_a_request_in_time(cycle: str, protocol: str, aborted: int) -> None:
    """Since the last one, on a connection that has become nothing else."""
    connection, loop = _Connection.__new__(_Connection), Loop()
    aborts: list[int] = []
    connection.loop, connection.cycle = loop, None  # type: ignore[assignment]
    connection.transport = SimpleNamespace(  # type: ignore[assignment]
        abort=lambda: aborts.append(1), get_protocol=lambda: connection if protocol == "own" else None
    )
    for number in range(2):
        connection._limit()
        ((delay, call),) = loop.later[number:]
        assert delay == REQUEST == 5.0
        if cycle == "next":
            connection.cycle = object()  # type: ignore[assignment]
        call()
        assert len(aborts) == aborted * (number + 1)


# -- signals -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def handlers() -> Iterator[None]:
    """What there are for signals is there again after the test."""
    numbers = [each for each in (signal.SIGINT, signal.SIGTERM, HANGUP) if each is not None]
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def elsewhere(call: Callable[[], None]) -> None:
    """In another thread."""
    faults: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]


@pytest.mark.usefixtures("handlers")
@pytest.mark.skipif(HANGUP is None, reason="no such signal here")
def test_the_end_of_the_terminal(server: Server) -> None:
    """Ends the server first; then whoever had the signal before has it."""
    had: list[int] = []
    handler = lambda number, frame: had.append(number)  # noqa: E731
    signal.signal(HANGUP, handler)
    with server.capture_signals():
        assert signal.getsignal(HANGUP) == signal.getsignal(signal.SIGTERM) == server.handle_exit
        assert not server.should_exit
        signal.raise_signal(HANGUP)
        assert server.should_exit and not had
    assert had == [HANGUP] and signal.getsignal(HANGUP) is handler
    with pytest.raises(ValueError, match="stop"), server.capture_signals():
        raise ValueError("stop")
    assert signal.getsignal(HANGUP) is handler


@pytest.mark.usefixtures("handlers")
@pytest.mark.skipif(HANGUP is None, reason="no such signal here")
@pytest.mark.parametrize("ignored", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_terminal_that_does_not_count(server: Server, ignored: Any) -> None:
    """Under nohup it stays without effect; where nobody had a handler the system does what it does."""
    signal.signal(HANGUP, ignored)
    with server.capture_signals():
        assert signal.getsignal(HANGUP) == ignored and signal.getsignal(signal.SIGTERM) == server.handle_exit
    assert signal.getsignal(HANGUP) == ignored


@pytest.mark.usefixtures("handlers")
def test_a_system_without_terminals(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    with server.capture_signals():
        assert signal.getsignal(signal.SIGTERM) == server.handle_exit


@pytest.mark.usefixtures("handlers")
def test_it_looks_whether_to_end(server: Server) -> None:
    """Some times a second: for a signal, a view that was closed, and what a handler has raised where Python dropped
    it. Ctrl-C comes back to it where somebody has taken it."""
    server.server_state = SimpleNamespace(default_headers=[], total_requests=0)  # type: ignore[assignment]
    server.config.encoded_headers = []

    def tick() -> bool:
        return asyncio.run(server.on_tick(0))

    def alone() -> None:
        assert not asyncio.run(server.on_tick(0))

    mine = signal.getsignal(signal.SIGINT)
    elsewhere(alone)
    assert signal.getsignal(signal.SIGINT) == mine, "of another thread"
    assert tick() is False and signal.getsignal(signal.SIGINT) == server.handle_exit
    assert tick() is False and signal.getsignal(signal.SIGINT) == server.handle_exit
    server.view.closed = True
    assert tick() is True
    server.view.closed, server.should_exit = False, True
    assert tick() is True
    server.should_exit = False
    Terminated.last = dropped = Terminated(signal.SIGTERM)
    with pytest.raises(Terminated) as raised:
        tick()
    assert raised.value is dropped and dropped.code == 143 and tick() is False
