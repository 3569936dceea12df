"""The widget in a real marimo, in a browser without a screen: opened, dragged."""

from __future__ import annotations

import importlib.util
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.notebook.lab import PATIENCE, READ, ROOT, browser

NOTEBOOK = """import marimo

app = marimo.App()


@app.cell
def _():
    import raystream

    raystream.show("cornell", size=(160, 120), machine="singlepass", spp=2, error=None)
"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of the notebook's page, served by marimo."""
    for name in ("marimo", "playwright", "rendercanvas", "anywidget"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'raystream[notebook-test]'")
    if browser() is None:
        pytest.skip("no Chromium here: on Debian and Ubuntu apt-get install chromium")
    file = tmp_path / "scene.py"
    file.write_text(NOTEBOOK)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    packages = (str(ROOT), str(ROOT / "tools" / "editable"), os.environ.get("PYTHONPATH"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, packages)), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "marimo", "run", file, "--headless", "--no-token", "-p", str(port)]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    try:
        while True:
            assert server.poll() is None and time.monotonic() < end
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
def test_opened_and_dragged(address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 900, "height": 700})
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(address)
        page.get_by_text(re.compile("cornell.*2 samples a pixel")).wait_for()
        picture = page.locator("img").last
        first = picture.evaluate(READ)
        box, mouse = picture.bounding_box(), page.mouse
        mouse.move(box["x"] + 40, box["y"] + 60)
        mouse.down()
        for x in (60, 90, 120):
            mouse.move(box["x"] + x, box["y"] + 70)
        mouse.up()
        end = time.monotonic() + PATIENCE
        while picture.evaluate(READ) == first:
            assert time.monotonic() < end, "the camera has not moved"
            page.wait_for_timeout(100)
        chromium.close()
