"""The part of a window left to the picture by panels, and the ground around it; known before Dear ImGui is loaded."""

from __future__ import annotations

GROUND = (0.085, 0.094, 0.110)  # sRGB
ROOM = 10.0  # between panels and the window's edge, in units of the window on a plain screen, as all lengths here
SIDE_WIDTH = 300.0  # of the panel at the left
INSPECTOR_WIDTH = 400.0  # of the one at the right, at first
LEAST_FREE = 220.0  # a narrower gap between panels is none
LEAST_WINDOW = (220.0, 140.0)  # below this the panels would hide the whole picture
LEAST_SCALE = 0.5


def scale_of(content: float, framebuffer: float) -> float:
    """Size of text and widgets against a plain screen, from that of the window's content and pixels per unit."""
    return max(LEAST_SCALE, content / max(1.0, framebuffer))


def panels_fit(size: tuple[float, float], scale: float) -> bool:
    """Whether a window of that size, in its own coordinates, has room for panels."""
    return size[0] >= scale * LEAST_WINDOW[0] and size[1] >= scale * LEAST_WINDOW[1]


def free(left: bool, right: bool, wide: float, scale: float) -> tuple[float, float]:
    """Where a window, so ``wide``, is free of panels: the left and right end, for those that are open."""
    start = scale * (ROOM + SIDE_WIDTH) if left else 0.0
    end = wide - (scale * (ROOM + INSPECTOR_WIDTH) if right else 0.0)
    return (start, end) if end - start >= scale * LEAST_FREE else (0.0, wide)
