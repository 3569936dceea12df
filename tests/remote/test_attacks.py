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
from raystream.remote.guard import LONGEST, is_well_formed
from raystream.remote.server import REQUEST
from tests.remote.test_remote import PATIENCE, Page, client, got, serving

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


def test_a_size_beyond_any_screen(standing: str) -> None:
    """It would block everybody for 25 s: it is brought to a screen's, in its proportions."""
    page = opened(standing)
    page.size(16384, 16384)
    while (found := page.frame().shape[:2])[0] == SMALL[1]:
        pass
    assert found == (2880, 2880)
    for width, height in ((-1, 5), (5, -1)):
        page.size(width, height)
    page.size(100000, 4)
    while (found := page.frame().shape[:2])[0] == 2880:
        pass
    assert found == (1, 7680)
    page.close()


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


def test_a_second_page_changes_nothing(served: Any, tmp_path: Path) -> None:
    _, address = served
    first, second = opened(address), Page(address)
    before = values(address)
    second.send("option", name="shadows", value="off")
    second.send("action", name="reflections.toggle")
    second.send("action", name="save.exr")
    second.send("_clients_change", ids=[2, 1])  # rendercanvas's own message: who is there, and so who steers
    second.size(64, 64)
    second.send("key_down", key="l", modifiers=[])
    time.sleep(1.0)
    assert values(address) == before
    first.send("option", name="shadows", value="off")
    while values(address)["shadows"] != "off":
        time.sleep(0.05)
    assert not list(tmp_path.glob("**/*.exr"))
    first.close()
    while values(address)["shadows"] != "on":  # it steers once the server has heard of that
        second.send("option", name="shadows", value="on")
        time.sleep(0.05)
    second.close()


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


def test_a_page_outlives_the_limit_of_requests(standing: str) -> None:
    page = opened(standing)
    time.sleep(REQUEST + 1.0)
    page.size(32, 24)
    assert page.until((32, 24)).any()
    page.close()


@pytest.mark.parametrize("host", ["[", "[::1", "", "127.0.0.1.example", "a]b", "%5b"])
def test_hosts_that_are_none(standing: str, host: str) -> None:
    with connected(standing) as raw:
        path = urlsplit(standing).path
        raw.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert raw.makefile("rb").readline().split()[1] == b"403"


def test_origins(standing: str) -> None:
    """A page of this machine under another port is another's, too."""
    where = urlsplit(standing)
    for origin in (f"http://{where.hostname}:{where.port + 1}", f"http://localhost:{where.port}", "http://[", "null"):
        assert got(standing, Origin=origin)[0] == 403
        with pytest.raises(Exception, match="403"):
            client.connect(standing.replace("http", "ws", 1), origin=origin, open_timeout=PATIENCE)
    assert got(standing, Origin=f"http://{where.netloc}")[0] == 200


def message(kind: str, **fields: Any) -> str:
    return json.dumps({"type": kind, "timestamp": 0.0, **fields})


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "[]",
        "[" * LONGEST,
        '{"type": 3}',
        '{"type": "resize", "timestamp": 0, "pwidth": NaN, "pheight": 3, "ratio": 1}',
        '{"type": "resize", "timestamp": 0, "pwidth": 1e999, "pheight": 3, "ratio": 1}',
        '{"type": "focus_out"}',
        message("resize", pwidth="9", pheight=3, ratio=1),
        message("pointer_move", x=1e7, y=0),
        message("pointer_down", x=1, y=0, button=[1]),
        message("wheel", x=1, y=0, dx=True, dy=0),
        message("key_down", key=3, modifiers=[]),
        message("key_down", key="a", modifiers=[[]]),
        message("key_down", key="a", modifiers=3),
        message("pointer_move", x=1, y=2, button=[1]),
        message("pointer_up", x=1, y=2, button=True),
        message("option", name="spp"),
        message("action", name=3),
        f'{{"type": "_framefeedback", "index": 1, "timestamp": {10**400}}}',
        message("_clients_change", ids=[1]),
        message("key_down", key="a", more="x" * (LONGEST - len(message("key_down", key="a", more="")) + 1)),
    ],
)
def test_messages_that_are_dropped(text: str | None) -> None:
    assert not is_well_formed(text)


@pytest.mark.parametrize(
    "text",
    [
        message("key_down", key="a", more="x" * (LONGEST - len(message("key_down", key="a", more="")))),
        message("resize", pwidth=640, pheight=400, ratio=1.5),
        message("pointer_up", x=1.5, y=-3, button=1, buttons=[], modifiers=["Shift"]),
        message("_framefeedback", index=3),
        '{"type": "option", "name": "spp", "value": ""}',
        '{"type": "action", "name": "save.exr"}',
    ],
)
def test_messages_that_are_taken(text: str) -> None:
    assert is_well_formed(text)


def test_json_beyond_the_limit_is_dropped(standing: str) -> None:
    page = opened(standing)
    before = values(standing)["shadows"]
    page.socket.send(json.dumps({"type": "action", "name": "shadows.toggle", "more": "x" * LONGEST}))
    time.sleep(0.5)
    assert values(standing)["shadows"] == before
    page.close()


def test_a_page_asks_for_no_backlog(standing: str) -> None:
    """Frames that were never sent cannot be confirmed: two are on the way at most."""
    page = opened(standing)
    page.send("_framefeedback", index=10**9)
    for k in range(12):
        page.drag(3 + k, 2)
    count = 0
    with pytest.raises(TimeoutError):
        while True:
            count += isinstance(page.socket.recv(1.0), bytes)
    assert count <= 2
    page.close()


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
