"""Flags of rendering, text alignments and OpenGL's numbers, with pyrender's names and values."""

from __future__ import annotations

from typing import Final

DEFAULT_SCENE_SCALE = 2.0  # of a scene without extent, scene units
DEFAULT_Z_NEAR, DEFAULT_Z_FAR = 0.05, 100.0  # of cameras, scene units


class RenderFlags:
    """Contents of a picture; combined by ``|``."""

    NONE: Final = 0  # light, shadows and reflections
    DEPTH_ONLY: Final = 1  # depth alone, without colour
    OFFSCREEN: Final = 2  # as always here
    FLIP_WIREFRAME: Final = 4  # edges of triangles, one pixel wide, where a material says none; and the other way
    ALL_WIREFRAME: Final = 8  # edges everywhere
    ALL_SOLID: Final = 16  # edges nowhere
    SHADOWS_DIRECTIONAL: Final = 32  # as always here, like the next ones
    SHADOWS_POINT: Final = 64
    SHADOWS_SPOT: Final = 128
    SHADOWS_ALL: Final = 32 | 64 | 128
    VERTEX_NORMALS: Final = 256  # not drawn
    FACE_NORMALS: Final = 512  # not drawn
    SKIP_CULL_FACES: Final = 1024  # back faces are visible
    RGBA: Final = 2048  # four channels
    FLAT: Final = 4096  # colours of materials, without light
    SEG: Final = 8192  # a colour for each node


class TextAlign:
    """Places of captions."""

    CENTER = 0
    CENTER_LEFT = 1
    CENTER_RIGHT = 2
    BOTTOM_LEFT = 3
    BOTTOM_RIGHT = 4
    BOTTOM_CENTER = 5
    TOP_LEFT = 6
    TOP_RIGHT = 7
    TOP_CENTER = 8


class GLTF:
    """Numbers of filters, wrap modes and primitives, those of OpenGL and glTF 2.0."""

    NEAREST = 9728
    LINEAR = 9729
    NEAREST_MIPMAP_NEAREST = 9984
    LINEAR_MIPMAP_NEAREST = 9985
    NEAREST_MIPMAP_LINEAR = 9986
    LINEAR_MIPMAP_LINEAR = 9987
    CLAMP_TO_EDGE = 33071
    MIRRORED_REPEAT = 33648
    REPEAT = 10497
    POINTS = 0
    LINES = 1
    LINE_LOOP = 2
    LINE_STRIP = 3
    TRIANGLES = 4
    TRIANGLE_STRIP = 5
    TRIANGLE_FAN = 6
