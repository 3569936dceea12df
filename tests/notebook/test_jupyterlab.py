"""The widget in a real JupyterLab, in a browser without a screen: opened, dragged, read back, closed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.notebook.lab import WIDGET, browser, lab

CELLS = (
    """import asyncio, raystream
view = raystream.show("cornell", size=(160, 120), machine="singlepass", spp=2, error=None)
view""",
    """print(view.camera)""",
    """picture = view.snapshot()
picture.save("shown.png", view.view.view.tone.stops, view.view.view.tone.tonemap)""",
    """from ipywidgets import HBox
other = raystream.show("teapotahedron", size=(80, 60), machine="singlepass", program="cast")
HBox([view, other])""",
    """other.close()
print(other.view.closed, view.view.closed)""",
    """view.update(spp=1 << 16)""",
    """print(6 * 7, view.view.idle)""",
    """while not view.drive.pending:
    await asyncio.sleep(0.02)
steps = view.view.session.steps
await asyncio.sleep(1)
print(view.view.session.steps - steps)""",
    """view.close()
await asyncio.sleep(0.5)
print([task.get_name() for task in asyncio.all_tasks() if task.get_name() in ("scheduler-task", "loop-task")])""",
    """raystream.show("nowhere.ply")""",
)


def needed() -> None:
    """Skips where something is missing."""
    for name in ("jupyterlab", "ipykernel", "playwright", "rendercanvas", "anywidget"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install 'raystream[notebook-test]'")
    if browser() is None:
        pytest.skip("no Chromium here: on Debian and Ubuntu apt-get install chromium")


@pytest.mark.slow
def test_opened_dragged_read_back_closed(tmp_path: Path) -> None:
    needed()
    with lab(tmp_path, CELLS) as opened:
        opened.run()
        (widget,) = opened.titles(1, "2 samples a pixel").all()
        camera = opened.run()
        first = opened.pixels(widget)
        assert first.shape == (120, 160, 3) and first.std() > 20

        box, mouse = widget.locator("img").bounding_box(), opened.page.mouse
        mouse.move(box["x"] + 40, box["y"] + 60)
        mouse.down()
        for x in (60, 90, 120):
            mouse.move(box["x"] + x, box["y"] + 70)
        mouse.up()
        opened.until(lambda: (opened.pixels(widget) != first).any(), "another picture")
        opened.page.wait_for_timeout(300)  # the widget has the keyboard by then
        opened.page.keyboard.press("t")
        opened.titles(1, "tone map")
        opened.titles(1, "2 samples a pixel")  # the note goes by itself

        opened.run()
        kept = np.asarray(Image.open(tmp_path / "work" / "shown.png").convert("RGB"))
        assert (kept != first).any(), f"the camera {camera} has moved"
        # In the end the page has the very picture: the shader and NumPy round to one of two neighbouring codes.
        opened.until(lambda: np.abs(opened.pixels(widget).astype(int) - kept).max() <= 1, "the picture without loss")

        opened.run()
        opened.titles(1, "teapotahedron · 1 sample")
        opened.titles(2, "cornell")  # once more, beside it
        opened.page.screenshot(path=tmp_path / "page.png")
        assert opened.run() == "True False"
        gone = opened.page.locator(f"{WIDGET}:has-text('teapotahedron')")
        opened.until(lambda: gone.count() == 0, "the closed one gone from the page")

        opened.run()
        assert opened.run() == "42 False", "the kernel answers while the picture converges"
        opened.command("notebook:clear-all-cell-outputs")
        opened.until(lambda: opened.page.locator(WIDGET).count() == 0, "no widget")
        assert opened.run() == "0", "with the cell gone nothing is traced"
        assert opened.run() == "[]", "closed, nothing is scheduled"
        assert "Traceback" not in (line := opened.run()) and "nowhere.ply" in line
