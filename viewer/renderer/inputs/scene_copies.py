"""Copies of callers' scenes, which callers may edit in place.

A renderer takes scenes for values: that on show must not change, and two scenes are compared by identity (see
`raystream.renderer.inputs.scene_diff`). So it copies the scenes that it is passed: lists, materials, transformations
and other small parts; arrays are shared, with a checksum of their bytes. Of a scene that is passed again, parts of
equal content have the same copies as before, and edited ones have others.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import fields
from functools import cached_property
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.renderer.inputs.prepared import PreparedScene
from raystream.scene.deform import Deformation, DeformedMesh, Matrices, MeshPose, MorphTarget
from raystream.scene.edits.classic_plane import tiles
from raystream.scene.geometry.bounds import SQUARE
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.material import Material
from raystream.scene.mesh import Instance, Mesh, transforms_of
from raystream.scene.quadric import Quadric, QuadricShape
from raystream.scene.scene import Scene, same_items
from raystream.scene.texture import Image, Texture

COPIED_CLASSES = Mesh, QuadricShape, Deformation, MeshPose, MorphTarget, Material, Texture, Image
SHARED_ARRAY_CLASSES = Mesh, Deformation, MorphTarget, Image  # their arrays may be large
# Class -> the attributes that all its others are computed from.
INDEPENDENT: dict[type, tuple[str, ...]] = {
    DeformedMesh: ("rest", "deformation", "pose", "motion"),
    Quadric: ("materials", "name", "shape"),
}


NO_CONTENT: dict[str, Any] = {}


class _ArrayContent(NamedTuple):
    """An array, with the checksum (CRC-32), shape and dtype of its content when it was copied."""

    array: NDArray
    checksum: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def has_same_content(self, other: object) -> bool:
        """Whether checksum, shape and dtype are those of another array."""
        return isinstance(other, _ArrayContent) and self[1:] == other[1:]


class _Copied(NamedTuple):
    """A caller's part of a scene, its copy, and its attributes' content at that time."""

    source: Any
    copy: Any
    content: dict[str, Any]


class SceneCopy:
    """The copy of a caller's scene, with the copies of its parts.

    scene  : the caller's; a prepared one is not copied. before : the renderer's copy made last. shown : the prepared
    scene on show, whose scenes and parts are copies already.
    copy   : the copy; that of ``before`` where nothing has been edited since.

    A scene that was passed before, or lent to the caller, may have been edited in place and is compared by content; in
    other scenes arrays of known parts are compared by identity. Raises ViewerError for an edited part that is invalid.
    """

    def __init__(
        self, scene: Scene | PreparedScene, before: SceneCopy | None = None, shown: PreparedScene | None = None
    ) -> None:
        self._shown_scenes = () if shown is None else (shown.scene, shown.given)
        self._parts: dict[int, _Copied] = {}  # id of the caller's part -> its copy
        self._earlier: dict[int, _Copied] = {} if before is None else before._parts
        # (caller's scene, copy) of the scene passed last, and of the one lent last.
        self._passed: tuple[Scene, Scene] | None = None if before is None else before._passed
        self._lent: tuple[Scene, Scene] | None = None if before is None else before._lent
        self._references: dict[int, ref[Scene]] = {} if before is None else before._references
        pairs = [pair for pair in (self._passed, self._lent) if pair is not None]
        earlier = next((scene_copy for source, scene_copy in pairs if source is scene), None)
        self._references = {key: reference for key, reference in self._references.items() if reference() is not None}
        self._edited = id(scene) in self._references  # possibly edited in place
        self.copy = scene
        if isinstance(scene, PreparedScene) or any(scene is internal for internal in self._shown_scenes):
            self._parts = self._earlier
        else:
            self.copy = self._copy(scene, earlier)
            self._passed, self._references[id(scene)] = (scene, self.copy), ref(scene)
        for part in () if self._lent is None else _all_parts(self._lent[0]):  # it may be passed next
            if id(part) in self._earlier:
                self._parts.setdefault(id(part), self._earlier[id(part)])
        self._earlier, self._shown_scenes = {}, ()
        vars(self).pop("_internal", None)

    def _copy(self, scene: Scene, earlier: Scene | None) -> Scene:
        """The copy of a scene; ``earlier``, its copy of before, where all parts are the same."""
        parts = {field.name: _copied_list(getattr(scene, field.name)) for field in fields(scene) if field.init}
        for name in ("meshes", "materials", "textures"):
            parts[name] = [self._copy_part(part) for part in parts[name]]
        parts["instances"] = self._copy_instances(parts["instances"])
        if earlier is not None and all(_same(getattr(earlier, name), value) for name, value in parts.items()):
            return earlier
        return (earlier or scene).with_parts(**parts)

    def lend_scene(self, shown: Scene) -> Scene:
        """The scene on show for callers: the one that ``shown`` is a copy of; else a new one, of the callers' parts
        where they have some, and of copies."""
        for pair in (self._passed, self._lent):
            if pair is not None and pair[1] is shown:
                return pair[0]
        sources = {id(entry.copy): entry.source for entry in self._parts.values()}
        parts = {field.name: _copied_list(getattr(shown, field.name)) for field in fields(shown) if field.init}
        for name in ("meshes", "materials", "textures", "instances"):
            parts[name] = [self._lent_part(part, sources) for part in parts[name]]
        self._lent = shown.with_parts(**parts), shown
        self._references[id(self._lent[0])] = ref(self._lent[0])
        return self._lent[0]

    # -- parts -----------------------------------------------------------------------------------------------------

    @cached_property
    def _internal(self) -> set[int]:
        """The ids of all parts of the prepared scene on show, which need no copies."""
        return {id(part) for scene in self._shown_scenes for part in _all_parts(scene)}

    def _copy_part(self, part: Any) -> Any:
        """The copy of a part and, recursively, of its parts; the former copy where its content is the same."""
        if _is_constant(part):
            return part
        if id(part) in self._parts:
            return self._parts[id(part)].copy
        previous = self._earlier.get(id(part))
        if previous is None and id(part) in self._internal:
            return part
        content: dict[str, Any] = {}
        unchanged: dict[str, Any] = {}  # attributes of the copy before
        for name in _attributes(part):
            before, value = None if previous is None else previous.content.get(name), vars(part).get(name)
            if isinstance(value, list) and isinstance(part, Mesh):
                value = np.array(value)
            content[name] = after = self._content(value, before, self._copy_part)
            same = after.has_same_content(before) if isinstance(after, _ArrayContent) else _same(before, after)
            if previous is not None and same:
                unchanged[name] = vars(previous.copy)[name]
        if previous is not None and len(unchanged) == len(content):
            duplicate = previous.copy
        else:
            values = {
                name: _copied_value(value, isinstance(part, SHARED_ARRAY_CLASSES), previous is not None)
                for name, value in content.items()
            }
            duplicate = _copy_with(part, values | unchanged, previous is not None or _may_be_invalid(part, content))
            vars(duplicate).update(unchanged)  # which a check may have converted
        self._parts[id(part)] = _Copied(part, duplicate, content)
        return duplicate

    def _content(self, value: Any, before: Any, part: Callable[[Any], Any]) -> Any:
        """The content of an attribute, for comparison with ``before``. part : returns the copy of a part in the
        value."""
        if isinstance(value, np.ndarray):
            if not self._edited and isinstance(before, _ArrayContent) and before.array is value:
                return before
            return _ArrayContent(value, zlib.crc32(np.ascontiguousarray(value).data), value.shape, value.dtype)
        if isinstance(value, COPIED_CLASSES):
            return part(value)
        if isinstance(value, (tuple, list)):
            items = tuple(self._content(item, None, part) for item in value)
            return value if isinstance(value, tuple) and same_items(items, value) else items
        return value

    def _copy_instances(self, instances: Sequence[Instance]) -> list[Instance]:
        """The copies of instances. There may be millions, so all matrices are compared at once."""
        matrices, internal = _matrices(instances), self._internal
        copies: list[Instance | None] = []
        for instance in instances:
            pair = self._earlier.get(id(instance))
            if pair is not None:
                old = pair.copy
                same = old.mesh == instance.mesh and old.material == instance.material and old.name == instance.name
                copies.append(old if same and _same_motion(old.motion, instance.motion) else None)
            else:
                copies.append(instance if id(instance) in internal else None)
        unchanged = [duplicate for duplicate in copies if duplicate is not None]
        rows = (
            np.arange(len(copies))
            if len(unchanged) == len(copies)
            else np.flatnonzero([duplicate is not None for duplicate in copies])
        )
        before, now = transforms_of(unchanged), matrices[rows]
        moved = ((before != now) & ~(np.isnan(before) & np.isnan(now))).any(axis=(1, 2))
        for k in rows[moved].tolist():
            copies[k] = None
        for k, (instance, old) in enumerate(zip(instances, copies, strict=True)):
            if old is None:
                motion = None if instance.motion is None else np.array(instance.motion, np.float64)
                copies[k] = old = Instance(instance.mesh, matrices[k], instance.material, instance.name, motion)
            if old is not instance:
                self._parts[id(instance)] = _Copied(instance, old, NO_CONTENT)
        return copies  # type: ignore[return-value]

    def _lent_part(self, part: Any, sources: dict[int, Any]) -> Any:
        """The callers' counterpart of one of the renderer's parts, a new copy where there is none. sources : id of a
        renderer's part -> counterpart."""
        if isinstance(part, tuple):
            return tuple(self._lent_part(item, sources) for item in part)
        if id(part) in sources or _is_constant(part) or not isinstance(part, (*COPIED_CLASSES, Instance)):
            return sources.get(id(part), part)
        content: dict[str, Any] = {}
        if isinstance(part, Instance):
            motion = None if part.motion is None else part.motion.copy()
            duplicate: Any = Instance(part.mesh, part.transform.copy(), part.material, part.name, motion)
        else:
            duplicate = copy(part)
            for name in _attributes(part):
                value = self._lent_part(vars(part).get(name), sources)
                copied = isinstance(value, np.ndarray) and not isinstance(part, SHARED_ARRAY_CLASSES)
                vars(duplicate)[name] = value.copy() if copied else value
            content = {name: self._content(vars(part).get(name), None, lambda item: item) for name in _attributes(part)}
        sources[id(part)] = duplicate
        self._parts[id(duplicate)] = _Copied(duplicate, part, content)
        return duplicate


def _all_parts(scene: Scene) -> Iterator[Any]:
    """All parts of a scene and, recursively, their parts."""
    yield from scene.instances
    yield from scene.materials
    for mesh in scene.meshes:
        yield mesh
        if isinstance(mesh, (Quadric, Quadrics)):
            yield mesh.shape
        elif isinstance(mesh, DeformedMesh):
            yield from (mesh.rest, mesh.deformation, *mesh.deformation.targets, mesh.pose, *mesh.motion)
    for texture in scene.textures:
        yield from (texture, texture.image)


def _is_constant(part: Any) -> bool:
    """Whether a part is a constant of the project, by whose identity grounds are recognised."""
    return part is SQUARE or part is tiles()


def _attributes(part: Any) -> Sequence[str]:
    """The names of a part's attributes, without those that are computed from others."""
    return INDEPENDENT.get(type(part)) or [field.name for field in fields(part)]


def _copied_value(content: Any, shared: bool, edited: bool) -> Any:
    """An attribute of a copy. shared : arrays share memory with the original; as a new view where it was edited."""
    if not isinstance(content, _ArrayContent):
        return content
    if not shared:
        return content.array.copy()
    return content.array.view() if edited else content.array


def _may_be_invalid(part: Any, content: dict[str, Any]) -> bool:
    """Whether a part may have invalid values, assigned after construction: any material, and meshes with unusual
    dtypes."""
    if isinstance(part, Material):
        return True
    arrays = (array for array in content.values() if isinstance(array, _ArrayContent))
    return type(part) is Mesh and any(array.dtype not in (np.float32, np.int32) for array in arrays)


def _copy_with(part: Any, values: dict[str, Any], checked: bool) -> Any:
    """A copy of a part with other attributes. checked : by the class's validation. Raises ViewerError if that fails."""
    if isinstance(part, DeformedMesh) and checked:
        return DeformedMesh(**values)  # cached values of the former one do not hold
    duplicate = copy(part)
    vars(duplicate).update(values)
    if checked and hasattr(duplicate, "__post_init__"):
        try:
            duplicate.__post_init__()
        except (TypeError, ValueError) as error:  # of NumPy
            raise ViewerError(
                f"{type(part).__name__.lower()} '{part.name}'", f"an array does not fit: {error}"
            ) from None
    return duplicate


def _matrices(instances: Sequence[Instance]) -> NDArray[np.float64]:
    """(I, 4, 4): a copy of the instances' transformations. Raises ViewerError for one of another shape."""
    if {getattr(instance.transform, "shape", ()) for instance in instances} - {(4, 4)}:
        for index, instance in enumerate(instances):
            if np.shape(instance.transform) != (4, 4):
                name = f" '{instance.name}'" if instance.name else ""
                what = f"its transform has shape {np.shape(instance.transform)}"
                raise ViewerError(f"instance {index}{name}", what, "give a matrix (4, 4)")
    return transforms_of(instances)


def _same_motion(before: Matrices | None, now: Matrices | None) -> bool:
    """Whether an instance's motion is unchanged."""
    return before is now or (before is not None and now is not None and np.array_equal(before, now))


def _copied_list(value: Any) -> Any:
    """The value, a list as a new one."""
    return list(value) if isinstance(value, list) else value


def _same(before: Any, now: Any) -> bool:
    """Whether an attribute is unchanged: lists and tuples by their items, parts by identity, numbers by value."""
    if before is now:
        return True
    if isinstance(before, (list, tuple)) and type(now) is type(before):
        return same_items(before, now) or (len(before) == len(now) and all(map(_same, before, now)))
    return type(before) is type(now) and isinstance(now, (str, int, float)) and before == now
