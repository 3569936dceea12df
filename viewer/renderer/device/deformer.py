"""Deforming objects on a device: vertices posed and trees refitted by fragment programs, into the memories of rays."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial
from typing import Any

from raystream.accel.deform.deforming import WIDTH, Deforming, levels
from raystream.renderer.device import deform_passes as forms
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.stream.compile.memories import tables_of
from raystream.stream.declare.kernel import Table
from raystream.stream.declare.record import Record
from raystream.stream.gl.device import Device
from raystream.stream.gl.passes import RowWriter, TablePass
from raystream.stream.gl.resources import Resources
from raystream.stream.gl.stream import Stream
from raystream.stream.jobs import Draw, Job

NAMES = "vertices", "details", "triangles", "bvh_pairs", "bvh_nodes"  # of the tables that hold what deforms

Passes = dict[tuple[Any, ...], tuple[forms.PassForm, TablePass]]
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
        posed = yield from self._run("vertex", forms.vertex_pass(deforming, tables["vertices"]), count, {})
        if poses.faceted:
            posed = yield from self._run("face normal", forms.face_normal_pass(deforming), count, {forms.POSED: posed})
        yield self._written(posed, tables["vertices"], count)
        self.posed = posed
        if "details" in tables:
            details = yield from self._run("detail", forms.detail_pass(deforming, tables["details"]), count, {})
            yield self._written(details, tables["details"], count)
        return posed

    def refit(self, tables: Mapping[str, Table], posed: Stream | None) -> Job:
        """Write triangles of posed vertices, and the boxes of the trees over them, to their tables."""
        deforming, trees = self.deforming, self.deforming.trees
        count = len(trees.corners.data)
        if posed is None or not count or "triangles" not in tables:
            return
        table = tables["triangles"]
        triangles = yield from self._run("triangle", forms.triangle_pass(deforming, table), count, {forms.POSED: posed})
        yield self._written(triangles, table, count)
        form = forms.leaf_pass(deforming, table.record)
        leaves = yield from self._run("leaf", form, len(trees.leaves.data), {forms.TRIANGLES: triangles})
        inputs = {forms.LEAVES: leaves, forms.INNER: (yield from self._inner(leaves))}
        for name, rows in (("bvh_pairs", len(trees.pairs.data)), ("bvh_nodes", len(trees.nodes.data))):
            if name in tables and rows:
                written = yield from self._run(name, forms.refit_pass(deforming, tables[name]), rows, inputs)
                yield self._written(written, tables[name], rows)

    def _inner(self, leaves: Stream) -> Drawn:
        """The boxes of inner nodes, in two parts; where there are none, those of leaves in their place."""
        deforming, trees = self.deforming, self.deforming.trees
        nodes, below, pyramid = len(trees.inner.data), leaves, dict[str, Stream]()
        if not nodes:
            return leaves
        rows = -(-nodes // WIDTH)
        if trees.few:
            few = forms.few_pass(deforming)
            target = yield from self._run("few", few, nodes, {forms.LEAVES: leaves}, "inner", (0, min(trees.few, rows)))
        if trees.few < rows:
            elements = len(trees.leaves.data)
            for k, (boxes, block) in enumerate(levels(elements)):
                form = forms.level_pass()
                below = yield from self._run(f"level {k}", form, boxes, {"below": below}, count=elements, block=block)
                pyramid[f"level_{k}"], elements = below, boxes
            many = forms.many_pass(deforming), nodes, {forms.LEAVES: leaves, **pyramid}
            target = yield from self._run("many", *many, "inner", (trees.few, rows))
        return target

    def _run(
        self,
        name: str,
        form: forms.PassForm,
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

    def _compiled(self, form: forms.PassForm) -> TablePass:
        return TablePass(self.device, self.resources, form.modules, form.inputs, form.output)

    def _stream(self, name: str, record: Record, count: int) -> Stream:
        size = WIDTH, -(-count // WIDTH)
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
