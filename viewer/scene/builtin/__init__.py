"""Scenes that need no file, by name; each with named viewpoints, the first of which is the default camera."""

from __future__ import annotations

from importlib import import_module

from viewer.base.errors import ViewerError
from viewer.scene.scene import Scene

# Name -> what it shows; each is a module of this folder with a function build().
SCENES = {
    "cornell": "the Cornell box, from its published measurements",
    "teapotahedron": "the Utah teapot beside the five Platonic solids over a checkered floor",
    "forest": "two thousand trees of a few species on hilly ground, one million triangles",
    "stadium": "a teapot in a stadium: the worst case of uniform grids",
    "balls": "ten spheres, two of which orbit and reflect each other: a scene that moves",
}


def names() -> list[str]:
    """The names that `build` takes."""
    return list(SCENES)


def build(name: str) -> Scene:
    """The built-in scene of that name. Raises ViewerError for an unknown one, and lists the known ones."""
    if name not in SCENES:
        raise ViewerError(name, "no such built-in scene", f"built-in scenes: {', '.join(SCENES)}")
    return import_module(f"{__name__}.{name}").build()
