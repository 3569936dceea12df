"""The random numbers that a path takes at a surface, counted: the use of each dimension of a sample."""

from __future__ import annotations

from viewer.stream.declare.kernel import Module

CAMERA = 4  # film and lens, of every sample
# What a surface takes, in order, and how many numbers; two that belong together begin at an even one.
SURFACE = {"LIGHT": 1, "POINT": 2, "WAY": 2, "LOBE": 1, "ROULETTE": 1}


def dimensions(more: dict[str, int] | None = None) -> dict[str, int]:
    """The constants of GLSL: ``DIMENSION_<name>`` within a surface's own, and how many these are, an even number.

    more : dimensions of this scene's surfaces beside `SURFACE`.
    """
    found, count = {}, 0
    for name, width in {**SURFACE, **(more or {})}.items():
        count += count % 2 if width > 1 else 0
        found[f"DIMENSION_{name}"] = count
        count += width
    return {**found, "DIMENSIONS_OF_CAMERA": CAMERA, "DIMENSIONS_OF_SURFACE": count + count % 2}


def surface_dimensions(more: dict[str, int] | None = None) -> Module:
    """``surface_dimension``, and the constants of `dimensions`."""
    return Module(
        "surface dimensions",
        provides=("surface_dimension",),
        source="shading/dimensions.glsl",
        constants=dict(dimensions(more)),
    )
