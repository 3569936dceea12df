"""Deforming objects on a device: vertices posed and trees refitted by fragment programs, into the memories of rays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from viewer.accel.bvh.tree import PAIR
from viewer.accel.deform.deforming import Deforming
from viewer.accel.deform.refit import WIDTH, levels
from viewer.renderer.device import deform_passes as forms
from viewer.renderer.inputs.prepared import Prepared
from viewer.stream.declare.kernel import Table
from viewer.stream.declare.record import Record
from viewer.stream.gl.device import Device
from viewer.stream.gl.resources import Resources
from viewer.stream.gl.rows import RowWriter, TablePass
from viewer.stream.gl.stream import Stream


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

    @property
    def posed(self) -> Stream | None:
        """`VERTEX` of every deforming vertex, as it was posed last."""
        return self._streams.get("face normal" if self.deforming.poses.faceted else "vertex")

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
        self._refit(written, [each for each in trees_late if each is not table])

    def _refit(self, triangles: Stream, tables: list[Table]) -> None:
        """Write the boxes of the tables of traversals."""
        deforming, record = self.deforming, triangles.record
        if not tables:
            return
        trees = deforming.trees
        leaves = self._run(
            "leaf", forms.leaf_pass(deforming, record), len(trees.leaves.data), {forms.TRIANGLES: triangles}
        )
        inner = self._inner(leaves)
        for table in tables:
            rows = len((trees.pairs if table.record == PAIR else trees.nodes).data)
            if rows:
                inputs = {forms.LEAVES: leaves, forms.INNER: inner}
                self._rows.write(self._run(table.name, forms.refit_pass(deforming, table), rows, inputs), table, rows)

    def _inner(self, leaves: Stream) -> Stream:
        """The boxes of inner nodes, in two parts; where there are none, those of leaves in their place."""
        deforming, trees = self.deforming, self.deforming.trees
        nodes, below, pyramid = len(trees.inner.data), leaves, dict[str, Stream]()
        if not nodes:
            return leaves
        rows = -(-nodes // WIDTH)
        if trees.few:
            few = forms.few_pass(deforming)
            target = self._run("few", few, nodes, {forms.LEAVES: leaves}, "inner", (0, min(trees.few, rows)))
        if trees.few < rows:
            elements = len(trees.leaves.data)
            for k, (boxes, block) in enumerate(levels(elements)):
                values = {"count": elements, "block": block}
                below = self._run(f"level {k}", forms.level_pass(), boxes, {"below": below}, **values)
                pyramid[f"level_{k}"], elements = below, boxes
            many = forms.many_pass(deforming), nodes, {forms.LEAVES: leaves, **pyramid}
            target = self._run("many", *many, "inner", (trees.few, rows))
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
    ) -> Stream:
        """Draw a pass over so many ``elements``, which is also its uniform ``count`` where that has no other value.

        into : name of the stream that it writes, its own by default. rows : of the stream, first and behind the last.
        """
        last = form.modules[-1]
        tables = [memory.name for memory in last.memories]
        key = name, form.output, *sorted(form.inputs), last.features, last.text, *tables
        if key not in self._passes:
            self._passes[key] = TablePass(self.device, self.resources, form.modules, form.inputs, form.output)
        target = self._stream(into or name, form.output, elements)
        self._passes[key].draw_rows(inputs, target, rows or (0, target.size[1]), **{"count": elements, **uniforms})
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
