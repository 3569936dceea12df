"""A scene of pyrender as a value for the renderer: its materials and textures, its camera, its meshes.

Unchanged parts are the same objects as in the last one, so that the renderer redoes the changed ones only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.pyrender.constants import GLTF
from raystream.pyrender.light import DirectionalLight, SpotLight
from raystream.pyrender.material import (
    Sampler,
    SpecularGlossinessMaterial,
    Texture,
)
from raystream.pyrender.mesh import Primitive, edges_of
from raystream.pyrender.scene import Node, Scene
from raystream.scene import material as surface
from raystream.scene import texture as image
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.mesh import Instance, Mesh
from raystream.scene.projections import Intrinsics, Orthographic, Projection
from raystream.scene.scene import Scene as Converted

# -- materials and textures as the renderer takes them -----------------------------------------------------------------

WRAPS = {GLTF.REPEAT: "repeat", GLTF.MIRRORED_REPEAT: "mirrored", GLTF.CLAMP_TO_EDGE: "clamp"}
FILTERS = {number: name.lower() for name, number in vars(GLTF).items() if name.startswith(("NEAREST", "LINEAR"))}
DIELECTRIC = 0.04  # reflectance at normal incidence of glTF's dielectrics


class Textures:
    """The textures of a scene in the making. Images that an earlier one had stay the same objects."""

    def __init__(self) -> None:
        self.textures: list[image.Texture] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._cache: dict[tuple[Any, ...], tuple[Any, image.Texture]] = {}

    def begin(self) -> None:
        """Begin another scene; entries that the last one did not use are dropped."""
        self._cache = {key: self._cache[key] for key in self._numbers}
        self.textures, self._numbers = [], {}

    def number(self, texture: Texture | None, content: str, change: Any = None) -> int | None:
        """The number of a texture whose texels are ``content``, of `image.CONTENTS`; ``change`` (name, function) makes
        other texels of them. None without an image."""
        if texture is None or texture.source is None:
            return None
        sampler: Sampler = texture.sampler
        sampling = sampler.wrapS, sampler.wrapT, sampler.magFilter, sampler.minFilter
        key = (id(texture.source), content, change and change[0], *sampling)
        if key not in self._numbers:
            if key not in self._cache:
                # The source is kept, so that its number is not another's.
                self._cache[key] = texture.source, _texture(texture, content, change)
            self._numbers[key] = len(self.textures)
            self.textures.append(self._cache[key][1])
        return self._numbers[key]


def _texture(texture: Texture, content: str, change: Any) -> image.Texture:
    sampler: Sampler = texture.sampler
    for filtered in (sampler.magFilter, sampler.minFilter):
        if filtered is not None and filtered not in FILTERS:
            raise ViewerError(f"texture {texture.name or ''}", f"filter {filtered} is none of GLTF")
    for wrap in (sampler.wrapS, sampler.wrapT):
        if wrap not in WRAPS:
            raise ViewerError(f"texture {texture.name or ''}", f"wrap mode {wrap} is none of GLTF")
    assert texture.source is not None
    texels = np.full((*texture.source.shape[:2], 4), 255, np.uint8)  # RGBA, channels that it lacks full
    for index, channel in enumerate(texture.source_channels):
        texels[..., "RGBA".index(channel)] = texture.source[..., index]
    if texture.source_channels == "R":
        texels[..., 1] = texels[..., 2] = texels[..., 0]
    return image.Texture(
        image.Image(texels if change is None else change[1](texels), texture.name or "image"),
        (WRAPS[sampler.wrapS], WRAPS[sampler.wrapT]),
        sampler.magFilter == GLTF.NEAREST,
        name=texture.name or "texture",
        minification=None if sampler.minFilter is None else FILTERS[sampler.minFilter],
        content=content,
    )


def flat_material(primitive: Primitive, culled: bool, textures: Textures) -> surface.Material:
    """A light of the material's colour, as the numbers are: factors, vertices and texels are values of pixels there."""
    color, texture = primitive.material.base_color
    return surface.Material(
        primitive.material.name or "flat",
        tuple(map(float, np.clip(color, 0, 1))),  # type: ignore[arg-type]
        backface_culling=culled,
        kind="principled",
        texture=textures.number(texture, "data"),
        unlit=True,
        **_opacity(primitive),
    )


def lit_material(primitive: Primitive, culled: bool, textures: Textures) -> surface.Material:
    """glTF's material; of specular-glossiness the dielectric of that reflectance (KHR_materials_specular)."""
    material: Any = primitive.material
    color, texture = material.base_color
    fields: dict[str, Any]
    if isinstance(material, SpecularGlossinessMaterial):
        gloss = material.glossinessFactor
        specular_texture, rough = material.specularGlossinessTexture, 1.0 - gloss
        fields = {
            "roughness": rough if specular_texture is None else 1.0,
            "specular_color": tuple(map(float, material.specularFactor / DIELECTRIC)),
            "specular_color_texture": textures.number(specular_texture, "color"),
            "metallic_roughness_texture": textures.number(
                specular_texture, "data", (f"roughness {gloss}", _roughness(gloss))
            ),
        }
    else:
        fields = {
            "metallic": material.metallicFactor,
            "roughness": material.roughnessFactor,
            "metallic_roughness_texture": textures.number(material.metallicRoughnessTexture, "data"),
        }
    return surface.Material(
        material.name or "material",
        tuple(map(float, color)),  # type: ignore[arg-type]
        emission=tuple(map(float, material.emissiveFactor)),  # type: ignore[arg-type]
        double_sided=material.doubleSided,
        backface_culling=culled,
        kind="principled",
        texture=textures.number(texture, "color"),
        emission_texture=textures.number(material.emissiveTexture, "color"),
        normal_texture=textures.number(material.normalTexture, "normal"),
        **fields,
        **_opacity(primitive),
    )


def _roughness(gloss: float) -> Any:
    """Texels with a roughness in green, of a glossiness in opacity."""

    def change(texels: NDArray[np.uint8]) -> NDArray[np.uint8]:
        packed = np.full_like(texels, 255)
        packed[..., 1] = np.rint(255.0 - gloss * texels[..., 3])
        return packed

    return change


def _opacity(primitive: Primitive) -> dict[str, Any]:
    """How the material's opacity counts: where MASK is the default of a material without holes, not at all."""
    material = primitive.material
    texture = material.base_color[1]
    if material.alphaMode == "BLEND" and primitive.is_transparent:
        return {"alpha_mode": "blend"}
    if material.alphaMode == "MASK" and texture is not None and texture.is_transparent(material.alphaCutoff):
        return {"alpha_mode": "mask", "alpha_cutoff": material.alphaCutoff}
    return {}


# -- a camera at its pose, for pictures of one size: rays through pixel centres, and the camera of a path tracer -------

CENTRED = 1e-6  # of the picture's sides, to which a principal point is in the middle and pixels are square


@dataclass(frozen=True)
class Eye:
    """pose : (4, 4), eye space to the world; the eye looks along its own -Z. projection : (4, 4), OpenGL's. near, far :
    depths of the clipping planes, scene units; a parallel projection may begin behind the eye. size : width and
    height."""

    pose: NDArray[np.float64]
    projection: NDArray[np.float64]
    near: float
    far: float
    size: tuple[int, int]

    @classmethod
    def of(cls, scene: Scene, size: tuple[int, int]) -> Eye:
        """The scene's main camera. Raises ViewerError without one."""
        node = scene.main_camera_node
        if node is None:
            raise ViewerError("scene", "has no camera", "scene.add(PerspectiveCamera(yfov=1.0), pose=...)")
        camera = node.camera
        assert camera is not None
        projection = np.asarray(camera.get_projection_matrix(*size), np.float64)
        near, far = _clip_planes(projection)
        if not near < far:  # as of a perspective that begins at the eye
            near, far = camera.znear, math.inf if camera.zfar is None else camera.zfar
        return cls(scene.get_pose(node), projection, near, far, size)

    @property
    def key(self) -> tuple[bytes, bytes, tuple[int, int]]:
        """Equal for equal views."""
        return self.pose.tobytes(), self.projection.tobytes(), self.size

    @property
    def parallel(self) -> bool:
        """Whether it is a parallel projection."""
        return bool(self.projection[3, 3])

    @property
    def pixel(self) -> tuple[float, float]:
        """Width and height of a pixel at depth 1, or at all depths of a parallel projection; scene units."""
        return 2.0 / (self.size[0] * self.projection[0, 0]), 2.0 / (self.size[1] * self.projection[1, 1])

    def rays(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Origins on the near plane and directions (H * W, 3), world space, through the pixel centres, row 0 at the
        top. A direction goes to the depth of 1: a distance along it is a depth beyond the near plane."""
        (width, height), scale = self.size, self.projection
        x = (2 * (np.arange(width) + 0.5) / width - 1 + scale[0, 2] - scale[0, 3]) / scale[0, 0]
        y = (1 - 2 * (np.arange(height) + 0.5) / height + scale[1, 2] - scale[1, 3]) / scale[1, 1]
        right, up, back = self.pose[:3, 0], self.pose[:3, 1], self.pose[:3, 2]
        offsets = (x[None, :, None] * right + y[:, None, None] * up).reshape(-1, 3)
        if self.parallel:
            return self.pose[:3, 3] - self.near * back + offsets, np.broadcast_to(-back, offsets.shape)
        directions = offsets - back
        return self.pose[:3, 3] + self.near * directions, directions

    def camera(self) -> Camera:
        """The renderer's camera with this view: a pinhole by its field of view where pixels are square and the
        principal point is in the middle."""
        (width, height), (pixel_width, pixel_height), scale = self.size, self.pixel, self.projection
        origin, back, up = self.pose[:3, 3], self.pose[:3, 2], self.pose[:3, 1]
        projection: Projection | None = None
        if self.parallel:
            if abs(pixel_width / pixel_height - 1) > CENTRED:
                raise ViewerError("camera", "pixels of a parallel projection are not square", "give the other aspect")
            offset = -scale[0, 3] / scale[0, 0], -scale[1, 3] / scale[1, 1], -min(self.near, 0.0)
            origin = origin + self.pose[:3, :3] @ offset
            projection = Orthographic(2.0 / scale[1, 1] * float(np.linalg.norm(up)))
        elif np.abs(scale[:2, 2]).max() > CENTRED or abs(pixel_width / pixel_height - 1) > CENTRED:
            # The centre of the upper left pixel is 0 there, and half a pixel here.
            middle = (1 - scale[0, 2]) / 2 * width - 0.5, (1 + scale[1, 2]) / 2 * height - 0.5
            projection = Intrinsics(1 / pixel_width, 1 / pixel_height, *middle, size=self.size)
        fov = math.degrees(2 * math.atan(1 / scale[1, 1]))
        points = tuple(map(float, origin)), tuple(map(float, origin - back)), tuple(map(float, up))
        return Camera(*points, fov=fov, name="main camera", projection=projection)  # type: ignore[arg-type]


def _clip_planes(projection: NDArray[np.float64]) -> tuple[float, float]:
    """Depths at which a projection (4, 4) leaves OpenGL's clip space, from -1 to 1; not a number where it has none."""
    (a, b), (c, d) = projection[2:, 2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((b + d) / (a + c)), float((b - d) / (a - c))


# -- a scene of pyrender as a value for the renderer -------------------------------------------------------------------

ONE = np.eye(4)[None]  # the pose of a mesh without copies
ARRAYS = "positions", "normals", "tangents", "texcoord_0", "texcoord_1", "color_0", "indices"  # of a primitive
MIN_CONE = 1e-3  # least angle between the cones of a spot, radians


@dataclass
class _CachedMesh:
    """A mesh with its index, which is its material's, too, and its sources: arrays, told apart by identity, and
    values."""

    mesh: Mesh
    index: int
    arrays: tuple[Any, ...]
    values: tuple[Any, ...]


class Conversion:
    """Conversions of a scene, one after the other.

    style : ``lit``; ``flat``, the materials' colours alone; ``solid``, opaque surfaces for rays alone. culled : the
    back faces of wireframes are left out. nodes : of each instance of the last scene.
    """

    def __init__(self, style: str, culled: bool = True) -> None:
        self.style, self.culled = style, culled
        self.nodes: list[Node] = []
        self._meshes: dict[Any, _CachedMesh] = {}
        self._textures = Textures()

    def __call__(
        self, scene: Scene, eye: Eye, point_size: float, wired: Callable[[bool], bool] = lambda wireframe: False
    ) -> Converted:
        """The scene, with points as squares of ``point_size`` pixels before the eye, and lines one pixel wide. wired :
        whether a material is drawn as edges, by its own ``wireframe``. Raises ViewerError for features that the
        renderer lacks."""
        self._textures.begin()
        previous, self._meshes, self.nodes = self._meshes, {}, []
        instances, materials = [], []
        for node in scene.mesh_nodes:
            pose = scene.get_pose(node)
            mesh = node.mesh
            for primitive in mesh.primitives if mesh is not None and mesh.is_visible else ():
                if not len(primitive.positions):
                    continue
                wire = primitive.mode >= GLTF.TRIANGLES and wired(primitive.material.wireframe)
                thin = wire or primitive.mode < GLTF.TRIANGLES  # points and lines face the eye
                key = (primitive, node) if thin else primitive
                if key not in self._meshes:
                    culled = wire and self.culled and not primitive.material.doubleSided
                    view = (pose.tobytes(), eye.key, point_size, wire, culled) if thin else ()
                    arrays = (*(getattr(primitive, name) for name in ARRAYS), primitive.poses if thin else None)
                    values, index, cached = (primitive.mode, *view), len(self._meshes), previous.get(key)
                    same = cached is not None and cached.index == index and cached.values == values
                    if cached is not None and same and all(a is b for a, b in zip(cached.arrays, arrays, strict=True)):
                        self._meshes[key] = cached
                    else:
                        if primitive.mode == GLTF.POINTS:
                            geometry = _squares(primitive, pose, eye, point_size)
                        else:
                            geometry = _ribbons(primitive, pose, eye, culled) if thin else _triangles(primitive)
                        self._meshes[key] = _CachedMesh(self._mesh(primitive, index, geometry), index, arrays, values)
                    materials.append(self._material(primitive, thin))
                for copy in ONE if thin or primitive.poses is None else primitive.poses:
                    matrix = np.eye(4) if thin else pose @ copy
                    instances.append(Instance(self._meshes[key].index, matrix, name=node.name or ""))
                    self.nodes.append(node)
        return Converted(
            [entry.mesh for entry in self._meshes.values()],
            instances,
            materials or [surface.Material()],
            lights=[_light(scene, node) for node in scene.light_nodes] if self.style == "lit" else [],
            name=scene.name or "scene",
            textures=self._textures.textures,
        )

    def _mesh(self, primitive: Primitive, index: int, geometry: Geometry) -> Mesh:
        colors, sets = primitive.color_0, [primitive.texcoord_0, primitive.texcoord_1]
        normals, vertices = geometry.normals, geometry.vertices
        if self.style == "solid":
            colors, sets, normals = None, [None, None], None
        uvs = [
            None if texcoords is None else (texcoords * (1, -1) + (0, 1)).astype(np.float32)[vertices]
            for texcoords in sets
        ]
        tangents = primitive.tangents if self.style == "lit" else None
        return Mesh(
            geometry.positions,
            geometry.triangles,
            np.full(len(geometry.triangles), index, np.int32),
            normals,
            uvs[0],
            None if colors is None else colors[vertices],
            f"mesh {index}",
            uvs[1],
            None if tangents is None or len(vertices) != len(primitive.positions) else tangents,
        )

    def _material(self, primitive: Primitive, thin: bool) -> surface.Material:
        culled = not primitive.material.doubleSided and not thin
        if self.style == "solid":
            return surface.Material(backface_culling=culled)
        return (flat_material if self.style == "flat" else lit_material)(primitive, culled, self._textures)


class Geometry(NamedTuple):
    """Positions (V, 3) in the node's space or, of what faces the eye, in the world's, triangles (T, 3), normals (V, 3),
    and the primitive's vertex that each is (V,)."""

    positions: NDArray
    triangles: NDArray
    normals: NDArray | None
    vertices: NDArray


def _triangles(primitive: Primitive) -> Geometry:
    triangles = primitive.triangles()
    if primitive.normals is None and primitive.indices is not None:  # flat: each corner is a vertex of its own
        vertices = triangles.reshape(-1)
        return Geometry(primitive.positions[vertices], np.arange(len(vertices)).reshape(-1, 3), None, vertices)
    return Geometry(primitive.positions, triangles, primitive.normals, np.arange(len(primitive.positions)))


def _squares(primitive: Primitive, pose: NDArray, eye: Eye, point_size: float) -> Geometry:
    """Four corners and two triangles for each point: as the rasteriser draws points, upright before the eye, at the
    points' own depth."""
    points, normals = _world_vertices(primitive, pose, eye)
    eye_points = (points - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    depth = np.ones(len(points)) if eye.parallel else np.abs(eye_points[:, 2])
    half_width, half_height = (side * point_size / 2 for side in eye.pixel)
    corners = np.array(
        [(-half_width, -half_height), (half_width, -half_height), (half_width, half_height), (-half_width, half_height)]
    )
    offsets = corners @ eye.pose[:3, :2].T
    indices = np.arange(len(points)) % len(primitive.positions)
    positions = points[:, None] + depth[:, None, None] * offsets
    return Geometry(positions.reshape(-1, 3), _quads(len(points)), np.repeat(normals, 4, axis=0), np.repeat(indices, 4))


def _ribbons(primitive: Primitive, pose: NDArray, eye: Eye, culled: bool) -> Geometry:
    """As `_squares`, of lines and wireframes: one pixel wide before the eye, at the lines' own depth. culled : without
    the edges of triangles that are seen from behind alone."""
    points, normals = _world_vertices(primitive, pose, eye)
    eye_points = (points - eye.pose[:3, 3]) @ np.linalg.inv(eye.pose[:3, :3]).T
    first = len(primitive.positions) * np.arange(len(points) // len(primitive.positions))[:, None, None]
    if culled:
        triangles = (first + primitive.triangles()).reshape(-1, 3)
        corners = eye_points[triangles]
        face_normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        back = [0.0, 0.0, 1.0] if eye.parallel else -corners[:, 0]
        pairs = edges_of(triangles[(face_normals * back).sum(axis=1) > 0])
    else:
        pairs = (first + primitive.segments()).reshape(-1, 2)
    ends = eye_points[pairs]
    if not eye.parallel:  # from the near plane on
        depths = -ends[..., 2]
        pairs, ends, depths = (array[(depths > eye.near).any(axis=1)] for array in (pairs, ends, depths))
        depth_change = depths - depths[:, ::-1]
        fraction = np.clip((depths - eye.near) / np.where(depth_change == 0, 1.0, depth_change), 0, None) * (
            depths < eye.near
        )
        ends = ends + fraction[..., None] * (ends[:, ::-1] - ends)
    scale = np.ones_like(ends[..., 2:]) if eye.parallel else np.maximum(-ends[..., 2:], 1e-9)
    directions = np.diff(ends[..., :2] / scale / eye.pixel, axis=1)[:, 0]
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    directions = np.where(lengths > 0, directions / np.where(lengths > 0, lengths, 1.0), [1.0, 0.0])
    offsets = (
        0.5 * np.stack([-directions[:, 1], directions[:, 0], np.zeros(len(directions))], axis=1) * [*eye.pixel, 0.0]
    )
    quads = np.concatenate([ends - scale * offsets[:, None], (ends + scale * offsets[:, None])[:, ::-1]], axis=1)
    positions = quads.reshape(-1, 3) @ eye.pose[:3, :3].T + eye.pose[:3, 3]
    order = pairs[:, [0, 1, 1, 0]].reshape(-1)
    return Geometry(positions, _quads(len(pairs)), normals[order], order % len(primitive.positions))


def _world_vertices(primitive: Primitive, pose: NDArray, eye: Eye) -> tuple[NDArray, NDArray]:
    """World positions and normals (N * V, 3) of the vertices of all copies; without normals they face the eye."""
    poses = pose @ (ONE if primitive.poses is None else primitive.poses)
    world = np.einsum("nij,vj->nvi", poses[:, :3, :3], primitive.positions.astype(np.float64)) + poses[:, None, :3, 3]
    positions = world.reshape(-1, 3)
    if primitive.normals is None:
        back = eye.pose[:3, 2] if eye.parallel else eye.pose[:3, 3] - positions
        normals = np.broadcast_to(back, positions.shape)
    else:
        inverses = np.linalg.inv(poses[:, :3, :3])
        normals = np.einsum("nji,vj->nvi", inverses, primitive.normals.astype(np.float64)).reshape(-1, 3)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return positions, normals / np.where(lengths > 0, lengths, 1)


def _quads(count: int) -> NDArray:
    """(2 * count, 3) vertex numbers: two triangles for every four corners."""
    return (4 * np.arange(count)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def _light(scene: Scene, node: Node) -> Light:
    """A light at its node's pose."""
    pose, light = scene.get_pose(node), node.light
    assert light is not None
    red, green, blue = (float(channel) * light.intensity for channel in light.color)
    color = red, green, blue
    position, direction = tuple(map(float, pose[:3, 3])), tuple(map(float, -pose[:3, 2]))
    common: dict[str, Any] = {"name": light.name or node.name or "light", "position": position, "direction": direction}
    if isinstance(light, SpotLight):
        outer = min(max(light.outerConeAngle, MIN_CONE), math.pi / 2)
        return Light(
            "spot", intensity=color, inner=min(light.innerConeAngle, outer - MIN_CONE / 2), outer=outer, **common
        )
    return Light("directional" if isinstance(light, DirectionalLight) else "point", intensity=color, **common)
