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
        self.single = [context.framebuffer([texture]) for texture in self.records.textures]
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
        for framebuffer, texel in zip(self.single, self.blank, strict=True):
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
            self.shader.bare.render(moderngl.TRIANGLES, vertices=3 * count, first=3 * first)

    def release(self) -> None:
        """Free the textures."""
        self.records.release()
        self._depth.release()


# -- instances of triangle meshes, of which a view draws those that it may see -----------------------------------------

GROUP = 128  # triangles, at most, that are left out or drawn together
ROW = 4096  # entries in a row of the textures of triangle indices and of first slots; also shaders/raster/slot.glsl
SLOTS = 256  # in a row of their texture; also shaders/raster/slot.glsl
ONE_SIDED, TESTED = 1, 2  # kinds of triangles, bits: seen from the front alone; every fragment is tested
CLIP = 3  # texels of a slot that hold the rows from the mesh's space to the view's
_PLANES = np.array([[0, 0, 1], [-1, 0, 1], [1, 0, 1], [0, -1, 1], [0, 1, 1]], np.float64)  # of a frustum, inwards


@dataclass(frozen=True)
class PinholeView:
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


@dataclass(frozen=True)
class RasterMesh:
    """A mesh as it is drawn; triangles with a corner that is not finite are left out.

    positions : (V, 3) float32. corners : (T, 3) int32. kinds : (T,) uint8, bits `ONE_SIDED` and `TESTED`.
    indices   : (T,) that programs know the triangles by, below 2^24; None: in their order.
    attributes : (V, k) float32 by the names that vertex programs read them by, the same names for all meshes.
    """

    positions: NDArray[np.float32]
    corners: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    indices: NDArray[np.int32] | None = None
    attributes: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def same(self, other: RasterMesh) -> bool:
        """Whether the other is drawn alike: of the same arrays, but for kinds of the same values."""
        mine, others = (self.positions, self.corners), (other.positions, other.corners)
        shared = all(a is b for a, b in zip(mine, others, strict=True)) and self.attributes == other.attributes == {}
        return shared and np.array_equal(self.kinds, other.kinds)


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
    def all(self) -> int:
        """Triangles of all its instances."""
        return self.triangles * self.instances

    def cut(self, most: int) -> tuple[InstancedDraw, list[InstancedDraw]]:
        """The first of its triangles, ``most`` or less, and the draws of the others, all in the order of the draw:
        instance by instance."""
        if self.all <= most:
            return self, []
        if self.triangles <= most:
            some = most // self.triangles
            return replace(self, instances=some), [
                replace(self, offset=self.offset + some, instances=self.instances - some)
            ]
        single = replace(self, instances=1)
        remaining = [replace(single, first=self.first + most, triangles=self.triangles - most)]
        if self.instances > 1:
            remaining.append(replace(self, offset=self.offset + 1, instances=self.instances - 1))
        return replace(single, triangles=most), remaining


def in_parts(draws: Iterable[InstancedDraw], sizes: DrawSizes) -> Iterator[list[InstancedDraw]]:
    """Draws in their order, cut and put together to parts of as many triangles as a draw may have by then."""
    waiting, part, room = deque(draws), [], sizes.rays
    while waiting:
        draw, remaining = waiting.popleft().cut(room)
        waiting.extendleft(reversed(remaining))
        part.append(draw)
        room -= draw.all
        if room <= 0 or not waiting:
            yield part
            part, room = [], sizes.rays


class MeshGroups:
    """Meshes (O) in groups of triangles that lie near each other; made without OpenGL.

    ordered : along Morton's curve, which takes a while, for views that see a part; else those that follow each other.
    corners : (T, 3) uint32 addresses of vertices, all meshes' one behind the other. indices : (T,) float32.
    starts, lengths, mesh, kinds : (G,) of the groups. low, high : (G, 3) their boxes, the mesh's space.
    mesh_low, mesh_high : (O, 3), inf and -inf of meshes with nothing to draw.
    """

    def __init__(self, meshes: Sequence[RasterMesh], ordered: bool = True) -> None:
        self.meshes = list(meshes)
        sizes = [len(mesh.positions) for mesh in self.meshes]
        self.first_vertices = np.cumsum([0, *sizes], dtype=np.int64)
        parts = [
            _grouped(mesh, int(first), ordered) for mesh, first in zip(self.meshes, self.first_vertices, strict=False)
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

    def enclose(self, meshes: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64]) -> None:
        """Have meshes (N,), ascending, and each group of them, within boxes (N, 3) of their spaces: their positions are
        written on the device."""
        box = np.searchsorted(meshes, self.mesh)
        same_mesh = np.append(meshes, -1)[box] == self.mesh
        self.low[same_mesh], self.high[same_mesh] = low[box[same_mesh]], high[box[same_mesh]]
        drawn = self.mesh_low[meshes, 0] <= self.mesh_high[meshes, 0]  # it has groups
        self.mesh_low[meshes[drawn]], self.mesh_high[meshes[drawn]] = low[drawn], high[drawn]


class InstancedMeshes:
    """Meshes on the device and their instances; the context must be current in every call but `place`.

    extra : texels of four floats that programs may read of an instance, beside `CLIP`.
    slots : a texture of the instances that the view may see, `SLOTS` in a row, each of `CLIP` texels and the extra.
    first_slots : a texture of each mesh's first slot. order : of the indices of triangles, by their places in the index
    buffer. draws : those of `render`. drawn : triangles of all instances that the view may see.
    """

    def __init__(self, device: Device, groups: MeshGroups, extra: int = 1) -> None:
        self.device, self.groups, self.texels = device, groups, CLIP + extra
        context, meshes = device.context, groups.meshes
        arrays = {"position": [mesh.positions for mesh in meshes]}
        for name in meshes[0].attributes if meshes else ():
            arrays[name] = [mesh.attributes[name] for mesh in meshes]
        owners = [np.full(len(mesh.positions), index, np.float32) for index, mesh in enumerate(meshes)]
        self._buffers = {"mesh": (context.buffer(_bytes(owners)), 1)}
        for name, parts in arrays.items():
            self._buffers[name] = context.buffer(_bytes(parts)), parts[0].shape[1] if parts else 3
        self._indices = context.buffer(reserve=max(12, groups.corners.nbytes), dynamic=True)
        self._arrays: dict[int, tuple[Shader, moderngl.VertexArray]] = {}
        self.order = float_texture(device, (ROW, max(1, -(-len(groups.indices) // ROW))), 1)
        self.first_slots = float_texture(device, (ROW, max(1, -(-len(meshes) // ROW))), 1)
        self.slots = float_texture(device, (1, 1))
        self.extent, self.drawn = 1.0, 0
        self.draws: list[InstancedDraw] = []
        self._batches: NDArray[np.int64] | None = None  # of the groups that the index buffer holds
        self.place(np.zeros(0, np.int64), np.zeros((0, 4, 4)), np.zeros((0, extra, 4)))

    def write_positions(self, meshes: NDArray[np.int64], source: Stream, firsts: NDArray[np.int64]) -> None:
        """Take the positions of meshes (N,), ascending, from the first three components of a stream's elements, from
        the numbers (N,) ``firsts`` on; those that follow each other there and here at once."""
        starts, end = self.groups.first_vertices[meshes], self.groups.first_vertices[meshes + 1]
        apart = np.flatnonzero((starts[1:] != end[:-1]) | (firsts[1:] - firsts[:-1] != starts[1:] - starts[:-1])) + 1
        for a, b in zip(np.r_[0, apart].tolist(), np.r_[apart, len(meshes)].tolist(), strict=True):
            if a < b:
                self._take(source, int(firsts[a]), int(starts[a]), int(end[b - 1] - starts[a]))

    def _take(self, source: Stream, first: int, at: int, count: int) -> None:
        """Positions of ``count`` vertices from number ``at`` on, as of `write_positions`."""
        buffer, wide = self._buffers["position"][0], source.size[0]
        while count:  # the rest of a row, whole rows, the beginning of one
            row, column = divmod(first, wide)
            rows = 1 if column else max(1, count // wide)
            part = column, row, min(wide - column, count), rows
            source.framebuffer.read_into(buffer, part, components=3, dtype="f4", write_offset=12 * at)
            copied = part[2] * rows
            first, at, count = first + copied, at + copied, count - copied

    def place(self, meshes: NDArray, transforms: NDArray, extra: NDArray) -> None:
        """Have these instances: (I,) meshes, (I, 4, 4) float64 to the world, (I, extra, 4) texels."""
        self._of, self._extra = np.asarray(meshes, np.int64), np.asarray(extra, np.float32)
        self._linear, self._origins = transforms[:, :3, :3], transforms[:, :3, 3]
        low, high = self.groups.mesh_low[self._of], self.groups.mesh_high[self._of]
        self._there: NDArray[np.bool_] = np.asarray((low <= high).all(axis=1))
        low, high = (np.where(self._there[:, None], ends, 0.0) for ends in (low, high))
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._mirrored = np.linalg.det(self._linear) < 0
        middle = np.einsum("irc,ic->ir", self._linear, self._middle) + self._origins
        half = np.einsum("irc,ic->ir", np.abs(self._linear), self._half)
        if self._there.any():
            ends = (middle + half)[self._there].max(axis=0), (middle - half)[self._there].min(axis=0)
            self.extent = max(float(np.linalg.norm(ends[0] - ends[1])), 1e-30)

    def select(self, view: PinholeView) -> None:
        """Have the instances that this view may see in the textures and in the index buffer."""
        groups, count = self.groups, len(self.groups.meshes)
        linear = view.rows @ self._linear
        origins = (self._origins - view.origin) @ view.rows.T
        planes, offsets = _PLANES @ linear, origins @ _PLANES.T
        instances = np.flatnonzero(_inside(planes, offsets, self._middle, self._half) & self._there)
        instances = instances[np.lexsort((self._mirrored[instances], self._of[instances]))]
        meshes, mirrored = self._of[instances], self._mirrored[instances]
        copies = np.bincount(meshes, minlength=count)
        first = np.cumsum(copies) - copies
        turned = np.bincount(meshes, mirrored, count).astype(np.int64)  # instances that are mirrored, the last ones
        # Groups of meshes that are seen once, all of one batch, and of others, of a batch each.
        group_instances = np.append(instances, -1)[np.minimum(first[groups.mesh], len(instances))]
        once, visible = copies[groups.mesh] == 1, copies[groups.mesh] > 0
        single = np.flatnonzero(once)
        middle, half = (groups.low[single] + groups.high[single]) / 2, (groups.high[single] - groups.low[single]) / 2
        visible[single] = _inside(planes[group_instances[single]], offsets[group_instances[single]], middle, half)
        flipped = once & (groups.kinds & ONE_SIDED > 0) & (turned[groups.mesh] > 0)
        batches = np.where(once, groups.kinds + 4 * flipped, 8 + 4 * groups.mesh + groups.kinds)
        batches[~visible] = -1
        self._write_triangles(batches)
        self._write_slots(instances, linear, origins, first)
        self.draws = list(self._ranges(copies, turned))
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
        for part in [draws] if parts is None else in_parts(draws, parts.sizes):
            with nullcontext() if parts is None else parts.part(sum(draw.all for draw in part)):
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
        arrays = self._arrays.get(id(shader))
        if arrays is None:
            content = [
                (buffer, f"{width}f4", name)
                for name, (buffer, width) in self._buffers.items()
                if name in shader.members
            ]
            array = self.device.context.vertex_array(shader.program, content, self._indices, index_element_size=4)
            arrays = self._arrays[id(shader)] = shader, array
        return arrays[1]

    def _write_triangles(self, batches: NDArray[np.int64]) -> None:
        """Have the groups (G,) of these batches, -1 for none, in the index buffer, and their triangles' indices."""
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
        self._runs = [(int(b), int(starts[a]), int(starts[e])) for b, a, e in _runs(drawn_batches, first, len(visible))]
        if not total:
            return
        chosen = np.repeat(self.groups.starts[visible] - (ends - lengths), lengths) + np.arange(total)
        self._indices.write(self.groups.corners[chosen])
        _write(self.order, self.groups.indices[chosen])

    def _write_slots(self, instances: NDArray, linear: NDArray, place: NDArray, first: NDArray) -> None:
        """Have these instances in the slots."""
        _write(self.first_slots, first.astype(np.float32))
        rows = -(-len(instances) // SLOTS)
        if self.slots.height < rows or self.slots.width == 1:
            self.slots.release()
            self.slots = float_texture(self.device, (SLOTS * self.texels, max(1, 2 * rows)))
        if not rows:
            return
        texels = np.zeros((rows * SLOTS, self.texels, 4), np.float32)
        texels[: len(instances), :CLIP, :3] = linear[instances]
        texels[: len(instances), :CLIP, 3] = place[instances]
        texels[: len(instances), CLIP:] = self._extra[instances]
        self.slots.write(texels, viewport=(0, 0, SLOTS * self.texels, rows))

    def _ranges(self, copies: NDArray, turned: NDArray) -> Iterator[InstancedDraw]:
        for batch, first, end in self._runs:
            if batch < 8:
                yield InstancedDraw(batch % 4, batch >= 4, first, end - first, 0, 1)
                continue
            mesh, kind = divmod(batch - 8, 4)
            plain, mirrored = int(copies[mesh] - turned[mesh]), int(turned[mesh])
            if not kind & ONE_SIDED:
                plain, mirrored = plain + mirrored, 0
            if plain:
                yield InstancedDraw(kind, False, first, end - first, 0, plain)
            if mirrored:
                yield InstancedDraw(kind, True, first, end - first, plain, mirrored)

    def release(self) -> None:
        """Free buffers and textures; the programs stay."""
        for _, array in self._arrays.values():
            array.release()
        self._arrays.clear()
        for buffer in (self._indices, *(buffer for buffer, _ in self._buffers.values())):
            buffer.release()
        for texture in (self.order, self.first_slots, self.slots):
            texture.release()


def _inside(planes: NDArray, offsets: NDArray, middle: NDArray, half: NDArray) -> NDArray[np.bool_]:
    """(N,): whether boxes, of middles and half edges (N, 3), may be within planes (N, 5, 3) with offsets (N, 5)."""
    reach = np.einsum("npc,nc->np", planes, middle) + np.einsum("npc,nc->np", np.abs(planes), half)
    return np.asarray((reach + offsets >= 0).all(axis=1))


def _runs(batches: NDArray, first: NDArray, count: int) -> Iterator[tuple[int, int, int]]:
    """Each batch with its first group and the one after its last."""
    for batch, start, end in zip(batches, first, np.append(first, count)[1:], strict=True):
        yield int(batch), int(start), int(end)


def _write(texture: moderngl.Texture, values: NDArray[np.float32]) -> None:
    """Values into the first rows of a texture of `ROW` columns."""
    rows = -(-len(values) // ROW)
    if rows:
        texels = np.zeros(rows * ROW, np.float32)
        texels[: len(values)] = values
        texture.write(texels, viewport=(0, 0, ROW, rows))


def _bytes(parts: Sequence[NDArray]) -> bytes:
    return b"".join(np.ascontiguousarray(part, np.float32).tobytes() for part in parts) or bytes(12)


def _grouped(mesh: RasterMesh, first: int, ordered: bool) -> tuple[NDArray, ...]:
    """Corners, indices; lengths, kinds, low and high of its groups, of one kind each."""
    triangles = np.arange(len(mesh.corners))
    if not np.isfinite(mesh.positions).all():  # row by row takes far longer
        finite = np.asarray(np.isfinite(mesh.positions).all(axis=1))
        triangles = np.flatnonzero(finite[mesh.corners].all(axis=1))
    positions = mesh.positions.astype(np.float64)
    a, b, c = (positions[mesh.corners[triangles, k]] for k in range(3))
    low, high = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    kinds = mesh.kinds[triangles]
    if ordered or (kinds[1:] != kinds[:-1]).any():
        order = np.lexsort((_along_curve(low + high), kinds)) if ordered else np.argsort(kinds, kind="stable")
        triangles, low, high, kinds = triangles[order], low[order], high[order], kinds[order]
    kinds = kinds.astype(np.int64)
    edges = np.flatnonzero(np.diff(kinds, prepend=-1)).tolist()
    ends = [*edges[1:], len(triangles)]
    starts = np.array([k for a, b in zip(edges, ends, strict=False) for k in range(a, b, GROUP)], np.int64)
    lengths = np.diff(starts, append=len(triangles))
    indices = triangles if mesh.indices is None else mesh.indices[triangles]
    if len(starts):
        low, high = np.minimum.reduceat(low, starts, axis=0), np.maximum.reduceat(high, starts, axis=0)
    corners = (mesh.corners[triangles].astype(np.int64) + first).astype(np.uint32)
    return corners, indices.astype(np.float32), lengths, kinds[starts], low, high


def _along_curve(points: ArrayLike) -> NDArray[np.int64]:
    """(N,) numbers of points (N, 3) along Morton's curve: those that follow each other lie near each other."""
    at = np.asarray(points, np.float64).reshape(-1, 3)
    low = at.min(axis=0, initial=np.inf)
    size = float(np.max(at.max(axis=0, initial=-np.inf) - low, initial=0.0))
    cells = ((at - low) * (1023 / size if size > 0 else 0.0)).astype(np.int64)
    out = np.zeros(len(at), np.int64)
    for bit in range(10):
        for axis in range(3):
            out |= ((cells[:, axis] >> bit) & 1) << (3 * bit + axis)
    return out


# -- the visibility buffer: which triangle of which instance a pinhole sees through the middle of every pixel ----------
# C. A. Burns and W. A. Hunt, "The Visibility Buffer: A Cache-Friendly Approach to Deferred Shading" (JCGT 2013).

NEAR = 1e-6  # of the extent: what is nearer to the eye is cut


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
        """Find the nearest triangle of every pixel of a picture of ``size`` (width, height). tested : the program of
        those that are `TESTED`, with its textures bound; without it they are left out."""
        self.meshes.select(view)
        if self.visible.size != size:
            self.visible.release()
            self.visible = float_texture(self.device, size, 2)
        self._target.begin(self.visible, (-1.0, -1.0, 0.0, 0.0))
        for shader, kinds in ((self.shader, (0, ONE_SIDED)), (tested, (TESTED, TESTED | ONE_SIDED))):
            if shader is not None:
                shader.set("least_depth", NEAR * self.meshes.extent)
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
        self._of: moderngl.Texture | None = None
        self._target: moderngl.Framebuffer | None = None
        self._depth: RawObject | None = None

    def begin(self, texture: moderngl.Texture, blank: tuple[float, float, float, float]) -> None:
        """Empty a picture, which is drawn to until `end`, row 0 at the top."""
        context = self.device.context
        if self._target is None or self._of is not texture:
            self.release()
            self._of, self._target = texture, context.framebuffer([texture])
            self._depth = attach_depth(self.device, self._target, texture.size)
        self._target.depth_mask = True
        self._target.use()
        self._target.clear(*blank, depth=0.0)
        self._target.viewport = (0, 0, *texture.size)
        context.enable(moderngl.DEPTH_TEST)
        context.disable(moderngl.BLEND | moderngl.CULL_FACE)
        context.depth_func = ">"

    def keep_depths(self) -> None:
        """What is drawn from here on until `end` hides nothing behind it."""
        assert self._target is not None
        self._target.depth_mask = False

    def end(self) -> None:
        """The state that other passes expect."""
        self.device.context.disable(moderngl.DEPTH_TEST)
        self.device.context.depth_func = "<"

    def release(self) -> None:
        """Free the depths; the picture stays."""
        if self._target is not None and self._depth is not None:
            self._depth.release()
            self._target = self._of = self._depth = None
