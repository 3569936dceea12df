"""A picture in one line, of whatever is at hand."""

from __future__ import annotations

from typing import Any

from viewer.base.errors import warn
from viewer.options.table import check
from viewer.renderer.inputs.prepared import PreparedScene
from viewer.renderer.inputs.settings import NAMES, unknown_keyword
from viewer.renderer.inputs.validate import SCENE_KEYWORDS, scene_given
from viewer.renderer.renderer import RENDER_KEYWORDS, Renderer
from viewer.renderer.sampling.picture import Picture
from viewer.renderer.sequence import moment_remarks, shown_at
from viewer.scene.edits.animated import playing


def render(
    scene: Any,
    *,
    moment: float | None = None,
    animation: str | int | None = None,
    shutter: tuple[float, float] | str | None = None,
    motion_keys: int | str = "auto",
    fps: float = 30.0,
    **options: Any,
) -> Picture:
    """A picture of a file, a built-in scene, a `Scene`, arrays, or an object of trimesh, PyVista or Open3D.

    scene   : as of `viewer.formats.objects.take.scene_of`.
    moment  : seconds of a scene's animation; None: the rest pose. animation : which one, by name or number, or ``all``
    (at 0 seconds without a moment); None: the one that is chosen in the scene.
    shutter : when it opens and closes, as shares of a frame of 1 / ``fps`` seconds that begins there (at 0 without a
    moment): motion is blurred. motion_keys : times of it at which moving parts are placed.
    options : those of `Renderer` and of `Renderer.render`, such as ``size=(640, 480), spp=64, environment="sky"``;
    ``variant`` and ``lenient`` of files, ``up`` ("y" or "z") of others. A camera is in the object's own coordinates.

    >>> raystream.render("bunny.ply", spp=64).save("bunny.png")
    >>> raystream.render((vertices, faces), camera="3,2,4 0,0,0")

    Raises ViewerError for a bad scene, and for an unknown option or a wrong value; DeviceError without
    OpenGL 3.3.
    """
    for name in options.keys() - {*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS, "settings", "device", "progress"}:
        raise unknown_keyword(name, "render", (*NAMES, *RENDER_KEYWORDS, *SCENE_KEYWORDS))
    if moment is not None or animation is not None or shutter is not None:
        given = scene_given(scene, options)
        found = playing(given.given if isinstance(given, PreparedScene) else given, animation)
        warn(moment_remarks(found, check("moment", moment)))
        times = check("moment", moment) or 0.0, check("fps", fps)
        scene = shown_at(found, *times, check("shutter", shutter), check("motion_keys", motion_keys))
    drawn = {name: options.pop(name) for name in RENDER_KEYWORDS if name in options}
    renderer = Renderer(scene, **options)
    try:
        return renderer.render(**drawn)
    finally:
        renderer.release()
