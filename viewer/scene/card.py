"""Scenes and meshes as a notebook shows them."""

from __future__ import annotations

from typing import Any

PICTURE_SIDE, PICTURE_SAMPLES = 160, 16  # pixels; samples per pixel


def card(text: str, scene: Any) -> str:
    """The card of a scene or mesh in a notebook: HTML of a text and a picture of a scene; the text alone where no
    picture can be made."""
    return html_card(text, _picture(scene), (PICTURE_SIDE, PICTURE_SIDE))


def html_card(text: str, image: bytes, size: tuple[int, int], mimetype: str = "image/png") -> str:
    """HTML of a picture and a text, which needs neither a script nor a server; the text alone where the image is empty.

    image : a file of ``mimetype``. size : (width, height) on the page, its pixels. Colours are the page's own.
    """
    import base64
    import html  # both of notebooks alone

    line = html.escape(text)
    if not image:
        return f"<code>{line}</code>"
    data = base64.b64encode(image).decode("ascii")
    return (
        '<div style="display: flex; flex-wrap: wrap; gap: 0.75em; align-items: flex-start">'
        f'<img src="data:{mimetype};base64,{data}" width="{size[0]}" height="{size[1]}" alt=""/>'
        f'<div style="flex: 1 1 20em"><code>{line}</code></div></div>'
    )


def _picture(scene: Any) -> bytes:
    """A PNG file of the scene, rendered by the defaults; empty without triangles, and without OpenGL."""
    import warnings

    import raystream  # the renderer is floors above: this package hands it out

    if not scene.triangle_count:
        return b""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return raystream.render(scene, size=PICTURE_SIDE, spp=PICTURE_SAMPLES).png()
    except raystream.ViewerError:
        return b""
