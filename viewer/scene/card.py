"""Scenes and meshes as a notebook shows them."""

from __future__ import annotations

from typing import Any

SIDE, SAMPLES = 160, 16  # pixels, samples of each


def card(text: str, scene: Any) -> str:
    """The card of a scene or mesh in a notebook: HTML of a text and a picture of a scene; the text alone where no
    picture can be made."""
    import html  # of notebooks alone

    line = f"<code>{html.escape(text)}</code>"
    picture = _picture(scene)
    if not picture:
        return line
    return f'<img src="data:image/png;base64,{picture}" width="{SIDE}" height="{SIDE}" style="float: left"/>{line}'


def _picture(scene: Any) -> str:
    """A PNG by the defaults, in base64; empty without triangles, and without OpenGL."""
    import base64
    import warnings

    import viewer  # the renderer is floors above: this package hands it out

    if not scene.triangle_count:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = viewer.render(scene, size=SIDE, spp=SAMPLES)
            return base64.b64encode(made.png()).decode("ascii")
    except viewer.ViewerError:
        return ""
