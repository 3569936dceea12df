"""The event loop in which widgets live, as a notebook's kernel has it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from widget_page import CHOSEN

PATIENCE = 600.0  # seconds, against hanging alone: a busy machine compiles shaders slowly


@pytest.fixture
def run(device: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Runs what a test does in an event loop, as a notebook's kernel does."""
    from rendercanvas.anywidget import loop

    from raystream.notebook.widget import Widget

    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "settings.toml"))

    def run_(body: Callable[..., Awaitable[None]], count: int = 1, **chosen: Any) -> None:
        async def whole() -> None:
            widgets = [Widget("cornell", **{**CHOSEN, **chosen}) for _ in range(count)]
            try:
                await asyncio.wait_for(body(*widgets), PATIENCE)
            finally:
                for widget in widgets:
                    widget.close()
                await asyncio.sleep(0)  # rendercanvas' task starts: cancelled before, its loop is never reset
                loop.stop(force=True)

        asyncio.run(whole())

    return run_
