"""The triangles that a pinhole sees, drawn from a vertex buffer with a depth buffer: the nearest one of each pixel.

A software driver passes whatever is drawn through its vertex programs on one core: groups of triangles that lie outside
of the picture are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.stream.compile.generate import VERSION
from viewer.stream.compile.source import Source
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Shader
from viewer.stream.gl.objects import RawObject
from viewer.stream.gl.rasterize import attach_depth
from viewer.stream.gl.stream import float_texture

GROUP = 128  # triangles that are left out, or drawn, together
ROW = 4096  # places in a row of the texture of numbers
NEAR = 1e-6  # of the extent: what is nearer to the eye is cut


@dataclass(frozen=True)
class View:
    """A pinhole: origin (3,), and right, up, forward (3,), of which the first two are as long as the tangents of half
    the field of view."""

    origin: NDArray[np.float64]
    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]

    @property
    def rows(self) -> NDArray[np.float64]:
        """(3, 3): from a place relative to the origin to column and row, -1 .. 1 times the depth, and depth."""
        across, down = self.right / (self.right @ self.right), -self.up / (self.up @ self.up)
        return np.stack([across, down, self.forward])

    def sees(self, low: NDArray, high: NDArray) -> NDArray[np.bool_]:
        """(N,): whether boxes (N, 3) may be in the picture."""
        middle, half = (low + high) / 2 - self.origin, (high - low) / 2
        across, down, forward = self.rows
        out = np.ones(len(low), np.bool_)
        for plane in (forward, forward - across, forward + across, forward - down, forward + down):
            out &= middle @ plane + half @ np.abs(plane) >= 0
        return out


def visible_source(stage: str) -> Source:
    """Its ``vertex`` or ``fragment`` program."""
    source = Source()
    source.add(VERSION, "version")
    source.include(f"raster/visible_{stage}.glsl")
    return source


class VisibleTriangles:
    """Triangles on the device, as an index buffer over vertices; the context must be current in every call.

    positions : (V, 3), scene units. corners : (T, 3) addresses of vertices. one_sided : (T,) whether a triangle is seen
    from its front alone, counter-clockwise; None: all from both sides. Triangles that are not finite are left out.
    visible : a texture of floats, row 0 at the top: the place of a triangle in ``order``, a texture of numbers in rows
    of `ROW`, or -1.
    """

    def __init__(
        self, device: Device, positions: NDArray, corners: NDArray, one_sided: NDArray[np.bool_] | None = None
    ) -> None:
        self.device, self._from = device, (positions, corners, one_sided)
        positions = np.ascontiguousarray(positions, np.float32)
        numbers = np.flatnonzero(np.isfinite(positions).all(axis=1)[corners].all(axis=1))
        places = positions[corners[numbers]].astype(np.float64)
        sided = np.zeros(len(numbers), np.bool_) if one_sided is None else one_sided[numbers]
        order = np.lexsort((_along_curve(places.mean(axis=1)), sided))
        self.twofold = int((~sided).sum())  # those that are seen from both sides come first
        self._two = -(-self.twofold // GROUP)  # groups of them
        # Groups of one length: the last of each kind is filled up with its first triangle, which changes nothing.
        ends = [(0, self.twofold), (self.twofold, len(numbers))]
        filled = order[np.concatenate([_filled(first, end) for first, end in ends])]
        numbers, groups = numbers[filled], len(filled) // GROUP
        self._numbers = numbers.reshape(groups, GROUP).astype(np.float32)
        self._corners = np.ascontiguousarray(corners[numbers], np.uint32).reshape(groups, GROUP, 3)
        boxes = places[filled].reshape(groups, 3 * GROUP, 3)
        self._low, self._high = boxes.min(axis=1), boxes.max(axis=1)
        self.extent = float(np.linalg.norm(self._high.max(axis=0) - self._low.min(axis=0))) if groups else 1.0
        self.drawn = 0  # triangles in the last picture, those that fill up a group among them
        self._first = 0  # of these those that are seen from both sides
        self.shader = Shader(device, visible_source("fragment"), visible_source("vertex"))
        context = device.context
        self._vertices = context.buffer(positions.tobytes() or bytes(12))
        self._indices = context.buffer(reserve=max(12, self._corners.nbytes), dynamic=True)
        content = [(self._vertices, "3f4", "position")]
        self._array = context.vertex_array(self.shader.program, content, self._indices, index_element_size=4)
        self.order = float_texture(device, (ROW, max(1, -(-groups * GROUP // ROW))), 1)
        self._kept: NDArray[np.bool_] | None = None  # the groups that the index buffer holds
        self.visible = float_texture(device, (1, 1), 1)
        self._target: moderngl.Framebuffer | None = None
        self._depth: RawObject | None = None

    def drawn_from(self, positions: NDArray, corners: NDArray, one_sided: NDArray[np.bool_] | None) -> bool:
        """Whether these triangles are the same."""
        mine, sides = self._from, self._from[2]
        if (sides is None) != (one_sided is None):
            return False
        same = sides is None or one_sided is None or np.array_equal(sides, one_sided)
        return same and np.array_equal(mine[0], positions) and np.array_equal(mine[1], corners)

    def draw(self, view: View, size: tuple[int, int]) -> None:
        """Find the nearest triangle of every pixel of a picture of ``size`` (width, height)."""
        target, context, shader = self._resized(size), self.device.context, self.shader
        self._keep(view.sees(self._low, self._high))
        target.depth_mask = True
        target.use()
        target.clear(-1.0, depth=0.0)
        target.viewport = (0, 0, *size)
        context.enable(moderngl.DEPTH_TEST)
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        context.depth_func = ">"
        shader.set("view_origin", tuple(map(float, view.origin)))
        shader.set("view_rows", tuple(map(float, view.rows.ravel())))
        shader.set("least_depth", NEAR * self.extent)
        shader.set("first", 0)
        if self._first:
            self._array.render(moderngl.TRIANGLES, vertices=3 * self._first)
        if self.drawn > self._first:
            shader.set("first", self._first)
            context.enable(moderngl.CULL_FACE)
            context.front_face = "cw"  # row 0 is at the top
            context.cull_face = "back"
            self._array.render(moderngl.TRIANGLES, vertices=3 * (self.drawn - self._first), first=3 * self._first)
            context.front_face = "ccw"
            context.disable(moderngl.CULL_FACE)
        context.disable(moderngl.DEPTH_TEST)
        context.depth_func = "<"

    def _keep(self, groups: NDArray[np.bool_]) -> None:
        """Have the triangles of these groups in the index buffer, and their numbers in the texture."""
        if self._kept is not None and np.array_equal(groups, self._kept):
            return
        self._kept = groups
        numbers = self._numbers[groups].ravel()
        self.drawn, self._first = len(numbers), GROUP * int(groups[: self._two].sum())
        if not self.drawn:
            return
        self._indices.write(self._corners[groups])
        rows = -(-self.drawn // ROW)
        texels = np.zeros(rows * ROW, np.float32)
        texels[: self.drawn] = numbers
        self.order.write(texels, viewport=(0, 0, ROW, rows))

    def _resized(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        if self._target is None or self.visible.size != size:
            self._free_target()
            self.visible = float_texture(self.device, size, 1)
            self._target = self.device.context.framebuffer([self.visible])
            self._depth = attach_depth(self.device, self._target, size)
        return self._target

    def _free_target(self) -> None:
        if self._target is not None and self._depth is not None:
            self._depth.release()
            self._target = self._depth = None
        self.visible.release()

    def release(self) -> None:
        """Free buffers and textures."""
        self._free_target()
        for part in (self._array, self._vertices, self._indices, self.order):
            part.release()


def _along_curve(places: ArrayLike) -> NDArray[np.int64]:
    """(N,) numbers of places (N, 3) along Morton's curve: those that follow each other lie near each other."""
    at = np.asarray(places, np.float64).reshape(-1, 3)
    low = at.min(axis=0, initial=np.inf)
    size = float(np.max(at.max(axis=0, initial=-np.inf) - low, initial=0.0))
    cells = ((at - low) * (1023 / size if size > 0 else 0.0)).astype(np.int64)
    out = np.zeros(len(at), np.int64)
    for bit in range(10):
        for axis in range(3):
            out |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return out


def _filled(first: int, end: int) -> NDArray[np.int64]:
    """Numbers from ``first`` to ``end``, and as many times the first as fill up a last group."""
    return np.concatenate([np.arange(first, end), np.full(-(end - first) % GROUP, first, np.int64)]).astype(np.int64)
