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
    """A pass over rows: the records of the streams that it reads, by name, of the one that it writes, and its modules,
    the last of which has its main function."""

    inputs: Mapping[str, Record]
    output: Record
    modules: tuple[Module, ...]


def vertex_pass(deforming: Deforming, vertices: Table) -> PassForm:
    """The pass that poses vertices. vertices : the table whose colours and texture coordinates stay as they are."""
    poses = deforming.poses
    tables, features = _pose_inputs(deforming)
    tables += [] if poses.has_attributes else [vertices]
    return PassForm({}, VERTEX, _module("pose_vertex", tables, features))


def face_normal_pass(deforming: Deforming) -> PassForm:
    """The pass that replaces the normals of posed vertices by those of their faces."""
    tables = [deforming.poses.rest, deforming.poses.facets]
    return PassForm({POSED: VERTEX}, VERTEX, _module("face_normals", tables))


def tangents_pass(deforming: Deforming, tangents: Table) -> PassForm:
    """The pass that poses tangents, and the other attributes of a vertex."""
    if not deforming.poses.has_attributes:
        return PassForm({}, VERTEX_TANGENTS, _module("same_tangents", [tangents]))
    return PassForm({}, VERTEX_TANGENTS, _module("pose_tangents", *_pose_inputs(deforming)))


def triangle_pass(deforming: Deforming, triangles: Table) -> PassForm:
    """The pass that writes triangles of the table's record, in its order, from posed vertices."""
    features = {"CULLED"} if any(field.name == "one_sided" for field in triangles.record.fields) else set[str]()
    module = _module("pose_triangle", [deforming.trees.corners], features, (triangles.record,))
    return PassForm({POSED: VERTEX}, triangles.record, module)


def leaf_pass(deforming: Deforming, triangles: Record) -> PassForm:
    """The pass from triangles to the boxes of leaves."""
    module = _module("box_of_leaf", [deforming.trees.leaves], uses=(BOX,))
    return PassForm({TRIANGLES: triangles}, BOX, module)


def level_pass() -> PassForm:
    """The pass from boxes to those of blocks of them: one level of the pyramid over the leaves."""
    return PassForm({"below": BOX}, BOX, _module("box_of_boxes", []))


def small_node_pass(deforming: Deforming) -> PassForm:
    """The pass that bounds inner nodes with few leaves, leaf by leaf."""
    return PassForm({LEAVES: BOX}, BOX, _module("box_of_few", [deforming.trees.inner]))


def large_node_pass(deforming: Deforming) -> PassForm:
    """The pass that bounds inner nodes with many leaves, by the levels of the pyramid over these."""
    blocks = [block for _, block in block_levels(len(deforming.trees.leaves.data))]
    inputs = {LEAVES: BOX, **{f"level_{k}": BOX for k in range(len(blocks))}}
    ranges = Module("ranges", (), "deform/box_of_range.glsl")
    nodes = Module("box_of_many", (), "deform/box_of_many.glsl", (deforming.trees.inner,), text=_pyramid(blocks))
    return PassForm(inputs, BOX, (ranges, nodes))


def _pyramid(blocks: Sequence[int]) -> str:
    """GLSL of ``add_range``, which bounds a range of leaves. blocks : the elements in a block of each level of the
    pyramid."""
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
    """The pass that writes the rows of a traversal's table, of `PAIR` or `NODE`, from boxes of leaves and inner
    nodes."""
    if table.record == PAIR:
        return PassForm({LEAVES: BOX, INNER: BOX}, PAIR, _module("refit_pair", [deforming.trees.pairs]))
    assert table.record == NODE
    return PassForm({LEAVES: BOX, INNER: BOX}, NODE, _module("refit_node", [deforming.trees.nodes]))


def _pose_inputs(deforming: Deforming) -> tuple[list[Table], set[str]]:
    """The tables of rest and pose that vertices are posed from, and the features by which sources read them."""
    poses = deforming.poses
    tables, features = [poses.rest], set[str]()
    if poses.skinned:
        tables, features = [*tables, poses.influences, poses.joints], features | {"JOINTS"}
    if poses.morphs:
        tables, features = [*tables, poses.deltas, poses.weights], features | {"TARGETS"}
    if poses.has_attributes:
        tables, features = [*tables, poses.attributes], features | {"ATTRIBUTES"}
        tables += [poses.attribute_deltas] if poses.morphs else []
    return tables, features


def input_tables(deforming: Deforming, written: Collection[str]) -> list[Table]:
    """The tables that the passes read which write tables of the names ``written``, without these."""
    poses, trees = deforming.poses, deforming.trees
    tables = [*_pose_inputs(deforming)[0], *([poses.facets] if poses.faceted else [])]
    if "triangles" in written:
        tables += [trees.corners, trees.leaves, trees.inner]
    traversal_tables = {"bvh_pairs": trees.pairs, "bvh_nodes": trees.nodes}
    return tables + [table for name, table in traversal_tables.items() if name in written]


def _module(
    name: str, tables: list[Table], features: set[str] | None = None, uses: tuple[Record, ...] = ()
) -> tuple[Module, ...]:
    file = f"deform/{name}.glsl"
    return (Module(name, (), file, tuple(tables), uses=uses, features=frozenset(features or ())),)


def deform_sources(
    deforming: Deforming, tables: Mapping[str, Table], addresses: Addresses
) -> Iterator[tuple[str, Source]]:
    """The sources of all passes, by name. tables : the scene's, by name."""
    triangles = tables["triangles"]
    forms = [vertex_pass(deforming, tables["vertices"]), triangle_pass(deforming, triangles), level_pass()]
    forms += [leaf_pass(deforming, triangles.record), small_node_pass(deforming), large_node_pass(deforming)]
    forms += [refit_pass(deforming, tables[name]) for name in ("bvh_pairs", "bvh_nodes") if name in tables]
    forms += [face_normal_pass(deforming)] if deforming.poses.faceted else []
    forms += [tangents_pass(deforming, tables["tangents"])] if "tangents" in tables else []
    for form in forms:
        yield form.modules[-1].name, table_pass_source(form.modules, form.inputs, form.output, addresses)


# -- deforming objects on a device -------------------------------------------------------------------------------------

DEFORMED_TABLES = "vertices", "tangents", "triangles", "bvh_pairs", "bvh_nodes"  # written by the passes

Passes = dict[tuple[Any, ...], tuple[PassForm, TablePass]]
StreamJob = Generator[Draw, Any, Stream]  # steps of a job that return the stream they draw


class GpuDeformer:
    """Jobs that bring the memories of one structure's deforming objects into their poses. Draws follow from tables
    alone: a moment's rows have the same bits whatever came before. posed : stream of all vertices, of `VERTEX`."""

    def __init__(self, device: Device, resources: Resources, deforming: Deforming) -> None:
        self.device, self.resources, self.deforming = device, resources, deforming
        self.posed: Stream | None = None
        self._rows = RowWriter(device, resources)
        self._passes: Passes = {}
        self.streams: dict[str, Stream] = {}
        self._current_versions: dict[int, tuple[int, int]] = {}  # id of a table -> version of its pose, and upload

    def job(self, prepared: PreparedScene) -> Job:
        """The job that brings the memories of a scene over the structure to its poses; no step where they have them."""
        tables, version = self.tables(prepared), self.deforming.version
        versions = {id(table): (version, self.resources.upload_number(table)) for table in tables.values()}
        if versions != self._current_versions:
            posed = yield from self.pose(tables)
            yield from self.refit(tables, posed)
            self._current_versions = versions

    def use_trees(self, deforming: Deforming) -> None:
        """Refit other trees over the same objects from now on."""
        old, self.deforming = self.deforming, deforming
        pairs = list(zip(old.trees.tables, deforming.trees.tables, strict=True))
        if all(self.resources.exchangeable(old_table, new_table) for old_table, new_table in pairs):
            for old_table, new_table in pairs:
                self.resources.exchange(old_table, new_table)  # compiled passes read the same places
        else:
            self._passes.clear()
            self.resources.drop(old.trees.tables)

    def tables(self, prepared: PreparedScene) -> dict[str, Table]:
        """The scene's tables among `DEFORMED_TABLES`, by name, uploaded where they are not on the device yet."""
        tables = {name: table for name, table in tables_of(prepared.made()).items() if name in DEFORMED_TABLES}
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
        yield self._write_rows(posed, tables["vertices"], count)
        self.posed = posed
        if "tangents" in tables:
            tangents = yield from self._run("tangents", tangents_pass(deforming, tables["tangents"]), count, {})
            yield self._write_rows(tangents, tables["tangents"], count)
        return posed

    def refit(self, tables: Mapping[str, Table], posed: Stream | None) -> Job:
        """Write triangles of posed vertices, and the boxes of the trees over them, to their tables."""
        deforming, trees = self.deforming, self.deforming.trees
        count = len(trees.corners.data)
        if posed is None or not count or "triangles" not in tables:
            return
        table = tables["triangles"]
        triangles = yield from self._run("triangle", triangle_pass(deforming, table), count, {POSED: posed})
        yield self._write_rows(triangles, table, count)
        form = leaf_pass(deforming, table.record)
        leaves = yield from self._run("leaf", form, len(trees.leaves.data), {TRIANGLES: triangles})
        inputs = {LEAVES: leaves, INNER: (yield from self._inner(leaves))}
        for name, rows in (("bvh_pairs", len(trees.pairs.data)), ("bvh_nodes", len(trees.nodes.data))):
            if name in tables and rows:
                written = yield from self._run(name, refit_pass(deforming, tables[name]), rows, inputs)
                yield self._write_rows(written, tables[name], rows)

    def _inner(self, leaves: Stream) -> StreamJob:
        """Draw the boxes of inner nodes: small ones from leaves, large ones from a pyramid of boxes over these. Returns
        their stream; that of ``leaves`` where the tree has no inner node."""
        deforming, trees = self.deforming, self.deforming.trees
        nodes, below, pyramid = len(trees.inner.data), leaves, dict[str, Stream]()
        if not nodes:
            return leaves
        rows = -(-nodes // STREAM_WIDTH)
        if trees.many_row:
            form, span = small_node_pass(deforming), (0, min(trees.many_row, rows))
            target = yield from self._run("few", form, nodes, {LEAVES: leaves}, "inner", span)
        if trees.many_row < rows:
            elements = len(trees.leaves.data)
            for k, (boxes, block) in enumerate(block_levels(elements)):
                form = level_pass()
                below = yield from self._run(f"level {k}", form, boxes, {"below": below}, count=elements, block=block)
                pyramid[f"level_{k}"], elements = below, boxes
            form, inputs = large_node_pass(deforming), {LEAVES: leaves, **pyramid}
            target = yield from self._run("many", form, nodes, inputs, "inner", (trees.many_row, rows))
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
    ) -> StreamJob:
        """Draw a pass over ``elements``, whose count is also its uniform ``count`` where that has no other value.

        into : name of the stream that it writes, the pass's by default. rows : of the stream, (first, end). Returns
        the stream.
        """
        last = form.modules[-1]
        tables = [memory.name for memory in last.memories]
        key = last.name, form.output, *sorted(form.inputs), last.features, last.text, *tables
        if key not in self._passes:
            self._passes[key] = form, self._compiled(form)
        target = self._stream(into or name, form.output, elements)
        table_pass, span = self._passes[key][1], rows or (0, target.size[1])
        yield Draw(partial(table_pass.draw_rows, inputs, target, span, **{"count": elements, **uniforms}))
        return target

    def _write_rows(self, stream: Stream, table: Table, count: int) -> Draw:
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

    def recompiled_passes(self) -> Passes:
        """The same passes, compiled again from their files. Raises ShaderError."""
        return {key: (form, self._compiled(form)) for key, (form, _) in self._passes.items()}

    def use_passes(self, passes: Passes) -> None:
        """Compute poses by these passes from now on, all of them once more."""
        self._passes = passes
        self._current_versions.clear()

    def release(self) -> None:
        """Free streams, and the memories that passes alone read."""
        self.resources.drop([*self.deforming.poses.tables, *self.deforming.trees.tables])
        self._rows.release()
        for stream in self.streams.values():
            stream.release()
        self.streams.clear()
        self.posed = None
        self._passes.clear()
        self._current_versions.clear()
