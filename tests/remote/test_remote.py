"""A view in a browser, by a real server, with a client that speaks as the page does."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")

OPTIONS = ("--machine", "singlepass", "--program", "cast")
PATIENCE = 300.0  # seconds, against hanging alone


@contextmanager
def serving(
    *more: str, scene: str = "cornell", options: Sequence[str] = OPTIONS
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the address that it has printed."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-m", "raystream", "view", scene, "--remote", "0", *options, *more]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("Open ").strip()
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as (_, found):
        yield found


def got(address: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Page:
    """What the page's script does: takes frames, says which have come, sends events."""

    def __init__(self, address: str, **more: Any) -> None:
        self._open = ExitStack()
        where = address.replace("http", "ws", 1)
        self.socket = self._open.enter_context(client.connect(where, open_timeout=PATIENCE, **more))

    def close(self) -> None:
        self._open.close()

    def frame(self, confirmed: bool = True, kind: str = "") -> np.ndarray:
        """The next frame (H, W, 3), of a kind such as png."""
        while True:
            message = json.loads(self.socket.recv(PATIENCE))
            if message["type"] != "framebufferdata":
                continue
            data = self.socket.recv(PATIENCE)
            assert message["mimetype"].split("/")[1] in ("png", "jpeg")
            if confirmed:
                self.send("_framefeedback", index=message["index"], timestamp=message["timestamp"])
            if kind in message["mimetype"]:
                return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def send(self, kind: str, **values: Any) -> None:
        self.socket.send(json.dumps({"type": kind, "timestamp": 0.0, **values}))

    def size(self, width: int, height: int) -> None:
        self.send("resize", width=width, height=height, pwidth=width, pheight=height, ratio=1.0)

    def until(self, size: tuple[int, int]) -> np.ndarray:
        """The first lossless frame of a size: the picture at rest."""
        while True:
            found = self.frame(kind="png")
            if found.shape == (*size[::-1], 3) and found.any():
                return found

    def drag(self, x: float, y: float) -> None:
        common = {"buttons": [1], "modifiers": [], "ntouches": 0, "touches": {}}
        for kind, at in (("pointer_down", 0.0), ("pointer_move", 0.5), ("pointer_move", 1.0), ("pointer_up", 1.0)):
            self.send(kind, x=20 + x * at, y=20 + y * at, button=1, **common)


def test_the_token(address: str) -> None:
    status, page = got(address)
    assert status == 200 and "renderview-client.js" in page and "http" not in page  # nothing from elsewhere
    assert "orbit" in page and "program" in page
    wrong = address[:-2] + ("A" if address[-2] != "A" else "B") + "/"
    for other in (wrong, address.rsplit("/", 2)[0] + "/", address.rsplit("/", 2)[0] + "/index.html"):
        assert got(other)[0] == 403
        with pytest.raises(Exception, match="403"):
            Page(other)
    for name in ("renderview.js", "page.js", "page.css", "options.json"):
        assert got(address + name)[0] == 200
    assert got(address + "other")[0] == 404


def test_pages_of_others(address: str) -> None:
    """Neither a page from elsewhere nor a name that somebody else has turned to this machine."""
    with pytest.raises(Exception, match="403"):
        Page(address, origin="http://elsewhere.example")
    assert got(address, Host="elsewhere.example")[0] == 403
    assert got(address, Host=f"localhost:{address.split(':')[2].split('/')[0]}")[0] == 200


def test_a_drag_turns_it(address: str) -> None:
    page = Page(address)
    page.size(64, 48)
    before = page.until((64, 48))
    page.drag(15, 4)
    after = page.until((64, 48))
    assert np.abs(before.astype(int) - after).mean() > 5
    page.size(48, 48)
    assert page.until((48, 48)).any()
    page.send("option", name="environment", value="sky")
    assert page.until((48, 48)).mean() > 0
    assert json.loads(got(address + "options.json")[1])["environment"] == "sky"
    page.send("option", name="program", value="nothing")  # told on the page, and nothing has changed
    page.send("option", name="device", value="3")  # not the page's
    assert json.loads(got(address + "options.json")[1])["program"] == "cast"
    page.close()


def test_a_slow_page_gets_no_backlog(address: str) -> None:
    """Two frames are on the way at most; once they have come, the newest follows."""
    page = Page(address)
    page.size(40, 30)
    page.until((40, 30))
    for k in range(12):
        page.drag(3 + k, 2)
    count = 0
    with pytest.raises(TimeoutError):
        while True:
            message = page.socket.recv(1.0)
            count += isinstance(message, bytes)
    assert count <= 2
    page.close()


def test_keys_of_a_page_that_goes_are_let_go(address: str) -> None:
    """Also of one that stays, but without the keyboard."""
    for leave in (lambda page: page.close(), lambda page: page.send("focus_out")):
        page = Page(address)
        page.size(36, 30)
        page.until((36, 30))
        page.send("key_down", key="w", modifiers=[])
        page.frame(kind="jpeg")  # it flies
        leave(page)
        other = Page(address)
        if page.socket.state.name == "OPEN":
            other.close()
            other = page
        other.until((36, 30))  # at rest: lossless frames come only where nothing has moved for a while
        other.close()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_nothing_is_rendered_without_a_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a picture of many samples: it rests until a page comes back."""
    (tmp_path / "settings.toml").write_text("samples = 65536\nnoise = 0.0\n")
    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "settings.toml"))

    def ticks(process: subprocess.Popen[str]) -> int:
        """Of the processor, that it has had."""
        return sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))

    with serving(options=("--machine", "singlepass", "--program", "path")) as (process, found):
        page = Page(found)
        page.size(200, 150)
        page.frame()
        before, began = ticks(process), time.monotonic()
        while ticks(process) < before + 20:
            page.frame()
        lasted = time.monotonic() - began
        page.close()
        rests, end = False, time.monotonic() + PATIENCE
        while not rests:  # a frame may have been begun
            assert time.monotonic() < end
            before = ticks(process)
            time.sleep(lasted)
            rests = ticks(process) < before + 5
        page = Page(found)
        page.size(200, 150)
        assert page.frame().any()
        page.close()


def test_nonsense_is_passed_over(address: str) -> None:
    page = Page(address)
    for text in ("{", "[]", '{"type": 3}', json.dumps({"type": "option"}), "x" * 5000):
        page.socket.send(text)
    page.size(32, 32)
    assert page.until((32, 32)).shape == (32, 32, 3)
    page.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_it_ends_with_the_process(number: int, code: int) -> None:
    """With a page open that has had a picture: the canvas's loop, which takes Ctrl-C for itself, is at work then."""
    with serving() as (process, found):
        port = int(found.split(":")[2].split("/")[0])
        page = Page(found)
        page.size(32, 24)
        page.until((32, 24))
        process.send_signal(number)
        assert process.wait(PATIENCE) == code
        page.close()
        with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), 1):
            pass
        assert process.stderr is not None and process.stderr.read() == "raystream: stopped\n"


@pytest.mark.parametrize(("typed", "said"), [("70000", "a port from 0"), ("x", "neither a file")])
def test_wrong_ports(typed: str, said: str, capsys: Any) -> None:
    from raystream.cli.main import main

    assert main(["view", "--remote", typed, *(["cornell"] if typed != "x" else [])]) == 2
    assert said in capsys.readouterr().err


def test_lossless_at_rest_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """While samples are added frames are JPEG; the last one is lossless."""
    (tmp_path / "settings.toml").write_text("samples = 65536\nnoise = 0.0\n")
    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "settings.toml"))
    with serving(options=("--machine", "singlepass", "--program", "path")) as (_, found):
        page = Page(found)
        page.size(32, 24)
        page.frame()
        kinds = []
        end = time.monotonic() + 1.5  # five times as long as a JPEG waits for its lossless twin
        while time.monotonic() < end or len(kinds) < 2:
            told = json.loads(page.socket.recv(PATIENCE))
            if told["type"] == "framebufferdata":
                page.socket.recv(PATIENCE)  # the frame itself
                page.send("_framefeedback", index=told["index"], timestamp=told["timestamp"])
                kinds.append(told["mimetype"])
        assert set(kinds) == {"image/jpeg"}
        page.send("option", name="spp", value="1")
        assert page.until((32, 24)).any()
        page.close()
