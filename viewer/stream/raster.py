"""Instances of triangle meshes for the rasteriser, of which a view draws those that it may see.

A software driver passes whatever is drawn through its vertex programs on one core: instances outside of the picture are
left out, and of meshes that stand in it once the groups of triangles outside of it.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import moderngl
import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.stream.compile.generate import add_modules
from raystream.stream.compile.memories import Addresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import DrawSizes, Shader, ranges
from raystream.stream.gl.objects import RawObject
from raystream.stream.gl.stream import Stream, float_texture

# -- triangles rasterised with a depth buffer into records -------------------------------------------------------------
# The ordinary feed-forward pipeline beside the stream processor.
# A draw has its own vertex and fragment program, made of the same modules as kernels. It fills a rectangle of
# records; `raystream.stream.gl.resources` copies these to a stream in row order for machines.

_RENDERBUFFER, _FRAMEBUFFER, _DEPTH_ATTACHMENT = 0x8D41, 0x8D40, 0x8D00
_DEPTH_32F = 0x8CAC


def draw_source(
    modules: Sequence[Module],
    records: Sequence[Record],
    file: str,
    addresses: Addresses,
    rounds: bool = False,
) -> Source:
    """A vertex or fragment program of these modules and a file with ``main``; ``records`` are those it uses besides the
    modules'. rounds: records are packed in the imposed float format (`raystream.stream.declare.limits`)."""
    source = Source.begin()
    if rounds:
        source.include("lib/stored.glsl")
    used = list(records)
    for module in modules:
        used += [memory.record for memory in module.memories if isinstance(memory, Table)]
        used += [*module.uses, *([module.module_state] if module.module_state else [])]
    for record in dict.fromkeys(used):
        source.add_record(record, pack=True, rounding="stored" if rounds else "")
    add_modules(source, modules, addresses, counting=False, once=False)
    source.include(file)
    return source


def attach_depth(device: Device, target: moderngl.Framebuffer, size: tuple[int, int]) -> RawObject:
    """Attach a float32 depth buffer, which moderngl lacks: 24 bits are too coarse for close distances.

    Returns the renderbuffer.
    """
    unsigned, integer, depth = ctypes.c_uint, ctypes.c_int, RawObject(device, "Renderbuffer")
    require = device.require
    require("glBindRenderbuffer", unsigned, unsigned)(_RENDERBUFFER, depth.name)
    require("glRenderbufferStorage", unsigned, unsigned, integer, integer)(_RENDERBUFFER, _DEPTH_32F, *size)
    target.use()
    attach = require("glFramebufferRenderbuffer", unsigned, unsigned, unsigned, unsigned)
    attach(_FRAMEBUFFER, _DEPTH_ATTACHMENT, _RENDERBUFFER, depth.name)
    return depth


class Rasterizer:
    """A draw of triangles into W x H records, nearest first by ``gl_FragDepth``, 0 .. 1 in float32.

    blank : the record (1,) of texels without a triangle. samplers : textures by sampler name. On equal depths the
    earlier triangle wins.
    """

    def __init__(
        self,
        device: Device,
        vertex: Source,
        fragment: Source,
        record: Record,
        size: tuple[int, int],
        blank: Any,
        samplers: Mapping[str, Any],
    ) -> None:
        self.device, self.size, self.record = device, size, record
        self.shader = Shader(device, fragment, vertex, listed=True)
        self.samplers = dict(samplers)
        self.records = Stream(device, record, size)
        context = device.context
        self.target = context.framebuffer(self.records.textures)
        self.texel_targets = [context.framebuffer([texture]) for texture in self.records.textures]
        self.blank = [
            (float(r), float(g), float(b), float(a)) for r, g, b, a in device.stored(record.pack(np.asarray(blank)))[0]
        ]
        self._depth = attach_depth(device, self.target, size)

    def draw(self, triangles: int, size: tuple[int, int], uniforms: Mapping[str, Any]) -> None:
        """Draw ``triangles`` triangles into the lower left rectangle of ``size`` (width, height)."""
        context = self.device.context
        self.target.depth_mask = True
        self.target.use()  # also resets the machines' scissors, which would clip the clear
        self.target.clear(depth=1.0)
        for framebuffer, texel in zip(self.texel_targets, self.blank, strict=True):
            framebuffer.use()
            framebuffer.clear(color=texel)
        self.target.use()
        self.target.viewport = (0, 0, *size)
        context.enable(moderngl.DEPTH_TEST)
        context.depth_func = "<"
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        for name, value in uniforms.items():
            self.shader.set(name, value)
        for name, texture in self.samplers.items():
            self.shader.bind(name, texture)
        for first, count in ranges(self.shader.parts, triangles):
            self.shader.without_attributes.render(moderngl.TRIANGLES, vertices=3 * count, first=3 * first)

    def release(self) -> None:
        """Free the textures."""
        self.records.release()
        self._depth.release()


# -- instances of triangle meshes, of which a view draws those that it may see -----------------------------------------

MAX_GROUP_TRIANGLES = 128  # triangles, at most, that are left out or drawn together
ROW_ENTRIES = (
    4096  # entries in a row of the textures of triangle indices and of first slots; also shaders/raster/slot.glsl
)
ROW_SLOTS = 256  # in a row of their texture; also shaders/raster/slot.glsl
ONE_SIDED, ALPHA_TESTED = 1, 2  # kinds of triangles, bits: seen from the front alone; every fragment is tested
CLIP_TEXELS = 3  # texels of a slot that hold the rows from the mesh's space to the view's
_PLANES = np.array([[0, 0, 1], [-1, 0, 1], [1, 0, 1], [0, -1, 1], [0, 1, 1]], np.float64)  # of a frustum, inwards


@dataclass(frozen=True)
class PinholeView:
    """A pinhole camera: origin (3,), and right, up, forward (3,) in world space; the lengths of right and up are the
    tangents of half the field of view."""

    origin: NDArray[np.float64]
    right: NDArray[np.float64]
    up: NDArray[np.float64]
    forward: NDArray[np.float64]

    @property
    def rows(self) -> NDArray[np.float64]:
        """(3, 3): from world positions relative to the origin to (column, row) of -1 .. 1 times depth, and depth."""
        across, down = self.right / (self.right @ self.right), -self.up / (self.up @ self.up)
        return np.stack([across, down, self.forward])


@dataclass(frozen=True)
class RasterMesh:
    """A mesh as it is drawn; triangles with a corner that is not finite are left out.

    positions : (V, 3) float32. corners : (T, 3) int32. kinds : (T,) uint8, bits `ONE_SIDED` and `ALPHA_TESTED`.
    indices   : (T,) that programs know the triangles by, below 2^24; None: in their order.
    attributes : (V, k) float32 by the names that vertex programs read them by, the same names for all meshes.
    """

    positions: NDArray[np.float32]
    corners: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    indices: NDArray[np.int32] | None = None
    attributes: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def draws_alike(self, other: RasterMesh) -> bool:
        """Whether both are drawn alike: the same arrays without attributes, and equal kinds."""
        same_arrays = self.positions is other.positions and self.corners is other.corners
        same_arrays = same_arrays and self.attributes == other.attributes == {}
        return same_arrays and np.array_equal(self.kinds, other.kinds)


@dataclass(frozen=True)
class InstancedDraw:
    """A range of the index buffer: its triangles' kind, whether fronts are clockwise, the first triangle, their number;
    the first instance's place among those of the mesh, and the number of instances."""

    kind: int
    mirrored: bool
    first: int
    triangles: int
    offset: int
    instances: int

    @property
    def triangles_drawn(self) -> int:
        """Triangles of all its instances."""
        return self.triangles * self.instances

    def split(self, limit: int) -> tuple[InstancedDraw, list[InstancedDraw]]:
        """A draw of up to ``limit`` of its first triangles, and the draws of the others, in order."""
        if self.triangles_drawn <= limit:
            return self, []
        if self.triangles <= limit:
            whole_instances = limit // self.triangles
            return replace(self, instances=whole_instances), [
                replace(self, offset=self.offset + whole_instances, instances=self.instances - whole_instances)
            ]
        single = replace(self, instances=1)
        remaining = [replace(single, first=self.first + limit, triangles=self.triangles - limit)]
        if self.instances > 1:
            remaining.append(replace(self, offset=self.offset + 1, instances=self.instances - 1))
        return replace(single, triangles=limit), remaining


def draws_in_parts(draws: Iterable[InstancedDraw], sizes: DrawSizes) -> Iterator[list[InstancedDraw]]:
    """The draws in their order, split and combined into batches of as many triangles as ``sizes`` allows by then."""
    pending, batch, free_triangles = deque(draws), [], sizes.rays
    while pending:
        draw, remaining = pending.popleft().split(free_triangles)
        pending.extendleft(reversed(remaining))
        batch.append(draw)
        free_triangles -= draw.triangles_drawn
        if free_triangles <= 0 or not pending:
            yield batch
            batch, free_triangles = [], sizes.rays


class MeshGroups:
    """Meshes (O) in groups of triangles that lie near each other; made without OpenGL.

    ordered : along Morton's curve, which takes a while, for views that see a part; else as triangles follow each other.
    corners : (T, 3) uint32 addresses of vertices, all meshes' one behind the other. indices : (T,) float32.
    starts, lengths, mesh, kinds : (G,) of the groups. low, high : (G, 3) their boxes, in the mesh's space.
    mesh_low, mesh_high : (O, 3), inf and -inf of meshes with nothing to draw.
    """

    def __init__(self, meshes: Sequence[RasterMesh], ordered: bool = True) -> None:
        self.meshes = list(meshes)
        sizes = [len(mesh.positions) for mesh in self.meshes]
        self.first_vertices = np.cumsum([0, *sizes], dtype=np.int64)
        parts = [
            _group_triangles(mesh, int(first), ordered)
            for mesh, first in zip(self.meshes, self.first_vertices, strict=False)
        ]
        self.corners = np.concatenate([part[0] for part in parts] or [np.zeros((0, 3), np.uint32)])
        self.indices = np.concatenate([part[1] for part in parts] or [np.zeros(0, np.float32)])
        self.lengths = np.concatenate([part[2] for part in parts] or [np.zeros(0, np.int64)])
        self.kinds = np.concatenate([part[3] for part in parts] or [np.zeros(0, np.int64)])
        self.mesh = np.repeat(np.arange(len(parts)), [len(part[2]) for part in parts])
        self.starts = np.cumsum([0, *self.lengths], dtype=np.int64)[:-1]
        self.low = np.concatenate([part[4] for part in parts] or [np.zeros((0, 3))])
        self.high = np.concatenate([part[5] for part in parts] or [np.zeros((0, 3))])
        self.mesh_low, self.mesh_high = np.full((len(parts), 3), np.inf), np.full((len(parts), 3), -np.inf)
        np.minimum.at(self.mesh_low, self.mesh, self.low)
        np.maximum.at(self.mesh_high, self.mesh, self.high)

    def set_boxes(self, meshes: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Set the boxes of meshes (N,), ascending, and of all their groups to ``low``, ``high`` (N, 3), in the mesh's
        space: their positions are written on the device."""
        box_of_group = np.searchsorted(meshes, self.mesh)
        changed = np.append(meshes, -1)[box_of_group] == self.mesh  # groups of these meshes
        self.low[changed], self.high[changed] = low[box_of_group[changed]], high[box_of_group[changed]]
        has_groups = self.mesh_low[meshes, 0] <= self.mesh_high[meshes, 0]
        self.mesh_low[meshes[has_groups]], self.mesh_high[meshes[has_groups]] = low[has_groups], high[has_groups]


class InstancedMeshes:
    """Meshes on the device and their instances; the context must be current in every call but `set_instances`.

    extra : texels of four floats that programs may read of an instance, beside `CLIP_TEXELS`.
    slots : a texture of the instances that the view may see, `ROW_SLOTS` in a row, each of `CLIP_TEXELS` + extra
    texels.
    first_slots : a texture of each mesh's first slot. order : of the indices of triangles, by their places in the index
    buffer. draws : those of `render`. drawn : triangles of all instances that the view may see.
    """

    def __init__(self, device: Device, groups: MeshGroups, extra: int = 1) -> None:
        self.device, self.groups, self.texels = device, groups, CLIP_TEXELS + extra
        context, meshes = device.context, groups.meshes
        arrays = {"position": [mesh.positions for mesh in meshes]}
        for name in meshes[0].attributes if meshes else ():
            arrays[name] = [mesh.attributes[name] for mesh in meshes]
        owners = [np.full(len(mesh.positions), index, np.float32) for index, mesh in enumerate(meshes)]
        self._buffers = {"mesh": (context.buffer(_float_bytes(owners)), 1)}
        for name, parts in arrays.items():
            self._buffers[name] = context.buffer(_float_bytes(parts)), parts[0].shape[1] if parts else 3
        self._indices = context.buffer(reserve=max(12, groups.corners.nbytes), dynamic=True)
        self._arrays: dict[int, tuple[Shader, moderngl.VertexArray]] = {}
        self.order = float_texture(device, (ROW_ENTRIES, max(1, -(-len(groups.indices) // ROW_ENTRIES))), 1)
        self.first_slots = float_texture(device, (ROW_ENTRIES, max(1, -(-len(meshes) // ROW_ENTRIES))), 1)
        self.slots = float_texture(device, (1, 1))
        self.extent, self.drawn = 1.0, 0
        self.draws: list[InstancedDraw] = []
        self._batches: NDArray[np.int64] | None = None  # of the groups that the index buffer holds
        self.set_instances(np.zeros(0, np.int64), np.zeros((0, 4, 4)), np.zeros((0, extra, 4)))

    def write_positions(self, meshes: NDArray[np.int64], source: Stream, firsts: NDArray[np.int64]) -> None:
        """Copy the positions of meshes (N,), ascending, from the first three components of a stream's elements, each
        mesh's from element ``firsts`` (N,) on; meshes adjacent in both places in one copy."""
        starts, ends = self.groups.first_vertices[meshes], self.groups.first_vertices[meshes + 1]
        breaks = np.flatnonzero((starts[1:] != ends[:-1]) | (firsts[1:] - firsts[:-1] != starts[1:] - starts[:-1])) + 1
        for first_mesh, end_mesh in zip(np.r_[0, breaks].tolist(), np.r_[breaks, len(meshes)].tolist(), strict=True):
            if first_mesh < end_mesh:
                self._copy_positions(
                    source,
                    int(firsts[first_mesh]),
                    int(starts[first_mesh]),
                    int(ends[end_mesh - 1] - starts[first_mesh]),
                )

    def _copy_positions(self, source: Stream, first: int, target: int, count: int) -> None:
        """Copy ``count`` positions from element ``first`` of a stream to vertex ``target``."""
        buffer, width = self._buffers["position"][0], source.size[0]
        while count:  # the rest of a row, whole rows, the beginning of one
            row, column = divmod(first, width)
            rows = 1 if column else max(1, count // width)
            box = column, row, min(width - column, count), rows
            source.framebuffer.read_into(buffer, box, components=3, dtype="f4", write_offset=12 * target)
            copied = box[2] * rows
            first, target, count = first + copied, target + copied, count - copied

    def set_instances(self, meshes: NDArray, transforms: NDArray, extra: NDArray) -> None:
        """Set instances of ``meshes`` (I,) under ``transforms`` (I, 4, 4) float64; ``extra`` (I, extra, 4) texels."""
        self._mesh_of, self._extra = np.asarray(meshes, np.int64), np.asarray(extra, np.float32)
        self._linear, self._origins = transforms[:, :3, :3], transforms[:, :3, 3]
        low, high = self.groups.mesh_low[self._mesh_of], self.groups.mesh_high[self._mesh_of]
        self._has_triangles: NDArray[np.bool_] = np.asarray((low <= high).all(axis=1))
        low, high = (np.where(self._has_triangles[:, None], corners, 0.0) for corners in (low, high))
        self._center, self._half = (low + high) / 2, (high - low) / 2
        self._mirrored = np.linalg.det(self._linear) < 0
        center = np.einsum("irc,ic->ir", self._linear, self._center) + self._origins
        half = np.einsum("irc,ic->ir", np.abs(self._linear), self._half)
        if self._has_triangles.any():
            corners = (center + half)[self._has_triangles].max(axis=0), (center - half)[self._has_triangles].min(axis=0)
            self.extent = max(float(np.linalg.norm(corners[0] - corners[1])), 1e-30)

    def select(self, view: PinholeView) -> None:
        """Write the instances that this view may see to the textures and the index buffer, for `render`."""
        groups, count = self.groups, len(self.groups.meshes)
        linear = view.rows @ self._linear
        origins = (self._origins - view.origin) @ view.rows.T
        planes, offsets = _PLANES @ linear, origins @ _PLANES.T
        instances = np.flatnonzero(_may_be_inside(planes, offsets, self._center, self._half) & self._has_triangles)
        instances = instances[np.lexsort((self._mirrored[instances], self._mesh_of[instances]))]
        meshes, mirrored = self._mesh_of[instances], self._mirrored[instances]
        copies = np.bincount(meshes, minlength=count)
        first_slots = np.cumsum(copies) - copies
        mirrored_copies = np.bincount(meshes, mirrored, count).astype(
            np.int64
        )  # instances that are mirrored, the last ones
        # A mesh with a single visible instance is culled by its groups, and these share a batch by kind; other meshes
        # have a batch for each kind.
        group_instances = np.append(instances, -1)[np.minimum(first_slots[groups.mesh], len(instances))]
        is_single, visible = copies[groups.mesh] == 1, copies[groups.mesh] > 0
        single = np.flatnonzero(is_single)
        center, half = (groups.low[single] + groups.high[single]) / 2, (groups.high[single] - groups.low[single]) / 2
        visible[single] = _may_be_inside(
            planes[group_instances[single]], offsets[group_instances[single]], center, half
        )
        is_mirrored = is_single & (groups.kinds & ONE_SIDED > 0) & (mirrored_copies[groups.mesh] > 0)
        batches = np.where(is_single, groups.kinds + 4 * is_mirrored, 8 + 4 * groups.mesh + groups.kinds)
        batches[~visible] = -1
        self._write_triangles(batches)
        self._write_slots(instances, linear, origins, first_slots)
        self.draws = list(self._ranges(copies, mirrored_copies))
        self.drawn = sum(draw.triangles * draw.instances for draw in self.draws)

    def render(self, shader: Shader, kinds: Sequence[int]) -> None:
        """Draw the selected instances of these kinds with a program, of which the vertex program is made of
        ``shaders/raster/slot.glsl``, into the framebuffer in use, row 0 at the top."""
        for name, texture in (("in_slots", self.slots), ("in_first_slots", self.first_slots), ("in_order", self.order)):
            shader.bind(name, texture)
        array, parts = self._array(shader), shader.parts
        draws = [draw for draw in self.draws if draw.kind in kinds]
        if parts is not None:
            parts.collect_timings()
        for part in [draws] if parts is None else draws_in_parts(draws, parts.sizes):
            with nullcontext() if parts is None else parts.timed_part(sum(draw.triangles_drawn for draw in part)):
                for draw in part:
                    self._draw(draw, shader, array)
            if parts is not None:
                self.device.flush()

    def _draw(self, draw: InstancedDraw, shader: Shader, array: moderngl.VertexArray) -> None:
        context = self.device.context
        if draw.kind & ONE_SIDED:
            context.enable(moderngl.CULL_FACE)
            context.front_face = "ccw" if draw.mirrored else "cw"  # row 0 is at the top
            context.cull_face = "back"
        shader.set("first", draw.first)
        shader.set("slot_offset", draw.offset)
        count, start = 3 * draw.triangles, 3 * draw.first
        array.render(moderngl.TRIANGLES, vertices=count, first=start, instances=draw.instances)
        if draw.kind & ONE_SIDED:
            context.front_face = "ccw"
            context.disable(moderngl.CULL_FACE)

    def _array(self, shader: Shader) -> moderngl.VertexArray:
        cached = self._arrays.get(id(shader))
        if cached is None:
            content = [
                (buffer, f"{width}f4", name)
                for name, (buffer, width) in self._buffers.items()
                if name in shader.members
            ]
            array = self.device.context.vertex_array(shader.program, content, self._indices, index_element_size=4)
            cached = self._arrays[id(shader)] = shader, array
        return cached[1]

    def _write_triangles(self, batches: NDArray[np.int64]) -> None:
        """Write the groups to the index buffer by their batches (G,), -1: not drawn; triangle indices to ``order``."""
        if self._batches is not None and np.array_equal(batches, self._batches):
            return
        self._batches = batches
        visible = np.flatnonzero(batches >= 0)
        visible = visible[np.argsort(batches[visible], kind="stable")]
        lengths = self.groups.lengths[visible]
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        drawn_batches, first = np.unique(batches[visible], return_index=True)
        starts = np.append(ends - lengths, total)
        self._batch_ranges = [
            (int(b), int(starts[a]), int(starts[e])) for b, a, e in _batch_bounds(drawn_batches, first, len(visible))
        ]
        if not total:
            return
        chosen = np.repeat(self.groups.starts[visible] - (ends - lengths), lengths) + np.arange(total)
        self._indices.write(self.groups.corners[chosen])
        _write_rows(self.order, self.groups.indices[chosen])

    def _write_slots(self, instances: NDArray, linear: NDArray, origins: NDArray, first_slots: NDArray) -> None:
        """Write the instances (N,), with (I, 3, 3) and (I, 3) to the view, and each mesh's first slot."""
        _write_rows(self.first_slots, first_slots.astype(np.float32))
        rows = -(-len(instances) // ROW_SLOTS)
        if self.slots.height < rows or self.slots.width == 1:
            self.slots.release()
            self.slots = float_texture(self.device, (ROW_SLOTS * self.texels, max(1, 2 * rows)))
        if not rows:
            return
        texels = np.zeros((rows * ROW_SLOTS, self.texels, 4), np.float32)
        texels[: len(instances), :CLIP_TEXELS, :3] = linear[instances]
        texels[: len(instances), :CLIP_TEXELS, 3] = origins[instances]
        texels[: len(instances), CLIP_TEXELS:] = self._extra[instances]
        self.slots.write(texels, viewport=(0, 0, ROW_SLOTS * self.texels, rows))

    def _ranges(self, copies: NDArray, mirrored_copies: NDArray) -> Iterator[InstancedDraw]:
        """The draws of the index buffer's batches, by the numbers of visible and of mirrored instances of each mesh."""
        for batch, first, end in self._batch_ranges:
            if batch < 8:
                yield InstancedDraw(batch % 4, batch >= 4, first, end - first, 0, 1)
                continue
            mesh, kind = divmod(batch - 8, 4)
            unmirrored, mirrored = int(copies[mesh] - mirrored_copies[mesh]), int(mirrored_copies[mesh])
            if not kind & ONE_SIDED:
                unmirrored, mirrored = unmirrored + mirrored, 0
            if unmirrored:
                yield InstancedDraw(kind, False, first, end - first, 0, unmirrored)
            if mirrored:
                yield InstancedDraw(kind, True, first, end - first, unmirrored, mirrored)

    def release(self) -> None:
        """Free buffers and textures; the programs stay."""
        for _, array in self._arrays.values():
            array.release()
        self._arrays.clear()
        for buffer in (self._indices, *(buffer for buffer, _ in self._buffers.values())):
            buffer.release()
        for texture in (self.order, self.first_slots, self.slots):
            texture.release()


def _may_be_inside(planes: NDArray, offsets: NDArray, center: NDArray, half: NDArray) -> NDArray[np.bool_]:
    """(N,) whether boxes, of centers and half edges (N, 3), reach inside planes (N, 5, 3) with offsets (N, 5)."""
    farthest = np.einsum("npc,nc->np", planes, center) + np.einsum("npc,nc->np", np.abs(planes), half)
    return np.asarray((farthest + offsets >= 0).all(axis=1))


def _batch_bounds(batches: NDArray, first: NDArray, count: int) -> Iterator[tuple[int, int, int]]:
    """(batch, its first group, the one after its last) of each batch."""
    for batch, start, end in zip(batches, first, np.append(first, count)[1:], strict=True):
        yield int(batch), int(start), int(end)


def _write_rows(texture: moderngl.Texture, values: NDArray[np.float32]) -> None:
    """Write values (N,) into the first rows of a texture of `ROW_ENTRIES` columns."""
    rows = -(-len(values) // ROW_ENTRIES)
    if rows:
        texels = np.zeros(rows * ROW_ENTRIES, np.float32)
        texels[: len(values)] = values
        texture.write(texels, viewport=(0, 0, ROW_ENTRIES, rows))


def _float_bytes(parts: Sequence[NDArray]) -> bytes:
    return b"".join(np.ascontiguousarray(part, np.float32).tobytes() for part in parts) or bytes(12)


def _group_triangles(mesh: RasterMesh, first: int, ordered: bool) -> tuple[NDArray, ...]:
    """A mesh's triangles in groups of one kind each: corners (T, 3), vertex addresses from ``first`` on; indices (T,);
    lengths, kinds (G,), low and high (G, 3) of the groups."""
    triangles = np.arange(len(mesh.corners))
    if not np.isfinite(mesh.positions).all():  # row by row takes far longer
        finite = np.asarray(np.isfinite(mesh.positions).all(axis=1))
        triangles = np.flatnonzero(finite[mesh.corners].all(axis=1))
    positions = mesh.positions.astype(np.float64)
    a, b, c = (positions[mesh.corners[triangles, k]] for k in range(3))
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    kinds = mesh.kinds[triangles]
    if ordered or (kinds[1:] != kinds[:-1]).any():
        order = np.lexsort((_morton_codes(low + high), kinds)) if ordered else np.argsort(kinds, kind="stable")
        triangles, low, high, kinds = triangles[order], low[order], high[order], kinds[order]
    kinds = kinds.astype(np.int64)
    edges = np.flatnonzero(np.diff(kinds, prepend=-1)).tolist()
    ends = [*edges[1:], len(triangles)]
    starts = np.array(
        [k for a, b in zip(edges, ends, strict=False) for k in range(a, b, MAX_GROUP_TRIANGLES)], np.int64
    )
    lengths = np.diff(starts, append=len(triangles))
    indices = triangles if mesh.indices is None else mesh.indices[triangles]
    if len(starts):
        low, high = np.minimum.reduceat(low, starts, axis=0), np.maximum.reduceat(high, starts, axis=0)
    corners = (mesh.corners[triangles].astype(np.int64) + first).astype(np.uint32)
    return corners, indices.astype(np.float32), lengths, kinds[starts], low, high


def _morton_codes(positions: ArrayLike) -> NDArray[np.int64]:
    """(N,) Morton codes of points (N, 3), of 10 bits an axis over their bounds."""
    positions = np.asarray(positions, np.float64).reshape(-1, 3)
    low = positions.min(axis=0, initial=np.inf)
    size = float(np.max(positions.max(axis=0, initial=-np.inf) - low, initial=0.0))
    cells = ((positions - low) * (1023 / size if size > 0 else 0.0)).astype(np.int64)
    codes = np.zeros(len(positions), np.int64)
    for bit in range(10):
        for axis in range(3):
            codes |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return codes


# -- the visibility buffer: which triangle of which instance a pinhole sees through the middle of every pixel ----------
# C. A. Burns and W. A. Hunt, "The Visibility Buffer: A Cache-Friendly Approach to Deferred Shading" (JCGT 2013).

NEAR_FRACTION = 1e-6  # of the scene's extent: distance of the near plane


def raster_source(file: str) -> Source:
    """A program of ``shaders/raster`` that needs no modules."""
    return Source.of_file(f"raster/{file}.glsl")


class VisibilityBuffer:
    """The pass over `InstancedMeshes`; the context must be current in every call.

    visible : a texture of two floats, row 0 at the top: the place of the triangle in the index buffer, and the slot of
    its instance; -1: nothing is seen.
    """

    def __init__(self, device: Device, meshes: InstancedMeshes) -> None:
        self.device, self.meshes = device, meshes
        self.shader = Shader(device, raster_source("visible_fragment"), raster_source("visible_vertex"), listed=True)
        self.visible = float_texture(device, (1, 1), 2)
        self._target = DepthTarget(device)

    def draw(self, view: PinholeView, size: tuple[int, int], tested: Shader | None = None) -> None:
        """Find the nearest triangle of every pixel of a picture of ``size`` (width, height). tested : the program for
        `ALPHA_TESTED` triangles, with its textures bound; without it they are left out."""
        self.meshes.select(view)
        if self.visible.size != size:
            self.visible.release()
            self.visible = float_texture(self.device, size, 2)
        self._target.begin(self.visible, (-1.0, -1.0, 0.0, 0.0))
        for shader, kinds in ((self.shader, (0, ONE_SIDED)), (tested, (ALPHA_TESTED, ALPHA_TESTED | ONE_SIDED))):
            if shader is not None:
                shader.set("least_depth", NEAR_FRACTION * self.meshes.extent)
                self.meshes.render(shader, kinds)
        self._target.end()

    def release(self) -> None:
        """Free the picture; the meshes stay."""
        self._target.release()
        self.visible.release()


class DepthTarget:
    """A depth buffer for pictures, in which greater is nearer; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._mesh_of: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._depth: RawObject | None = None

    def begin(self, texture: moderngl.Texture, blank: tuple[float, float, float, float]) -> None:
        """Clear a picture to ``blank`` and direct draws to it until `end`, row 0 at the top."""
        context = self.device.context
        if self._target is None or self._mesh_of is not texture:
            self.release()
            self._mesh_of, self._target = texture, context.framebuffer([texture])
            self._depth = attach_depth(self.device, self._target, texture.size)
        self._target.depth_mask = True
        self._target.use()
        self._target.clear(*blank, depth=0.0)
        self._target.viewport = (0, 0, *texture.size)
        context.enable(moderngl.DEPTH_TEST)
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        context.depth_func = ">"

    def disable_depth_writes(self) -> None:
        """Leave the depths unchanged by later draws, until `end`."""
        assert self._target is not None
        self._target.depth_mask = False

    def end(self) -> None:
        """Restore the depth state that other passes expect."""
        self.device.context.disable(moderngl.DEPTH_TEST)
        self.device.context.depth_func = "<"

    def release(self) -> None:
        """Free the depths; the picture stays."""
        if self._target is not None and self._depth is not None:
            self._depth.release()
            self._target = self._mesh_of = self._depth = None
