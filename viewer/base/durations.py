"""Times as text."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """``8 s``, ``12 min`` or ``3 h 20 min``."""
    minutes = round(seconds / 60)
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
