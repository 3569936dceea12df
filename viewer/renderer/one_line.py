"""A picture in one line, of whatever is at hand."""

from __future__ import annotations

from typing import Any

from viewer.renderer.inputs.settings import NAMES, unknown_keyword
from viewer.renderer.inputs.validate import SCENE_KEYWORDS
from viewer.renderer.renderer import RENDER_KEYWORDS, Renderer
from viewer.renderer.sampling.picture import Picture


def render(scene: Any, **options: Any) -> Picture:
    """A picture of a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D.

    scene   : as of `viewer.formats.objects.take.scene_of`.
    options : those of `Renderer` and of `Renderer.render`, such as ``size=(640, 480), spp=64, environment="sky"``;
    ``variant`` and ``lenient`` of files, ``up`` ("y" or "z") of others. A camera is in the object's own coordinates.

    >>> raystream.render("bunny.ply", spp=64).save("bunny.png")
    >>> raystream.render((vertices, faces), camera="3,2,4 0,0,0")

    Raises ViewerError for what cannot be shown, and for an unknown option or a wrong value; DeviceError without
    OpenGL 3.3.
    """
    for name in options.keys() - {*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS, "settings", "device", "progress"}:
        raise unknown_keyword(name, "render", (*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS))
    drawn = {name: options.pop(name) for name in RENDER_KEYWORDS if name in options}
    renderer = Renderer(scene, **options)
    try:
        return renderer.render(**drawn)
    finally:
        renderer.release()
