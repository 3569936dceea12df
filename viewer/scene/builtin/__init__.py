"""Built-in scenes by name, without files; the first of each one's named viewpoints is the default camera."""

from __future__ import annotations

from importlib import import_module

from raystream.base.errors import ViewerError
from raystream.scene.scene import Scene

# Name -> description; each is a module of this folder with a function build(), or a function of `_MODULES`.
SCENES = {
    "cornell": "the Cornell box, from its published measurements",
    "teapotahedron": "the Utah teapot beside the five Platonic solids over a checkered floor",
    "forest": "two thousand trees of a few species on hilly ground, one million triangles",
    "building": "a furnished building around an atrium, 1.5 million triangles: large walls, small furniture",
    "stadium": "a teapot in a stadium: the worst case of uniform grids",
    "balls": "ten spheres, two of which orbit and reflect each other: a scene that moves",
    "glass_ball": "a ball of glass over a floor, and the caustic below it",
    "ring": "a ring of metal in which a point light draws a cardioid",
    "cornell_photons": "the Cornell box with balls of glass and mirror: colour bleeding and a caustic",
    "hall": "a vaulted hall with two rows of columns, lit from outside through its openings",
    "prism": "a glass prism that parts a narrow beam into its colours",
    "sphere": "a sphere of classic glass on tiles that reflect, with colours of its vertices",
    "chair": "a wooden chair in a distant light",
    "palm_pc": "a pocket computer on a desk",
    "knife": "a kitchen knife on a board",
    "jet": "a black jet on concrete",
    "palace": "a palace with a dome, four towers and a colonnade",
    "helicopter": "a helicopter above a field",
}
# Scenes in shared modules or under other names.
_MODULES = {
    **dict.fromkeys(("glass_ball", "ring", "cornell_photons"), "caustics"),
    "sphere": "classic",
    **dict.fromkeys(("chair", "palm_pc", "knife"), "objects"),
    **dict.fromkeys(("jet", "helicopter"), "aircraft"),
    "palace": "palace",
}


def names() -> list[str]:
    """The names of all built-in scenes."""
    return list(SCENES)


def build(name: str) -> Scene:
    """The built-in scene of that name. Raises ViewerError for an unknown one, and lists the known ones."""
    if name not in SCENES:
        raise ViewerError(name, "no such built-in scene", f"built-in scenes: {', '.join(SCENES)}")
    module = import_module(f"{__name__}.{_MODULES.get(name, name)}")
    scene: Scene = getattr(module, name if name in _MODULES else "build")()
    return scene
