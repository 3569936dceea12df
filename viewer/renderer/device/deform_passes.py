"""The passes that pose vertices and refit trees on the device, as sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from raystream.accel.bvh.tree import NODE, PAIR
from raystream.accel.deform.deforming import BOX, Deforming, levels
from raystream.kernels.records import VERTEX
from raystream.materials.details import DETAIL
from raystream.stream.compile.memories import Addresses
from raystream.stream.compile.source import Source
from raystream.stream.declare.kernel import Module, Table
from raystream.stream.declare.record import Record
from raystream.stream.gl.passes import table_pass_source

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
    tables += [] if poses.looks else [vertices]
    return PassForm({}, VERTEX, _module("pose_vertex", tables, features))


def face_normal_pass(deforming: Deforming) -> PassForm:
    """The same with normals of faces."""
    tables = [deforming.poses.rest, deforming.poses.facets]
    return PassForm({POSED: VERTEX}, VERTEX, _module("face_normals", tables))


def detail_pass(deforming: Deforming, details: Table) -> PassForm:
    """Posed tangents, and the other attributes of a vertex."""
    if not deforming.poses.looks:
        return PassForm({}, DETAIL, _module("pose_detail", [details]))
    return PassForm({}, DETAIL, _module("pose_detail", *_read(deforming)))


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
    blocks = [block for _, block in levels(len(deforming.trees.leaves.data))]
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
    if poses.looks:
        tables, features = [*tables, poses.look, *([poses.look_deltas] if poses.morphs else [])], features | {"LOOKS"}
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
    forms += [detail_pass(deforming, tables["details"])] if "details" in tables else []
    for form in forms:
        yield form.modules[-1].name, table_pass_source(form.modules, form.inputs, form.output, addresses)
