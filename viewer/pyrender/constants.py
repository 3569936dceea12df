"""Flags of rendering, text alignments and OpenGL's numbers, with pyrender's names and values."""

from __future__ import annotations


class RenderFlags:
    """Contents of a picture; combined by ``|``."""

    NONE = 0  # light, shadows and reflections
    DEPTH_ONLY = 1  # depth alone, without colour
    OFFSCREEN = 2  # as always here
    FLIP_WIREFRAME = 4  # surfaces are drawn whole
    ALL_WIREFRAME = 8  # likewise
    ALL_SOLID = 16
    SHADOWS_DIRECTIONAL = 32  # as always here, like the next ones
    SHADOWS_POINT = 64
    SHADOWS_SPOT = 128
    SHADOWS_ALL = 32 | 64 | 128
    VERTEX_NORMALS = 256  # not drawn
    FACE_NORMALS = 512  # not drawn
    SKIP_CULL_FACES = 1024  # back faces are visible
    RGBA = 2048  # four channels
    FLAT = 4096  # colours of materials, without light
    SEG = 8192  # a colour for each node


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
