"""The browser's side of a widget, and the options of the widgets that tests make."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import numpy as np
from PIL import Image

SIZE = (24, 16)
CHOSEN = {"size": SIZE, "program": "cast", "machine": "singlepass", "exposure": 0.0}


class Page:
    """The browser's side of a widget: it takes frames, confirms them, and sends events."""

    def __init__(self, widget: Any, seen: bool = True) -> None:
        self.widget, self.frames, self.motion = widget, [], []
        widget.send = self._take
        self.send("resize", width=SIZE[0], height=SIZE[1], pwidth=SIZE[0], pheight=SIZE[1], ratio=1.0)
        widget._has_visible_views = seen

    def _take(self, content: dict[str, Any], buffers: Any = None) -> None:
        if content["type"] == "motion":
            self.motion.append(content)
            return
        self.frames.append(np.asarray(Image.open(io.BytesIO(buffers[0])).convert("RGB")))
        self.widget._frame_feedback = {"index": content["index"], "timestamp": 0.0, "localtime": 0.0}

    def send(self, kind: str, **more: Any) -> None:
        self.widget._handle_custom_msg({"type": kind, "timestamp": 0.0, **more}, [])

    def point(self, kind: str, x: float, y: float) -> None:
        self.send(kind, x=x, y=y, button=1, buttons=[1], modifiers=[], ntouches=0, touches={})

    async def rest(self, frames: int = 0) -> None:
        """Until there are that many frames, and nothing is left to do."""
        while len(self.frames) < frames or not self.widget.view.idle or self.widget.drive.pending:
            await asyncio.sleep(0.01)
