"""The page in a real browser; ``python -m tests.remote.test_browser OUT.png [SCENE]`` takes the README's picture."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.remote.test_remote import PATIENCE, serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
READY = "() => { const image = document.querySelector('#canvas img'); return image && image.naturalWidth > 0; }"


@contextmanager
def page(address: str, width: int = 640, height: int = 400) -> Iterator[Any]:
    """The page, in a Chromium without a display; playwright's."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        made = browser.new_page(viewport={"width": width, "height": height})
        made.goto(address)
        made.wait_for_function(READY, timeout=1000 * PATIENCE)
        yield made
        browser.close()


def picture(shown: Any) -> np.ndarray:
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(shown.screenshot())).convert("RGB")).astype(int)


@pytest.mark.slow
def test_opened_dragged_and_asked() -> None:
    with serving() as (_, address), page(address) as shown:
        shown.wait_for_timeout(2000)
        before = picture(shown)
        assert before[60:340, 200:440].std() > 10  # the box, and no blank page
        size = shown.evaluate("() => document.querySelector('#canvas img').getBoundingClientRect().toJSON()")
        assert (size["width"], size["height"]) == (640, 400)
        shown.mouse.move(320, 200)
        shown.mouse.down()
        shown.mouse.move(380, 210, steps=6)
        shown.mouse.up()
        shown.wait_for_timeout(1500)
        dragged = picture(shown)
        assert np.abs(dragged - before).mean() > 5
        shown.keyboard.press("L")
        shown.click("#options summary")
        shown.wait_for_timeout(2500)
        assert shown.input_value("select[name=shadows]") == "off"
        shown.select_option("select[name=program]", "whitted")
        shown.wait_for_function("() => document.getElementById('line').textContent.includes('sample')", timeout=60000)
        shown.set_viewport_size({"width": 500, "height": 300})
        shown.wait_for_function("() => document.querySelector('#canvas img').naturalWidth === 500", timeout=60000)


def main(out: str, scene: str = "hall") -> None:
    with serving(scene=scene, options=()) as (_, address), page(address, 960, 540) as shown:
        shown.click("#options summary")
        shown.wait_for_timeout(60_000)
        shown.screenshot(path=out)


if __name__ == "__main__":
    main(*sys.argv[1:])
