"""A real JupyterLab, and a browser on it; ``python -m tests.notebook.lab OUT.png`` takes the picture of its page."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 240.0  # seconds, against hanging alone: a busy machine starts a server, a browser and a kernel slowly
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WIDGET, NEWS = ".renderview-wrapper", "@jupyterlab/apputils-extension"
READ = """async (image) => {
    while (true) {
        try { await image.decode(); break; }
        catch { await new Promise((done) => setTimeout(done, 50)); } // another frame has come meanwhile
    }
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL();
}"""
NOTEBOOK = "jupyterapp.shell.currentWidget"
READY = f"() => window.jupyterapp && {NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'"


def browser() -> str | None:
    """The file of a Chromium, None where there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


class Lab:
    """A notebook in JupyterLab. Cells run one after the other. page : of playwright."""

    def __init__(self, page: Any, cells: int) -> None:
        self.page, self._left = page, iter(range(cells))

    def run(self, wait: bool = True) -> str:
        """Run the next cell; the text that it prints."""
        number = next(self._left)
        self.page.evaluate(f"() => {{ {NOTEBOOK}.content.activeCellIndex = {number}; }}")
        done = self.page.evaluate_handle("() => ({ done: false })")
        self.page.evaluate(
            "(told) => { jupyterapp.commands.execute('notebook:run-cell').then(() => { told.done = true; }); }", done
        )
        if wait:
            self.page.wait_for_function("(told) => told.done", arg=done, timeout=PATIENCE * 1000)
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(number)
        return "\n".join(cell.locator(".jp-OutputArea-output pre").all_inner_texts()).strip()

    def command(self, name: str) -> None:
        """One of JupyterLab's own."""
        self.page.evaluate(f"() => jupyterapp.commands.execute('{name}')")

    def titles(self, count: int, text: str) -> Any:
        """Wait until so many widgets have a text in their titles; those."""
        found = self.page.locator(f"{WIDGET}:has(.renderview-title:has-text('{text}'))")
        self.until(lambda: found.count() == count, f"{count} titles with '{text}'")
        return found

    def until(self, condition: Any, what: str) -> None:
        """Wait for something."""
        end = time.monotonic() + PATIENCE
        while not condition():
            titles = self.page.locator(".renderview-title").all_inner_texts()
            assert time.monotonic() < end, f"never came: {what}; titles: {titles}"
            self.page.wait_for_timeout(50)

    @staticmethod
    def pixels(widget: Any) -> np.ndarray:
        """(H, W, 3) uint8: the picture that a widget shows, as the browser has decoded it."""
        shown = widget.locator("img").evaluate(READ)
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(shown.partition(",")[2]))).convert("RGB"))


@contextmanager
def lab(folder: Path, cells: Sequence[str], size: tuple[int, int] = (900, 700)) -> Iterator[Lab]:
    """JupyterLab on a notebook with these cells, in a browser without a screen; all of its files lie in ``folder``."""
    from playwright.sync_api import sync_playwright

    nothing = {"metadata": {}, "execution_count": None, "outputs": [], "cell_type": "code"}
    made = [{**nothing, "id": f"cell{k}", "source": text} for k, text in enumerate(cells)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    text = json.dumps({"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5})
    home, work = folder / "home", folder / "work"
    work.mkdir(parents=True)
    (work / "scene.ipynb").write_text(text)
    quiet = home / "settings" / NEWS / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text('{"fetchNews": "false", "checkForUpdates": false}')
    places = {"RUNTIME": "runtime", "CONFIG": "config", "DATA": "data"}
    environment = {
        **os.environ,
        **{f"JUPYTER_{name}_DIR": str(home / place) for name, place in places.items()},
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "RAYSTREAM_SETTINGS": str(home / "raystream.toml"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    command += ["--ServerApp.port=0", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={work}"]
    with (home / "log").open("w") as log:
        server = subprocess.Popen(command, env=environment, cwd=work, stdout=log, stderr=subprocess.STDOUT)
    try:
        address = _address(server, home)
        with sync_playwright() as play:
            chromium = play.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
            page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
            page.set_default_timeout(PATIENCE * 1000)
            page.goto(address)
            page.wait_for_function(READY)
            yield Lab(page, len(cells))
            chromium.close()
    finally:
        server.terminate()
        server.wait()


def _address(server: subprocess.Popen, home: Path) -> str:
    """Where the server answers, as it writes down itself."""
    end = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None and time.monotonic() < end, (home / "log").read_text()
        for file in home.glob("runtime/jpserver-*.json"):
            try:
                told = json.loads(file.read_text())
            except ValueError:  # half of it
                continue
            return f"{told['url']}lab/tree/scene.ipynb?token={told['token']}"
        time.sleep(0.1)


PICTURE = (
    """import raystream
from ipywidgets import HBox

view = raystream.show("cornell", size=(350, 320))
other = raystream.show("teapotahedron", size=(350, 320))
HBox([view, other])""",
    """view.snapshot().save("cornell.png")""",
)
GOOD = 12  # samples of a pixel: denoised they look as the converged picture does


def main(out: str) -> None:
    """Take the picture of the notebook's page."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, lab(Path(folder), PICTURE, (900, 660)) as opened:
        opened.command("application:toggle-left-area")
        opened.run()
        opened.titles(1, "teapotahedron")
        opened.run()
        opened.page.evaluate(f"() => {{ {NOTEBOOK}.content.activeCellIndex = 0; }}")
        opened.titles(2, "sample")
        opened.until(lambda: all(_done(t) for t in opened.page.locator(".renderview-title").all_inner_texts()), "rest")
        opened.page.wait_for_timeout(1500)  # the last pictures without loss
        opened.page.screenshot(path=out)


def _done(title: str) -> bool:
    found = re.search(r"(\d+) samples", title)
    return found is not None and int(found[1]) >= GOOD


if __name__ == "__main__":
    main(sys.argv[1])
