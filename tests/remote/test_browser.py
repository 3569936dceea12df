"""The page in a real browser; ``python -m tests.remote.test_browser OUT.png [SCENE]`` takes the picture of its page."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.remote.test_remote import PATIENCE, serving

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
READY = "() => { const image = document.querySelector('#canvas img'); return image && image.naturalWidth > 0; }"


@contextmanager
def page(address: str, width: int = 640, height: int = 400, **more: Any) -> Iterator[Any]:
    """The page, in a Chromium without a display; playwright's. more : of the browser, as playwright has it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        made = browser.new_page(viewport={"width": width, "height": height}, **more)
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


def value(shown: Any, name: str) -> str:
    """What an option is now."""
    return shown.evaluate("async (name) => (await (await fetch('options.json')).json())[name]", name)


def at_rest(shown: Any) -> np.ndarray:
    """The picture once nothing better comes: its lossless frame follows the others after 0.3 s."""
    frame = "() => document.querySelector('#canvas img').src"
    before = None
    while (now := shown.evaluate(frame)) != before:
        before = now
        shown.wait_for_timeout(1500)
    return picture(shown)


def until(shown: Any, condition: Any, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never came: {what}"
        shown.wait_for_timeout(50)


@pytest.mark.slow
def test_keys_whatever_was_clicked() -> None:
    """The picture has the keyboard from the start, beside open panels, after Tab and with a list in the focus; a text
    field keeps what is typed."""
    with serving() as (_, address), page(address) as shown:
        on = "on"

        def toggled(after: str) -> None:
            nonlocal on
            shown.keyboard.press("l")
            on = "off" if on == "on" else "on"
            until(shown, lambda: value(shown, "shadows") == on, f"a key {after}")

        toggled("at the start")
        shown.click("#options summary")
        toggled("with the options open")
        shown.click("#keys summary")
        shown.click("#keys summary")
        toggled("after the keys were shown")
        shown.keyboard.press("Tab")  # flies, and does not leave the picture
        toggled("after Tab")
        shown.click("#options summary")
        shown.focus("select[name=tonemap]")
        toggled("beside a list in the focus")
        shown.select_option("select[name=denoise]", "none")
        toggled("after a choice")
        shown.fill("input[name=spp]", "")
        shown.type("input[name=spp]", "7l")
        shown.wait_for_timeout(300)
        assert value(shown, "shadows") == on and shown.input_value("input[name=spp]") == "7l"
        shown.keyboard.press("Escape")
        toggled("after Esc in a text")
        shown.focus("#keys summary")
        shown.keyboard.press("Enter")
        shown.click("#keys button[name='shadows.toggle']")
        on = "off" if on == "on" else "on"
        until(shown, lambda: value(shown, "shadows") == on, "what is clicked in the list of keys")


@pytest.mark.slow
def test_the_bar_of_an_animation() -> None:
    """It opens at the moment asked for; plays, scrubs and chooses; the picture has the keyboard again."""
    with serving("--moment", "0.5", scene="balls") as (_, address), page(address) as shown:
        play, time_, which, speed, loop = (f"#motion > :nth-child({k})" for k in range(1, 6))
        until(shown, lambda: shown.is_visible(time_) and float(shown.input_value(time_)) == 0.5, "the moment")
        assert not shown.is_visible(which), "there is one animation alone"
        shown.select_option(speed, "0.25")
        shown.click(play)
        until(shown, lambda: float(shown.input_value(time_)) not in (0.0, 0.5), "another moment")
        assert shown.inner_text(play) == "Pause" and shown.input_value(speed) == "0.25"
        shown.keyboard.press("Space")
        until(shown, lambda: shown.inner_text(play) == "Play", "a pause by its key")
        shown.click(loop)
        until(shown, lambda: shown.get_attribute(loop, "aria-pressed") == "false", "no loop")


@pytest.mark.slow
def test_fingers() -> None:
    """One orbits, two pinch and pan; none of them scrolls or magnifies the page."""
    with serving() as (_, address), page(address, 240, 320, has_touch=True, is_mobile=True) as shown:
        touches = shown.context.new_cdp_session(shown)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            listed = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
            touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": listed})
            shown.wait_for_timeout(60)

        def gesture(*moves: tuple[tuple[float, float], ...]) -> np.ndarray:
            touch("touchStart", *moves[0][:1])
            touch("touchStart", *moves[0])
            for points in moves[1:]:
                touch("touchMove", *points)
            touch("touchEnd")
            return at_rest(shown)

        def dark(found: np.ndarray) -> float:
            return float((np.abs(found - around) < 4).all(axis=2)[60:300].mean())

        start = at_rest(shown)
        around = start[60, 4]  # beside the box
        orbited = gesture(((60, 160),), ((90, 160),), ((120, 170),))
        assert np.abs(orbited - start).mean() > 5
        back = gesture(((120, 170),), ((90, 160),), ((60, 160),))
        assert dark(start) > 0.04, "there is something around the box"
        wide, near = ((100, 160), (140, 160)), ((60, 160), (180, 160))
        pinched = gesture(wide, ((80, 160), (160, 160)), near)
        assert dark(pinched) < 0.5 * dark(back), "nearer, less is seen of what is around the box"
        again = gesture(near, ((80, 160), (160, 160)), wide)
        # The same camera but for rounding, on which pixels of edges hang.
        assert (np.abs(again - back).max(axis=2) > 8).mean() < 0.02
        panned = gesture(wide, ((130, 160), (170, 160)), ((160, 160), (200, 160)))
        moved = np.roll(back, 60, axis=1)
        assert np.abs(panned - moved)[100:220, 60:].mean() < 0.5 * np.abs(panned - back)[100:220, 60:].mean()
        assert shown.evaluate("() => [window.scrollX, window.scrollY, window.visualViewport.scale]") == [0, 0, 1]


LINE = "() => document.getElementById('line').textContent"
GOOD = 48  # samples of a pixel: denoised they look as the converged picture does


def main(out: str, scene: str = "hall") -> None:
    with serving(scene=scene, options=()) as (_, address), page(address, 960, 540) as shown:
        shown.click("#options summary")
        while (found := re.search(r"(\d+) samples", shown.evaluate(LINE))) is None or int(found[1]) < GOOD:
            shown.wait_for_timeout(500)
        shown.wait_for_timeout(5000)  # the next frame, at most
        shown.screenshot(path=out)


if __name__ == "__main__":
    main(*sys.argv[1:])
