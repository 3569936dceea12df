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

COPIED = Mesh, QuadricShape, Deformation, MeshPose, MorphTarget, Material, Texture, Image
SHARED = Mesh, Deformation, MorphTarget, Image  # their arrays, which may be large
# The attributes from which all others follow, of classes that have others.
INDEPENDENT: dict[type, tuple[str, ...]] = {
    DeformedMesh: ("rest", "deformation", "pose", "motion"),
    Quadric: ("materials", "name", "shape"),
}


NOTHING: dict[str, Any] = {}


class _ArrayContent(NamedTuple):
    """An array, and the checksum (CRC-32) and form of its content when it was copied."""

    array: NDArray
    checksum: int
    shape: tuple[int, ...]
    dtype: np.dtype

    def same(self, other: object) -> bool:
        """Whether another array's content is the same."""
        return isinstance(other, _ArrayContent) and self[1:] == other[1:]


class _Copied(NamedTuple):
    """A caller's part, its copy, and the content of its attributes then."""

    source: Any
    copy: Any
    content: dict[str, Any]


class SceneCopy:
    """A caller's scene, the copy of it, and those of its parts.

    scene  : the caller's. before, shown : the last one of the same renderer, and its copy on show, whose scenes are
    copies already, like their parts; like those of a prepared ``scene``, which is taken as it is.
    copy   : the copy; that of ``before`` where nothing has been edited since.

    A scene that has been passed before, or lent, is compared by content; in others, arrays of known parts are compared
    by identity, like all that edits share. Raises ViewerError for an edited part that does not fit.
    """

    def __init__(
        self, scene: Scene | PreparedScene, before: SceneCopy | None = None, shown: PreparedScene | None = None
    ) -> None:
        self._shown = () if shown is None else (shown.scene, shown.given)
        self._parts: dict[int, _Copied] = {}  # by identity of the caller's part
        self._earlier: dict[int, _Copied] = {} if before is None else before._parts
        # The scene passed last, and the one lent last, with their copies.
        self._passed: tuple[Scene, Scene] | None = None if before is None else before._passed
        self._lent: tuple[Scene, Scene] | None = None if before is None else before._lent
        self._references: dict[int, ref[Scene]] = {} if before is None else before._references
        pairs = [pair for pair in (self._passed, self._lent) if pair is not None]
        earlier = next((scene_copy for source, scene_copy in pairs if source is scene), None)
        self._references = {key: reference for key, reference in self._references.items() if reference() is not None}
        self._edited = id(scene) in self._references  # perhaps, in place
        self.copy = scene
        if isinstance(scene, PreparedScene) or any(scene is internal for internal in self._shown):
            self._parts = self._earlier
        else:
            self.copy = self._copy(scene, earlier)
            self._passed, self._references[id(scene)] = (scene, self.copy), ref(scene)
        for part in () if self._lent is None else _all_parts(self._lent[0]):  # it may be passed next
            if id(part) in self._earlier:
                self._parts.setdefault(id(part), self._earlier[id(part)])
        self._earlier, self._shown = {}, ()
        vars(self).pop("_internal", None)

    def _copy(self, scene: Scene, earlier: Scene | None) -> Scene:
        parts = {field.name: _unshared(getattr(scene, field.name)) for field in fields(scene) if field.init}
        for name in ("meshes", "materials", "textures"):
            parts[name] = [self._part(part) for part in parts[name]]
        parts["instances"] = self._instances(parts["instances"])
        if earlier is not None and all(_same(getattr(earlier, name), value) for name, value in parts.items()):
            return earlier
        return (earlier or scene).with_parts(**parts)

    def lent(self, shown: Scene) -> Scene:
        """The scene on show, for callers: the one that it is the copy of, else one whose parts are those that they are
        copies of, or copies of them."""
        for pair in (self._passed, self._lent):
            if pair is not None and pair[1] is shown:
                return pair[0]
        sources = {id(entry.copy): entry.source for entry in self._parts.values()}
        parts = {field.name: _unshared(getattr(shown, field.name)) for field in fields(shown) if field.init}
        for name in ("meshes", "materials", "textures", "instances"):
            parts[name] = [self._lend(part, sources) for part in parts[name]]
        self._lent = shown.with_parts(**parts), shown
        self._references[id(self._lent[0])] = ref(self._lent[0])
        return self._lent[0]

    # -- parts -----------------------------------------------------------------------------------------------------

    @cached_property
    def _internal(self) -> set[int]:
        """The identities of the parts of the renderer's own scenes."""
        return {id(part) for scene in self._shown for part in _all_parts(scene)}

    def _part(self, part: Any) -> Any:
        """The copy of a part, with its own parts."""
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
            content[name] = now = self._content(value, before, self._part)
            same = now.same(before) if isinstance(now, _ArrayContent) else _same(before, now)
            if previous is not None and same:
                unchanged[name] = vars(previous.copy)[name]
        if previous is not None and len(unchanged) == len(content):
            duplicate = previous.copy
        else:
            values = {
                name: _value(value, isinstance(part, SHARED), previous is not None) for name, value in content.items()
            }
            duplicate = _assembled(part, values | unchanged, previous is not None or _is_unchecked(part, content))
            vars(duplicate).update(unchanged)  # which a check may have converted
        self._parts[id(part)] = _Copied(part, duplicate, content)
        return duplicate

    def _content(self, value: Any, before: Any, part: Callable[[Any], Any]) -> Any:
        """The content of an attribute, as it is compared with that of ``before``. part : the copy of a part in it."""
        if isinstance(value, np.ndarray):
            if not self._edited and isinstance(before, _ArrayContent) and before.array is value:
                return before
            return _ArrayContent(value, zlib.crc32(np.ascontiguousarray(value).data), value.shape, value.dtype)
        if isinstance(value, COPIED):
            return part(value)
        if isinstance(value, (tuple, list)):
            items = tuple(self._content(item, None, part) for item in value)
            return value if isinstance(value, tuple) and same_items(items, value) else items
        return value

    def _instances(self, instances: Sequence[Instance]) -> list[Instance]:
        """The copies of instances: compared together, since there may be very many."""
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
                self._parts[id(instance)] = _Copied(instance, old, NOTHING)
        return copies  # type: ignore[return-value]

    def _lend(self, part: Any, sources: dict[int, Any]) -> Any:
        """A part for callers, of one of the renderer's own."""
        if isinstance(part, tuple):
            return tuple(self._lend(item, sources) for item in part)
        if id(part) in sources or _is_constant(part) or not isinstance(part, (*COPIED, Instance)):
            return sources.get(id(part), part)
        content: dict[str, Any] = {}
        if isinstance(part, Instance):
            motion = None if part.motion is None else part.motion.copy()
            duplicate: Any = Instance(part.mesh, part.transform.copy(), part.material, part.name, motion)
        else:
            duplicate = copy(part)
            for name in _attributes(part):
                value = self._lend(vars(part).get(name), sources)
                copied = isinstance(value, np.ndarray) and not isinstance(part, SHARED)
                vars(duplicate)[name] = value.copy() if copied else value
            content = {name: self._content(vars(part).get(name), None, lambda item: item) for name in _attributes(part)}
        sources[id(part)] = duplicate
        self._parts[id(duplicate)] = _Copied(duplicate, part, content)
        return duplicate


def _all_parts(scene: Scene) -> Iterator[Any]:
    """All parts of a scene, with their own parts."""
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
    """Whether a part is one that grounds are known by, whatever scene they are in."""
    return part is SQUARE or part is tiles()


def _attributes(part: Any) -> Sequence[str]:
    """The names of a part's attributes, those aside that follow from others."""
    return INDEPENDENT.get(type(part)) or [field.name for field in fields(part)]


def _value(content: Any, shared: bool, edited: bool) -> Any:
    """An attribute of a copy. shared : arrays are. edited : they are other objects than before, all the same."""
    if not isinstance(content, _ArrayContent):
        return content
    if not shared:
        return content.array.copy()
    return content.array.view() if edited else content.array


def _is_unchecked(part: Any, content: dict[str, Any]) -> bool:
    """Whether a part may have been assigned to since its making, by the types of its values."""
    if isinstance(part, Material):
        return True
    arrays = (array for array in content.values() if isinstance(array, _ArrayContent))
    return type(part) is Mesh and any(array.dtype not in (np.float32, np.int32) for array in arrays)


def _assembled(part: Any, values: dict[str, Any], checked: bool) -> Any:
    """A copy of a part with these attributes; ``checked`` like a new one. Raises ViewerError where they do not fit."""
    if isinstance(part, DeformedMesh) and checked:
        return DeformedMesh(**values)  # what has been computed for it is no longer its own
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
    """(I, 4, 4): a copy of the transformations. Raises ViewerError for one of another shape."""
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


def _unshared(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _same(before: Any, now: Any) -> bool:
    """Whether an attribute is unchanged: lists and tuples by their items, parts by identity, numbers by value."""
    if before is now:
        return True
    if isinstance(before, (list, tuple)) and type(now) is type(before):
        return same_items(before, now) or (len(before) == len(now) and all(map(_same, before, now)))
    return type(before) is type(now) and isinstance(now, (str, int, float)) and before == now
