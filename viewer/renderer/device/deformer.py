"""Deforming objects on a device: vertices posed and trees refitted by fragment programs, into the memories of rays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.accel.bvh.tree import PAIR
from viewer.accel.deform.deforming import Deforming
from viewer.accel.deform.refit import levels
from viewer.renderer.device import deform_passes as forms
from viewer.renderer.inputs.prepared import Prepared
from viewer.stream.declare.kernel import Table
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.rows import RowWriter, TablePass
from viewer.stream.gl.stream import Stream

WIDTH = 512  # elements in a row of the streams


class Deformer:
    """Keeps the memories of one structure's deforming objects in their poses; the context must be current.

    What is drawn follows from tables alone: a moment's rows have the same bits whatever came before.
    """

    def __init__(self, device: Device, resources: Resources, deforming: Deforming) -> None:
        self.device, self.resources, self.deforming = device, resources, deforming
        self._rows = RowWriter(device, resources)
        self._passes: dict[tuple[Any, ...], TablePass] = {}
        self._streams: dict[str, Stream] = {}
        self._done: dict[int, tuple[int, int]] = {}  # by id of a table: the pose that it has, and its upload

    def settle(self, prepared: Prepared) -> None:
        """Bring the memories of a scene over the structure up to date, as far as they are on the device or programs
        may read them."""
        tables = {id(table): table for table in _tables(prepared)}
        resources, version = self.resources, self.deforming.version
        for table in tables.values():
            if not table.hot:
                resources.base(table)
            else:
                resources.get(table)
        held = {key: (version, resources.upload_number(table)) for key, table in tables.items()}
        late = [table for key, table in tables.items() if self._done.get(key) != held[key]]
        if late:
            self._write(late, tables)
            self._done = held

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

    # -- passes ----------------------------------------------------------------------------------------------------

    def _write(self, late: list[Table], tables: Mapping[int, Table]) -> None:
        """Write rows of these tables. All of them follow from the vertices."""
        named = {table.name: table for table in tables.values()}
        deforming, poses, trees = self.deforming, self.deforming.poses, self.deforming.trees
        vertices = len(poses.rest.data)
        if not vertices:
            return
        form = forms.vertex_pass(deforming, named["vertices"])
        posed = self._run("vertex", form, vertices, {})
        if poses.faceted:
            posed = self._run("face normal", forms.face_normal_pass(deforming), vertices, {forms.POSED: posed})
        if named["vertices"] in late:
            self._rows.write(posed, named["vertices"], vertices)
        if "details" in named and named["details"] in late:
            details = self._run("detail", forms.detail_pass(deforming, named["details"]), vertices, {})
            self._rows.write(details, named["details"], vertices)
        triangles = len(trees.corners.data)
        trees_late = [table for table in late if table.name not in ("vertices", "details")]
        if not triangles or not trees_late:
            return
        table = named["triangles"]
        written = self._run("triangle", forms.triangle_pass(deforming, table), triangles, {forms.POSED: posed})
        if table in late:
            self._rows.write(written, table, triangles)
        self._refit(written, [each for each in trees_late if each is not table], triangles)

    def _refit(self, triangles: Stream, tables: list[Table], count: int) -> None:
        """Write the boxes of the tables of traversals."""
        deforming, record = self.deforming, triangles.record
        if not tables:
            return
        pyramid, elements, below = dict[str, Stream](), count, triangles
        for k, (boxes, block) in enumerate(levels(count)):
            form = forms.level_pass(record) if k else forms.block_pass(record)
            inputs = {"below" if k else forms.TRIANGLES: below}
            values = {"count": elements, "block": block}
            below = pyramid[f"level_{k}"] = self._run(f"level {k}", form, boxes, inputs, **values)
            elements = boxes
        nodes = len(deforming.trees.ranges.data)
        refitted = self._run("node", forms.node_pass(deforming, record), nodes, {forms.TRIANGLES: triangles, **pyramid})
        for table in tables:
            rows = len((deforming.trees.pairs if table.record == PAIR else deforming.trees.nodes).data)
            if rows:
                form = forms.refit_pass(deforming, table)
                self._rows.write(self._run(table.name, form, rows, {forms.BOXES: refitted}), table, rows)

    def _run(
        self, name: str, form: forms.PassForm, elements: int, inputs: Mapping[str, Stream], **uniforms: int
    ) -> Stream:
        """Draw a pass over so many ``elements``, which is also its uniform ``count`` where that has no other value."""
        last = form.modules[-1]
        tables = [memory.name for memory in last.memories]
        key = name, form.output, *sorted(form.inputs), last.features, last.text, *tables
        if key not in self._passes:
            self._passes[key] = TablePass(self.device, self.resources, form.modules, form.inputs, form.output)
        target = self._stream(name, form.output, elements)
        self._passes[key].draw(inputs, target, **{"count": elements, **uniforms})
        return target

    def _stream(self, name: str, record: Record, count: int) -> Stream:
        size = WIDTH, -(-count // WIDTH)
        held = self._streams.get(name)
        if held is None or held.record != record or held.size != size:
            if held is not None:
                held.release()
            held = self._streams[name] = Stream(self.device, record, size)
        return held

    def release(self) -> None:
        """Free streams; the memories stay."""
        self._rows.release()
        for stream in self._streams.values():
            stream.release()
        self._streams.clear()
        self._passes.clear()
        self._done.clear()


def _tables(prepared: Prepared) -> list[Table]:
    """The tables that hold what deforms."""
    memories = [memory for module in prepared.made() for memory in module.memories if isinstance(memory, Table)]
    names = ("vertices", "details", "triangles", "bvh_pairs", "bvh_nodes")
    return [table for table in memories if table.name in names]
