"""One "+" made every later model too bright: the window kept an exposure set by hand beyond its scene, and saved it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.viewport.test_canvas_view import event, opened, rest
from tests.window.test_files import SMALL_TRIANGLE


@pytest.mark.usefixtures("device")
def test_it_is_the_open_scene_s(tmp_path: Path) -> None:
    """Read anew the scene keeps it, the next one does not; a key goes back to auto at once."""
    for name in ("a.ply", "b.ply"):
        (tmp_path / name).write_bytes(SMALL_TRIANGLE)
    view = opened(str(tmp_path / "a.ply"), exposure="auto")

    def press(key: str) -> Any:
        view.handle(event("key_down", key=key))
        rest(view)
        return view.view.tone.exposure

    rest(view)
    first = view.view.tone.stops
    assert press("+") == view.view.tone.stops == first + 0.25
    assert press("F5") == first + 0.25
    before = view.read()
    assert press("0") == "auto" and view.value("exposure") == "auto" and view.view.tone.stops == pytest.approx(first)
    assert (view.read() != before).any()
    assert press("+") == pytest.approx(first + 0.25)
    assert press("ArrowRight") == "auto" and view.scene_loader.shown_path.endswith("b.ply")
    view.update(exposure=2.0)
    view.park()
    view.wait()
    assert view.view.tone.exposure == 2.0, "the same scene comes back"
    view.release()
