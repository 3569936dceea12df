"""Deforming objects on a device: vertices posed and trees refitted by fragment programs, into the memories of rays."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from raystream.accel.bvh_tree import NODE, PAIR
from raystream.accel.deform import BOX, STREAM_WIDTH, Deforming, block_levels
from raystream.kernels.records import VERTEX
from raystream.materials.geometry import VERTEX_TANGENTS
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.stream.compile.memories import Addresses, tables_of
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import RowWriter, TablePass, table_pass_source
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Job

# -- the passes that pose vertices and refit trees on the device, as sources -------------------------------------------

# Streams between the passes.
POSED, TRIANGLES, LEAVES, INNER = "posed", "triangles_posed", "leaves", "inner"


@dataclass(frozen=True)
class PassForm:
    """A pass: streams that it reads, by name, and the modules with its sources, of which the last one has its own."""

    inputs: Mapping[str, Record]
    output: Record
    modules: tuple[Module, ...]


def vertex_pass(deforming: Deforming, vertices: Table) -> PassForm:
    """Posed vertices. vertices : the table of which colours and texture coordinates stay as they are."""
    poses = deforming.poses
    tables, features = _read(deforming)
    tables += [] if poses.has_attributes else [vertices]
    return PassForm({}, VERTEX, _module("pose_vertex", tables, features))


def face_normal_pass(deforming: Deforming) -> PassForm:
    """The same with normals of faces."""
    tables = [deforming.poses.rest, deforming.poses.facets]
    return PassForm({POSED: VERTEX}, VERTEX, _module("face_normals", tables))


def tangents_pass(deforming: Deforming, tangents: Table) -> PassForm:
    """Posed tangents, and the other attributes of a vertex."""
    if not deforming.poses.has_attributes:
        return PassForm({}, VERTEX_TANGENTS, _module("same_tangents", [tangents]))
    return PassForm({}, VERTEX_TANGENTS, _module("pose_tangents", *_read(deforming)))


def triangle_pass(deforming: Deforming, triangles: Table) -> PassForm:
    """Triangles of the table's record, in its order."""
    features = {"CULLED"} if any(field.name == "one_sided" for field in triangles.record.fields) else set[str]()
    module = _module("pose_triangle", [deforming.trees.corners], features, (triangles.record,))
    return PassForm({POSED: VERTEX}, triangles.record, module)


def leaf_pass(deforming: Deforming, triangles: Record) -> PassForm:
    """Boxes of leaves."""
    module = _module("box_of_leaf", [deforming.trees.leaves], uses=(BOX,))
    return PassForm({TRIANGLES: triangles}, BOX, module)


def level_pass() -> PassForm:
    """Boxes of blocks of boxes."""
    return PassForm({"below": BOX}, BOX, _module("box_of_boxes", []))


def few_pass(deforming: Deforming) -> PassForm:
    """Boxes of inner nodes with few leaves."""
    return PassForm({LEAVES: BOX}, BOX, _module("box_of_few", [deforming.trees.inner]))


def many_pass(deforming: Deforming) -> PassForm:
    """Boxes of the others, by the levels of the pyramid."""
    blocks = [block for _, block in block_levels(len(deforming.trees.leaves.data))]
    inputs = {LEAVES: BOX, **{f"level_{k}": BOX for k in range(len(blocks))}}
    ranges = Module("ranges", (), "deform/box_of_range.glsl")
    nodes = Module("box_of_many", (), "deform/box_of_many.glsl", (deforming.trees.inner,), text=_pyramid(blocks))
    return PassForm(inputs, BOX, (ranges, nodes))


def _pyramid(blocks: Sequence[int]) -> str:
    """``add_range`` for a pyramid with these elements in the blocks of its levels."""
    lines = ["void add_range(ivec2 range, inout Box box) {", "    ivec2 head, tail;"]
    for k in range(len(blocks) + 1):
        add = f"add_box(box, fetch_{f'level_{k - 1}' if k else LEAVES}(k))"
        if k == len(blocks):
            lines.append(f"    for (int k = range.x; k < range.y; k++) {add};")
            continue
        lines.append(f"    split_range({blocks[k]}, range, head, tail);")
        lines += [f"    for (int k = {part}.x; k < {part}.y; k++) {add};" for part in ("head", "tail")]
    return "\n".join([*lines, "}"])


def refit_pass(deforming: Deforming, table: Table) -> PassForm:
    """Rows of a traversal's table."""
    if table.record == PAIR:
        return PassForm({LEAVES: BOX, INNER: BOX}, PAIR, _module("refit_pair", [deforming.trees.pairs]))
    assert table.record == NODE
    return PassForm({LEAVES: BOX, INNER: BOX}, NODE, _module("refit_node", [deforming.trees.nodes]))


def _read(deforming: Deforming) -> tuple[list[Table], set[str]]:
    """Memories of rest and pose, and the features by which sources read them."""
    poses = deforming.poses
    tables, features = [poses.rest], set[str]()
    if poses.skinned:
        tables, features = [*tables, poses.influences, poses.joints], features | {"JOINTS"}
    if poses.morphs:
        tables, features = [*tables, poses.deltas, poses.weights], features | {"TARGETS"}
    if poses.has_attributes:
        tables, features = (
            [*tables, poses.attributes, *([poses.attribute_deltas] if poses.morphs else [])],
            features | {"ATTRIBUTES"},
        )
    return tables, features


def read_tables(deforming: Deforming, written: Collection[str]) -> list[Table]:
    """Tables read by the passes that write tables of these names, beside those themselves."""
    poses, trees = deforming.poses, deforming.trees
    tables = [*_read(deforming)[0], *([poses.facets] if poses.faceted else [])]
    if "triangles" in written:
        tables += [trees.corners, trees.leaves, trees.inner]
    of_boxes = {"bvh_pairs": trees.pairs, "bvh_nodes": trees.nodes}
    return tables + [table for name, table in of_boxes.items() if name in written]


def _module(
    name: str, tables: list[Table], features: set[str] | None = None, uses: tuple[Record, ...] = ()
) -> tuple[Module, ...]:
    file = f"deform/{name}.glsl"
    return (Module(name, (), file, tuple(tables), uses=uses, features=frozenset(features or ())),)


def deform_sources(
    deforming: Deforming, tables: Mapping[str, Table], addresses: Addresses
) -> Iterator[tuple[str, Source]]:
    """Every pass by name. tables : the scene's, by name."""
    triangles = tables["triangles"]
    forms = [vertex_pass(deforming, tables["vertices"]), triangle_pass(deforming, triangles), level_pass()]
    forms += [leaf_pass(deforming, triangles.record), few_pass(deforming), many_pass(deforming)]
    forms += [refit_pass(deforming, tables[name]) for name in ("bvh_pairs", "bvh_nodes") if name in tables]
    forms += [face_normal_pass(deforming)] if deforming.poses.faceted else []
    forms += [tangents_pass(deforming, tables["tangents"])] if "tangents" in tables else []
    for form in forms:
        yield form.modules[-1].name, table_pass_source(form.modules, form.inputs, form.output, addresses)


# -- deforming objects on a device -------------------------------------------------------------------------------------

NAMES = "vertices", "tangents", "triangles", "bvh_pairs", "bvh_nodes"  # of the tables that hold what deforms

Passes = dict[tuple[Any, ...], tuple[PassForm, TablePass]]
Drawn = Generator[Draw, Any, Stream]  # a part of a job that returns a stream


class GpuDeformer:
    """Keeps the memories of one structure's deforming objects in their poses, by jobs.

    Draws follow from tables alone: a moment's rows have the same bits whatever came before. posed : stream of
    all vertices, of `VERTEX`.
    """

    def __init__(self, device: Device, resources: Resources, deforming: Deforming) -> None:
        self.device, self.resources, self.deforming = device, resources, deforming
        self.posed: Stream | None = None
        self._rows = RowWriter(device, resources)
        self._passes: Passes = {}
        self.streams: dict[str, Stream] = {}
        self._done: dict[int, tuple[int, int]] = {}  # by id of a table: the pose that it has, and its upload

    def job(self, prepared: PreparedScene) -> Job:
        """Bring the memories of a scene over the structure up to date; no step where they are."""
        tables, version = self.tables(prepared), self.deforming.version
        versions = {id(table): (version, self.resources.upload_number(table)) for table in tables.values()}
        if versions != self._done:
            posed = yield from self.pose(tables)
            yield from self.refit(tables, posed)
            self._done = versions

    def follow(self, deforming: Deforming) -> None:
        """Serve the same objects with other trees."""
        old, self.deforming = self.deforming, deforming
        pairs = list(zip(old.trees.tables, deforming.trees.tables, strict=True))
        if all(self.resources.exchangeable(mine, other) for mine, other in pairs):
            for mine, other in pairs:
                self.resources.exchange(mine, other)  # passes read what is there
        else:
            self._passes.clear()
            self.resources.drop(old.trees.tables)

    def tables(self, prepared: PreparedScene) -> dict[str, Table]:
        """The tables of deforming data, by name, of those that programs may read; they are then on the device."""
        tables = {name: table for name, table in tables_of(prepared.made()).items() if name in NAMES}
        for table in tables.values():
            if table.hot:
                self.resources.get(table)
            else:
                self.resources.base(table)
        return tables

    def pose(self, tables: Mapping[str, Table]) -> Job:
        """Write posed vertices to their tables; returns the stream of them, None where there are none."""
        deforming, poses = self.deforming, self.deforming.poses
        count = len(poses.rest.data)
        self.posed = None
        if not count:
            return None
        posed = yield from self._run("vertex", vertex_pass(deforming, tables["vertices"]), count, {})
        if poses.faceted:
            posed = yield from self._run("face normal", face_normal_pass(deforming), count, {POSED: posed})
        yield self._written(posed, tables["vertices"], count)
        self.posed = posed
        if "tangents" in tables:
            tangents = yield from self._run("tangents", tangents_pass(deforming, tables["tangents"]), count, {})
            yield self._written(tangents, tables["tangents"], count)
        return posed

    def refit(self, tables: Mapping[str, Table], posed: Stream | None) -> Job:
        """Write triangles of posed vertices, and the boxes of the trees over them, to their tables."""
        deforming, trees = self.deforming, self.deforming.trees
        count = len(trees.corners.data)
        if posed is None or not count or "triangles" not in tables:
            return
        table = tables["triangles"]
        triangles = yield from self._run("triangle", triangle_pass(deforming, table), count, {POSED: posed})
        yield self._written(triangles, table, count)
        form = leaf_pass(deforming, table.record)
        leaves = yield from self._run("leaf", form, len(trees.leaves.data), {TRIANGLES: triangles})
        inputs = {LEAVES: leaves, INNER: (yield from self._inner(leaves))}
        for name, rows in (("bvh_pairs", len(trees.pairs.data)), ("bvh_nodes", len(trees.nodes.data))):
            if name in tables and rows:
                written = yield from self._run(name, refit_pass(deforming, tables[name]), rows, inputs)
                yield self._written(written, tables[name], rows)

    def _inner(self, leaves: Stream) -> Drawn:
        """The boxes of inner nodes, in two parts; where there are none, those of leaves in their place."""
        deforming, trees = self.deforming, self.deforming.trees
        nodes, below, pyramid = len(trees.inner.data), leaves, dict[str, Stream]()
        if not nodes:
            return leaves
        rows = -(-nodes // STREAM_WIDTH)
        if trees.many_row:
            few = few_pass(deforming)
            target = yield from self._run("few", few, nodes, {LEAVES: leaves}, "inner", (0, min(trees.many_row, rows)))
        if trees.many_row < rows:
            elements = len(trees.leaves.data)
            for k, (boxes, block) in enumerate(block_levels(elements)):
                form = level_pass()
                below = yield from self._run(f"level {k}", form, boxes, {"below": below}, count=elements, block=block)
                pyramid[f"level_{k}"], elements = below, boxes
            many = many_pass(deforming), nodes, {LEAVES: leaves, **pyramid}
            target = yield from self._run("many", *many, "inner", (trees.many_row, rows))
        return target

    def _run(
        self,
        name: str,
        form: PassForm,
        elements: int,
        inputs: Mapping[str, Stream],
        into: str | None = None,
        rows: tuple[int, int] | None = None,
        **uniforms: int,
    ) -> Drawn:
        """Draw a pass over ``elements``, whose count is also its uniform ``count`` where that has no other value.

        into : name of the stream that it writes, its own by default. rows : of the stream, first and behind the last.
        """
        last = form.modules[-1]
        tables = [memory.name for memory in last.memories]
        key = last.name, form.output, *sorted(form.inputs), last.features, last.text, *tables
        if key not in self._passes:
            self._passes[key] = form, self._compiled(form)
        target = self._stream(into or name, form.output, elements)
        drawn, span = self._passes[key][1], rows or (0, target.size[1])
        yield Draw(partial(drawn.draw_rows, inputs, target, span, **{"count": elements, **uniforms}))
        return target

    def _written(self, stream: Stream, table: Table, count: int) -> Draw:
        return Draw(partial(self._rows.write, stream, table, count))

    def _compiled(self, form: PassForm) -> TablePass:
        return TablePass(self.device, self.resources, form.modules, form.inputs, form.output)

    def _stream(self, name: str, record: Record, count: int) -> Stream:
        size = STREAM_WIDTH, -(-count // STREAM_WIDTH)
        stream = self.streams.get(name)
        if stream is None or stream.record != record or stream.size != size:
            if stream is not None:
                stream.release()
            stream = self.streams[name] = Stream(self.device, record, size)
        return stream

    def compiled_anew(self) -> Passes:
        """The passes that it has, from their files. Raises ShaderError."""
        return {key: (form, self._compiled(form)) for key, (form, _) in self._passes.items()}

    def take(self, passes: Passes) -> None:
        """Compute poses by these passes from now on."""
        self._passes = passes
        self._done.clear()

    def release(self) -> None:
        """Free streams, and the memories that passes alone read."""
        self.resources.drop([*self.deforming.poses.tables, *self.deforming.trees.tables])
        self._rows.release()
        for stream in self.streams.values():
            stream.release()
        self.streams.clear()
        self.posed = None
        self._passes.clear()
        self._done.clear()
