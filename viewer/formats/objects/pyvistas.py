"""PyVista's datasets, ``MultiBlock`` and ``Plotter``."""

from __future__ import annotations

import warnings
from inspect import getattr_static
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.formats.named import kind_of
from raystream.formats.objects.surface import ForeignSurface, Gathered, linear
from raystream.scene.camera import Camera
from raystream.scene.geometry.bounds import bounds_of
from raystream.scene.material import Material
from raystream.scene.projections import Orthographic

# Samples of the colour map viridis (N. Smith and S. van der Walt, 2015), sRGB: PyVista's default for scalars.
VIRIDIS = np.array(
    [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99)]
    + [(170, 220, 50), (253, 231, 37)],
    np.float64,
)


def is_plotter(source: Any) -> bool:
    """Whether it has actors under a camera."""
    return hasattr(getattr(source, "actors", None), "items") and hasattr(source, "camera")


def is_blocks(source: Any) -> bool:
    """Whether it holds datasets by name."""
    return hasattr(source, "n_blocks") and hasattr(source, "keys")


def is_dataset(source: Any) -> bool:
    """Whether it has points, and faces or an extractable surface."""
    return hasattr(source, "points") and (_has_faces(source) or hasattr(source, "extract_surface"))


def _has_faces(source: Any) -> bool:
    """Whether it is a surface; looked up statically, as access raises for faces of several sizes."""
    return getattr_static(source, "regular_faces", None) is not None


def add(gathered: Gathered, source: Any) -> None:
    """A dataset or blocks of datasets, z up as in PyVista."""
    gathered.name = kind_of(source)
    for name, dataset in _datasets(source, gathered.name):
        surface = _surface(gathered, dataset, name)
        if surface is not None:
            gathered.add(surface)
    camera = _upright(gathered)
    gathered.cameras += [camera] if camera is not None else []


def add_plotter(gathered: Gathered, plotter: Any) -> None:
    """Every visible surface of a plotter with its colour and transform, and the plotter's camera."""
    gathered.name = "plotter"
    for name, actor in plotter.actors.items():
        dataset = getattr(getattr(actor, "mapper", None), "dataset", None)
        if dataset is None or not getattr(actor, "visibility", True):
            continue  # a text, a scale bar
        for part, block in _datasets(dataset, str(name)):
            surface = _surface(gathered, block, part, bool(getattr(actor.mapper, "scalar_visibility", True)), actor)
            if surface is not None:
                gathered.add(surface, _matrix(actor))
    view = plotter.camera
    flat = getattr(view, "parallel_projection", False)  # whose scale is half of the height
    projection = Orthographic(2 * float(view.parallel_scale)) if flat else None
    origin, target, up = (_vector(vector) for vector in (view.position, view.focal_point, view.up))
    fov = float(view.view_angle)
    gathered.cameras.append(Camera(origin, target, up, fov=fov, name="plotter", projection=projection))


def _vector(values: Any) -> tuple[float, float, float]:
    x, y, z = map(float, values)
    return x, y, z


def _datasets(source: Any, name: str) -> list[tuple[str, Any]]:
    if not is_blocks(source):
        return [(name, source)]
    parts = [(str(key), source[index]) for index, key in enumerate(source.keys())]  # not a mapping
    return [block for key, part in parts if part is not None for block in _datasets(part, key)]


def _matrix(actor: Any) -> NDArray[np.float64]:
    get_matrix = getattr(actor, "GetMatrix", None)
    if get_matrix is not None:  # position, rotation and scale, besides the user's own matrix
        matrix = get_matrix()
        return np.array([[matrix.GetElement(row, column) for column in range(4)] for row in range(4)])
    user_matrix = getattr(actor, "user_matrix", None)
    return np.eye(4) if user_matrix is None else np.asarray(user_matrix, np.float64)


def _surface(
    gathered: Gathered, dataset: Any, name: str, scalars: bool = True, actor: Any = None
) -> ForeignSurface | None:
    """The surface of a dataset; None, with a note, if it has none."""
    if not _has_faces(dataset):
        with warnings.catch_warnings():  # about future defaults with the same surfaces
            warnings.simplefilter("ignore")
            dataset = dataset.extract_surface()
    if not getattr(dataset, "is_all_triangles", True):
        dataset = dataset.triangulate()
    faces = np.asarray(dataset.regular_faces) if dataset.n_cells else np.zeros((0, 3), np.int64)
    if not len(faces) or faces.ndim != 2 or faces.shape[1] != 3:
        gathered.warnings.append(f"{name}: has only points or lines, left out")
        return None
    surface = ForeignSurface(name, np.asarray(dataset.points), faces)
    normals = dataset.point_data.get("Normals")
    if normals is not None and np.shape(normals) == (len(surface.vertices), 3):
        surface.normals = np.asarray(normals)
    uvs = getattr(dataset, "active_texture_coordinates", None)
    if uvs is not None and np.shape(uvs) == (len(surface.vertices), 2):
        surface.uvs = np.column_stack([np.asarray(uvs)[:, 0], 1 - np.asarray(uvs)[:, 1]]).astype(np.float32)
    if scalars:
        _color(surface, dataset, getattr(getattr(actor, "mapper", None), "scalar_range", None))
    if actor is not None:
        surface.material = _material(gathered, actor, surface)
    return surface


def _color(surface: ForeignSurface, dataset: Any, limits: Any) -> None:
    """The active scalars: colours, or numbers through a colour map."""
    name = dataset.active_scalars_name
    if name is None:
        return
    of_points = name in dataset.point_data
    values = np.asarray((dataset.point_data if of_points else dataset.cell_data)[name])
    if values.ndim == 2 and values.shape[1] in (3, 4) and (values.dtype == np.uint8 or name.upper() in ("RGB", "RGBA")):
        colors = linear(values)
    elif values.ndim == 1 and values.dtype.kind in "fiub":
        numbers = values.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        if limits is not None:
            low, high = float(limits[0]), float(limits[1])
        fraction = np.nan_to_num(np.clip((numbers - low) / ((high - low) or 1.0), 0, 1))
        samples = np.linspace(0, 1, len(VIRIDIS))
        colors = linear(np.stack([np.interp(fraction, samples, VIRIDIS[:, k]) for k in range(3)], axis=1) / 255)
    else:
        return
    if of_points:
        surface.colors = colors
    else:
        surface.face_colors = colors


def _material(gathered: Gathered, actor: Any, surface: ForeignSurface) -> Material:
    prop = actor.prop
    shown = surface.colors is not None or surface.face_colors is not None
    image = getattr(actor, "texture", None)
    texture = None
    if image is not None and surface.uvs is not None and hasattr(image, "to_array"):
        texture = gathered.texture(np.ascontiguousarray(np.asarray(image.to_array())))
    white = shown or texture is not None
    red, green, blue = (1.0, 1.0, 1.0) if white else linear(np.array([prop.color.float_rgb]))[0, :3].tolist()
    opacity = float(prop.opacity)
    pbr = "PBR" in str(getattr(prop, "interpolation", "")).upper()
    more: dict[str, Any] = {"kind": "principled", "metallic": float(prop.metallic), "roughness": float(prop.roughness)}
    return Material(
        surface.name,
        (red, green, blue, opacity),
        texture=texture,
        alpha_mode="blend" if opacity < 1 else "opaque",
        **(more if pbr else {}),
    )


def _upright(gathered: Gathered) -> Camera | None:
    """A camera that frames everything from the direction +X, +Y and +Z, z up."""
    points = [mesh.positions.astype(np.float64) for mesh in gathered.meshes]
    indices = np.array([instance.mesh for instance in gathered.instances], np.intp)
    matrices = np.array([instance.transform for instance in gathered.instances], np.float64).reshape(-1, 4, 4)
    box = bounds_of(points, indices, matrices)
    if box is None or not np.isfinite(box).all():
        return None
    try:
        view = Camera.framing(box[:, [1, 2, 0]], direction=(1.0, 1.0, 1.0))  # z, where y is upwards
    except ViewerError:
        return None

    def back(vector: tuple[float, float, float]) -> tuple[float, float, float]:
        y, z, x = vector
        return x, y, z

    return Camera(back(view.origin), back(view.target), back(view.up), fov=view.fov, name="isometric")
