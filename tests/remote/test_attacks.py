"""Pages that mean harm, and connections without one: who has the token sees the scene, and no more of the machine."""

from __future__ import annotations

import io
import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from raystream.film.files.image import read_exr
from raystream.remote.server import REQUEST
from tests.remote.test_remote import PATIENCE, Page, got, serving

SMALL = (40, 30)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command in a folder of its own, where its user's pictures would be, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    with serving() as (process, address):
        yield process, address


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of one command, for tests that leave it as it was."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("home")
        patch.chdir(home)
        patch.setenv("HOME", str(home))
        with serving() as (_, address):
            yield address


def opened(address: str, size: tuple[int, int] = SMALL) -> Page:
    page = Page(address)
    page.size(*size)
    page.until(size)
    return page


def values(address: str) -> dict[str, str]:
    return json.loads(got(address + "options.json")[1])


def told(page: Page, kind: str) -> dict[str, Any]:
    """The next message of a kind."""
    while True:
        message = page.socket.recv(PATIENCE)
        if isinstance(message, str) and (found := json.loads(message))["type"] == kind:
            return found
        if isinstance(message, str) and json.loads(message)["type"] == "framebufferdata":
            index = json.loads(message)
            page.send("_framefeedback", index=index["index"], timestamp=index["timestamp"])


def test_no_file_of_the_machine_is_read(served: Any, tmp_path: Path) -> None:
    """Nor told of: an option of a list has its values alone."""
    there = tmp_path / "there.png"
    Image.new("RGB", (8, 4), (255, 0, 0)).save(there)
    page = opened(served[1])
    before = values(served[1])
    for path in (there, tmp_path / "not.png"):
        page.send("option", name="environment", value=str(path))
    page.send("option", name="spp", value="9" * 40)
    page.send("option", name="shadows", value="off")
    while values(served[1])["shadows"] != "off":
        time.sleep(0.05)
    assert values(served[1]) == {**before, "shadows": "off"}
    page.close()


def test_saved_pictures_are_downloads(served: Any, tmp_path: Path) -> None:
    _, address = served
    page = opened(address)
    page.send("action", name="save.exr")
    link = told(page, "download")
    assert link == {"type": "download", "href": "picture.exr", "name": "cornell.exr"}
    with urllib.request.urlopen(address + link["href"], timeout=PATIENCE) as answer:
        exr = answer.read()
    page.send("action", name="screenshot.picture")
    assert told(page, "download")["name"] == "cornell.png"
    with urllib.request.urlopen(address + "picture.png", timeout=PATIENCE) as answer:
        assert answer.headers["content-type"] == "image/png"
        png = np.asarray(Image.open(io.BytesIO(answer.read())).convert("RGB"))
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and ".cache" not in path.parts]
    (tmp_path / "read.exr").write_bytes(exr)
    red = read_exr(tmp_path / "read.exr")[1]["R"]
    assert red.shape == SMALL[::-1] and red.any() and png.shape == (*red.shape, 3) and png.any()
    page.close()


def test_a_burst_of_actions_blocks_nobody(served: Any) -> None:
    """Others are answered, and a signal ends the process; the share of time that actions have is a clock's in
    viewport/test_drive_turns.py."""
    process, address = served
    page = opened(address, (1280, 800))
    assert got(address + "options.json")[0] == 200
    for _ in range(60):
        page.send("action", name="machine.next")
        page.send("action", name="accel.next")
    assert got(address + "options.json")[0] == 200
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 143
    page.close()


def connected(address: str) -> socket.socket:
    where = urlsplit(address)
    return socket.create_connection((where.hostname, where.port), PATIENCE)


def test_half_a_request_is_closed(standing: str) -> None:
    """Whatever trickles in: a connection has a few seconds for a request, and is closed long before its end."""
    began, rest = time.monotonic(), b"x" * 10_000
    heads = b"GET / HTTP/1.1\r\nHost: 127", b"POST / HTTP/1.1\r\nHost: [\r\nContent-Length: 99999\r\n\r\n1"
    halves = {connected(standing): text for text in (b"", *(head + rest for head in heads))}
    while halves:
        assert time.monotonic() - began < PATIENCE
        for half, text in list(halves.items()):
            half.settimeout(0.2)
            halves[half] = text[1:]
            try:
                half.sendall(text[:1])
                closed = half.recv(4096) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
            if closed:
                assert time.monotonic() - began >= REQUEST - 0.5
                half.close()
                del halves[half]


@pytest.fixture
def hangups() -> Iterator[None]:
    """Heard by what is started, though who ran the tests may ignore them (nohup)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="no such signal here")
@pytest.mark.usefixtures("hangups")
def test_its_terminal_goes(served: Any) -> None:
    process, address = served
    page = opened(address)
    process.send_signal(signal.SIGHUP)
    assert process.wait(PATIENCE) == 129
    page.close()
    assert process.stderr is not None and process.stderr.read() == "raystream: stopped\n"
