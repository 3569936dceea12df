"""Pictures rendered by many processes, on one machine or a cluster, with the bits of one.

>>> import raystream
>>> raystream.farm.render("bunny.ply", cluster="local:4", size=(1920, 1080), spp=256).save("bunny.png")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raystream.farm.pictures import render, render_frames

__all__ = ["render", "render_frames"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'raystream.farm' has no attribute '{name}'")
    from raystream.farm import pictures

    return getattr(pictures, name)
