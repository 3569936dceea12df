"""The scripts that a page has beside rendercanvas's own."""

from __future__ import annotations

from viewer.base.paths import assets


def script(name: str) -> str:
    """JavaScript of ``assets/canvas``, to run after rendercanvas's ``renderview.js`` and before it makes a view."""
    return (assets() / "canvas" / name).read_text(encoding="utf-8")
