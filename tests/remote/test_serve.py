"""The address that is listened at and printed, and what is begun and ended with it; without a picture."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import raystream
from raystream.remote import serve as module
from raystream.remote.serve import SIZE, Remote, _listening_socket, serve

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("rendercanvas", reason="rendercanvas is not installed")

import raystream.remote.canvas as canvas_module
import raystream.remote.server as server_module


class Canvas:
    """In place of the canvas: what it was made of, and whether it was closed."""

    made: list[Canvas]

    def __init__(self, scene: Any, size: tuple[int, int], **options: Any) -> None:
        self.given = scene, size, options
        self.app, self.view, self.closed = object(), object(), 0
        self.made.append(self)

    def files(self) -> dict[str, Any]:
        return {"page.js": 1}

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Canvas]]:
    """The canvases that are made; each listens at a port of its own."""
    monkeypatch.setattr(Canvas, "made", found := [], raising=False)
    monkeypatch.setattr(canvas_module, "RemoteCanvas", Canvas)
    listening: list[socket.socket] = []
    listen = module._listening_socket

    def listened(host: str, port: int | str) -> socket.socket:
        listening.append(listen("127.0.0.1" if host == "0.0.0.0" else host, port))
        return listening[-1]

    monkeypatch.setattr(module, "_listening_socket", listened)
    yield found
    for each in listening:
        each.close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What servers serve: in place of a server, whose end is a Ctrl-C."""
    served: list[tuple[Any, ...]] = []

    class Server:
        def __init__(self, app: Any, view: Any) -> None:
            self.of = app, view

        def listen(self, sockets: list[socket.socket]) -> None:
            served.append((*self.of, sockets, [each.fileno() >= 0 for each in sockets]))
            raise KeyboardInterrupt

    monkeypatch.setattr(server_module, "Server", Server)
    return served


@pytest.mark.parametrize(
    ("host", "local", "shown", "note"),
    [
        ("127.0.0.1", True, "127.0.0.1", False),
        ("localhost", True, "localhost", False),
        ("0.0.0.0", False, "127.0.0.1", True),
    ],
)
def test_one_line_is_printed(
    made: list[Canvas],
    server: list[Any],
    capsys: pytest.CaptureFixture[str],
    host: str,
    local: bool,
    shown: str,
    note: bool,
) -> None:
    """With a token of its own each time; with a note of the risk where other machines come in. At the end nothing is
    left open."""
    tokens = set()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            serve("scene.ply", 0, host, spp=3)
        (guard, view, (used,), there) = server[-1]
        canvas = made[-1]
        assert canvas.given == ("scene.ply", (960, 540), {"spp": 3}) and SIZE == (960, 540)
        assert view is canvas.view and there == [True] and used.fileno() == -1 and canvas.closed == 1
        assert (guard.app, guard.files, guard.local) == (canvas.app, {"page.js": 1}, local)
        out, err = capsys.readouterr()
        assert out.startswith(f"Open http://{shown}:") and out.endswith(f"/{guard.token}/\n") and out.count("\n") == 1
        port = int(out.split(":")[2].split("/")[0])
        about = "not encrypted, and open to all who have the address; a tunnel is safer: ssh -L"
        assert err == (f"raystream: note: {about} {port}:localhost:{port}\n" if note else "")
        assert len(guard.token) == 22, "16 bytes in base 64"
        tokens.add(guard.token)
    assert len(tokens) == 2


def test_a_scene_that_cannot_be_shown(made: list[Canvas], monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves the port free."""
    used: list[socket.socket] = []
    listen: Callable[..., socket.socket] = module._listening_socket
    monkeypatch.setattr(module, "_listening_socket", lambda *where: used.append(listen(*where)) or used[-1])

    def refused(*given: Any, **options: Any) -> None:
        raise raystream.ViewerError("no.ply", "is not there")

    monkeypatch.setattr(canvas_module, "RemoteCanvas", refused)
    with pytest.raises(raystream.ViewerError, match="is not there"):
        Remote("no.ply", 0)
    assert [each.fileno() for each in used] == [-1]


@pytest.mark.parametrize(
    ("missing", "listed"),
    [
        (("uvicorn",), "uvicorn"),
        (("websockets", "rendercanvas"), "rendercanvas and websockets"),
        (("rendercanvas", "uvicorn", "simplejpeg"), "rendercanvas, uvicorn and simplejpeg"),
        (
            ("rendercanvas", "uvicorn", "websockets", "simplejpeg"),
            "rendercanvas, uvicorn, websockets and simplejpeg",
        ),
    ],
)
def test_without_the_extra(
    made: list[Canvas], monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...], listed: str
) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name in missing else object())
    with pytest.raises(raystream.ViewerError) as caught:
        Remote("cornell", 0)
    assert str(caught.value) == f"--remote: needs {listed} (pip install 'raystream[remote]')" and not made


# -- the socket --------------------------------------------------------------------------------------------------------


def free() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def test_the_usual_port_or_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that was asked for is that or an error; a second view on the usual one takes another."""
    monkeypatch.setattr(module, "PORT", usual := free())
    with _listening_socket("127.0.0.1", "auto") as first, _listening_socket("127.0.0.1", "auto") as second:
        assert first.getsockname() == ("127.0.0.1", usual)
        assert second.getsockname()[0] == "127.0.0.1" and second.getsockname()[1] not in (0, usual)
        for each in (first, second):
            assert each.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR) and each.type == socket.SOCK_STREAM
            with socket.create_connection(each.getsockname(), 5):
                pass
        with pytest.raises(raystream.ViewerError) as caught:
            _listening_socket("127.0.0.1", usual)
        assert str(caught.value) == f"--remote {usual}: is taken (another one; 0 is any that is free)"
    with _listening_socket("127.0.0.1", usual) as again:
        assert again.getsockname()[1] == usual
    with _listening_socket("127.0.0.1", 0) as any_one:
        assert any_one.getsockname()[1] not in (0, usual)


@pytest.mark.parametrize("port", ["auto", 0, 4321])
def test_hosts_that_are_none(port: int | str) -> None:
    with pytest.raises(raystream.ViewerError) as caught:
        _listening_socket("256.0.0.1.invalid", port)
    assert str(caught.value).startswith("--remote-host 256.0.0.1.invalid: is not an address (")
    assert str(caught.value).endswith("(0.0.0.0 is all)")
    with pytest.raises(raystream.ViewerError) as caught:
        _listening_socket("192.0.2.1", port)
    line = "--remote-host 192.0.2.1: is not an address of this machine (0.0.0.0 is all of them)"
    assert str(caught.value) == line


@pytest.mark.parametrize("port", ["auto", 80])
def test_ports_that_are_not_allowed(monkeypatch: pytest.MonkeyPatch, port: int | str) -> None:
    """Neither taken nor of another machine; each socket that was tried is closed."""
    tried: list[Any] = []

    class Refused(socket.socket):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            tried.append(self)

        def bind(self, address: Any) -> None:
            self.at = address
            raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(module.socket, "socket", Refused)
    with pytest.raises(raystream.ViewerError) as caught:
        _listening_socket("127.0.0.1", port)
    line = f"--remote {port}: is unavailable (Permission denied) (another one; 0 is any that is free)"
    assert str(caught.value) == line
    assert [each.at[1] for each in tried] == ([module.PORT, 0] if port == "auto" else [80])
    assert all(each.fileno() == -1 for each in tried)
