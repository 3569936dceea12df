"""A scene's first picture: its triangles rasterised under a headlight, before anything is built or compiled for it.

Base colours with their textures, in copies of a size that is quickly there, vertex colours, alpha, emission and sheen;
glass is seen through. White under the headlight has about the radiance that it has in the scene's light: the picture is
exposed as those to come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.base.ordered import distinct
from raystream.cameras.lens import lens_uniforms
from raystream.denoise.upsampling import SHOWN
from raystream.film.tonemap import srgb8
from raystream.scene.camera import Camera
from raystream.scene.edits.materials import culls
from raystream.scene.geometry.quadrics import Quadrics
from raystream.scene.material import Material
from raystream.scene.mesh import Mesh
from raystream.scene.quadric import Quadric
from raystream.scene.scene import Instance, Scene
from raystream.scene.texture import Texture, linear_texels
from raystream.stream import raster
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader, square
from raystream.stream.gl.stream import Stream, float_texture
from raystream.stream.raster import MeshGroups, RasterMesh

DIRECTIONS = 64, 128  # rows and columns of a background's picture of all directions
SEGMENTS = 32  # of what turns around an axis
EXTRA = 3  # texels of an instance: rows by which normals go to the world
MAX_TEXELS, MAX_SIDE, MAX_LAYERS = 1 << 22, 512, 256  # of the copies of textures
MEAN_SIDE = 16  # texels of a texture along each side, for its mean
SHEEN = 0.35  # of a sheen's colour, about what it reflects towards the eye
MATERIAL, MATERIALS = 4, 256  # texels of a material, and materials in a row; also shaders/raster/headlight_vertex.glsl
BLENDED = raster.ALPHA_TESTED  # the kind of triangles that are seen through
SOURCE1_COLOR = 0x88F9
OVER = moderngl.ONE, SOURCE1_COLOR, moderngl.ONE, moderngl.ONE  # what is there


@dataclass(frozen=True)
class HeadlightScene:
    """The geometry drawn of a scene, made without OpenGL. bounds : (2, 3) of the scene, its ground left out. materials
    : (M, `MATERIAL`, 4) as the vertex program reads them, the last one for no map. images : (N, S, S, 4) uint8
    of base colours, sRGB. background : (*`DIRECTIONS`, 3) behind it, linear, as of `ImageEnvironment`. white : radiance
    of a white surface that faces the eye."""

    groups: MeshGroups
    mesh_indices: NDArray[np.int64]
    transforms: NDArray[np.float64]
    bounds: NDArray[np.float64]
    materials: NDArray[np.float32]
    images: NDArray[np.uint8]
    background: NDArray[np.float32]
    white: float


def headlight_scene(scene: Scene, background: NDArray[np.float32] | None = None, white: float = 1.0) -> HeadlightScene:
    """A scene's triangles and instances, the colours of its vertices and its base colour textures, before a background;
    None: before black."""
    if background is None:
        background = np.zeros((*DIRECTIONS, 3), np.float32)
    index_of: dict[tuple[int, int | None], int] = {}
    mesh_indices = [index_of.setdefault((item.mesh, item.material), len(index_of)) for item in scene.instances]
    named = (item.texture for item in scene.materials if item.texture is not None)
    indices = [index for index in dict.fromkeys(named) if index < len(scene.textures)][:MAX_LAYERS]
    layers = {index: layer for layer, index in enumerate(indices)}
    meshes = [_mesh(scene, scene.meshes[index], material) for index, material in index_of]
    transforms = np.array([item.transform for item in scene.instances], np.float64).reshape(-1, 4, 4)
    return HeadlightScene(
        MeshGroups(meshes, ordered=False),
        np.array(mesh_indices, np.int64),
        transforms,
        scene.bounds(ground=False),
        np.array([_material(scene, item, layers) for item in (*scene.materials, Material())], np.float32),
        _images([scene.textures[index] for index in indices]),
        background,
        white,
    )


def _material(scene: Scene, material: Material, layers: Mapping[int, int]) -> list[tuple[float, ...]]:
    """A material as of `HeadlightScene`. layers : of the textures that there are copies of, by index."""
    cutoff = {"opaque": -1.0, "mask": material.alpha_cutoff, "blend": 0.0}[material.alpha_mode]
    red, green, blue = (SHEEN * channel for channel in material.sheen_color)
    layer = -1 if material.texture is None else layers.get(material.texture, -1)
    return [
        material.base_color,
        (*_emission(scene, material).tolist(), _transmission(material)),
        (red, green, blue, cutoff),
        (float(layer), 0.0, 0.0, 0.0),
    ]


def _transmission(material: Material) -> float:
    return 1.0 if material.kind == "dielectric" else material.transmission


def _mesh(scene: Scene, mesh: Mesh, material: int | None) -> RasterMesh:
    """A mesh in its own materials, or all of one."""
    if isinstance(mesh, Quadric):
        try:
            mesh = mesh.tessellated(SEGMENTS)
        except ViewerError:  # it does not close, and is left out
            mesh = Mesh(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32))
    if isinstance(mesh, Quadrics):
        mesh = mesh.tessellated()
    if material is not None:
        mesh = mesh.with_materials(np.full(len(mesh.triangles), material, np.int32))
    used = distinct(mesh.materials)
    if len(used) > 1:  # a vertex has one material
        mesh = _unshared(mesh)
    count, kinds = len(mesh.positions), np.zeros(len(mesh.triangles), np.uint8)
    tint = np.ones((count, 4), np.float32) if mesh.colors is None else mesh.colors
    texel = np.zeros((count, 3), np.float32)
    for index in used.tolist():
        in_scene = 0 <= index < len(scene.materials)
        surface = scene.materials[index] if in_scene else Material()
        mine = mesh.materials == index
        vertices = slice(None) if len(used) == 1 else distinct(mesh.triangles[mine])
        blended = surface.alpha_mode == "blend" or _transmission(surface) > 0.0
        kinds[mine] = raster.ONE_SIDED * culls(surface) + BLENDED * blended
        row = index if in_scene else len(scene.materials)
        slot = surface.texture
        texture = scene.textures[slot] if slot is not None and slot < len(scene.textures) else None
        uvs = mesh.uvs_1 if texture is not None and texture.uv_set and mesh.uvs_1 is not None else mesh.uvs
        if texture is None or uvs is None:
            texel[vertices, 2] = -1.0 - row
            continue
        with np.errstate(invalid="ignore"):
            texcoords = np.nan_to_num(uvs[vertices] @ texture.transform[:, :2].T + texture.transform[:, 2])
        texel[vertices, :2], texel[vertices, 2] = texcoords, row
    normals = np.zeros_like(mesh.positions) if mesh.normals is None else mesh.normals
    attributes = {"normal": normals, "tint": tint, "texel": texel}
    return RasterMesh(mesh.positions, mesh.triangles, kinds, attributes=attributes)


def _emission(scene: Scene, material: Material) -> NDArray[np.float64]:
    """(3,) a surface's emission, of a texture the mean, linear."""
    emission, index = np.minimum(material.emission, 1.0), material.emission_texture
    if index is None or index >= len(scene.textures) or not emission.any():
        return emission
    texels = linear_texels(_coarse(scene.textures[index].image.texels, MEAN_SIDE), True)
    return np.asarray(emission * texels[..., :3].mean(axis=(0, 1)))


def _unshared(mesh: Mesh) -> Mesh:
    """A mesh with vertices of their own for every triangle."""
    vertices = mesh.triangles.ravel()
    positions, normals, uvs, colors = (
        None if attribute is None else attribute[vertices]
        for attribute in (mesh.positions, mesh.normals, mesh.uvs, mesh.colors)
    )
    assert positions is not None
    return Mesh(
        positions, np.arange(len(vertices), dtype=np.int32).reshape(-1, 3), mesh.materials, normals, uvs, colors
    )


def _images(textures: Sequence[Texture]) -> NDArray[np.uint8]:
    """(N, S, S, 4) copies of textures, all of a size, sRGB-encoded."""
    side = MAX_SIDE
    while len(textures) * side * side > MAX_TEXELS:
        side //= 2
    side = min(side, max((max(item.image.size) for item in textures), default=1))
    images = np.zeros((len(textures), side, side, 4), np.uint8)
    for image, texture in zip(images, textures, strict=True):
        texels = _coarse(texture.image.texels, side)
        if np.issubdtype(texels.dtype, np.integer):
            image[:] = texels if texels.dtype == np.uint8 else texels >> 8
        else:
            image[..., :3], image[..., 3:] = srgb8(texels[..., :3]), np.rint(255 * np.clip(texels[..., 3:], 0, 1))
    return images


def _coarse(texels: NDArray, side: int) -> NDArray:
    """(side, side, 4) of an image's texels."""
    rows, columns = (((np.arange(side) + 0.5) * size / side).astype(int) for size in texels.shape[:2])
    return texels[rows[:, None], columns]


class Headlight:
    """Draws first pictures; the context must be current in every call. Its program serves all scenes.

    Raises ShaderError where it does not compile.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        sources = raster.raster_source("headlight_fragment"), raster.raster_source("headlight_vertex")
        self._shader = Shader(device, *sources, listed=True)
        self._behind = square(device, Shader(device, raster.raster_source("headlight_background")))
        self._target = raster.DepthTarget(device)
        self._meshes: raster.InstancedMeshes | None = None
        self._textures: dict[str, Any] = {}  # by their samplers

    def warm(self) -> None:
        """Draw a triangle: software drivers finish compilation then."""
        mesh = Mesh(np.eye(3, dtype=np.float32), np.arange(3, dtype=np.int32)[None])
        glass = Instance(0, material=0)
        self.load(headlight_scene(Scene([mesh], [Instance(0), glass], [Material(kind="dielectric")])))
        picture = Stream(self.device, SHOWN, (8, 8))
        self.draw(Camera((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), picture)
        self.release()
        picture.release()

    def load(self, scene: HeadlightScene) -> None:
        """Bring a scene to the device, in place of the one before."""
        self.release()
        self._textures = self._uploaded(scene)
        self._shader.set("white", scene.white)
        self._meshes = raster.InstancedMeshes(self.device, scene.groups, EXTRA)
        extra = np.zeros((len(scene.mesh_indices), EXTRA, 4), np.float32)
        linear = scene.transforms[:, :3, :3]
        size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
        scaled = linear / np.where(size > 0, size, 1.0)
        # Cofactors are the inverse transpose but for a factor; of a flat map they are its normal.
        extra[:, :, :3] = np.stack([np.cross(scaled[:, (k + 1) % 3], scaled[:, (k + 2) % 3]) for k in range(3)], axis=1)
        self._meshes.set_instances(scene.mesh_indices, scene.transforms, extra)

    def _uploaded(self, scene: HeadlightScene) -> dict[str, Any]:
        """The scene's textures, by the names of their samplers."""
        context = self.device.context
        images = scene.images if len(scene.images) else np.full((1, 1, 1, 4), 255, np.uint8)
        count, side = images.shape[:2]
        colors = context.texture_array((side, side, count), 4, images)
        colors.build_mipmaps()
        rows = -(-len(scene.materials) // MATERIALS)
        texels = np.zeros((rows * MATERIALS, MATERIAL, 4), np.float32)
        texels[: len(scene.materials)] = scene.materials
        background = context.texture(DIRECTIONS[::-1], 3, scene.background.tobytes(), dtype="f4")
        background.repeat_y = False
        materials = float_texture(self.device, (MATERIAL * MATERIALS, rows), 4, texels.tobytes())
        return {"in_base_colors": colors, "in_materials": materials, "in_background": background}

    def draw(self, camera: Camera, target: Stream) -> None:
        """The scene that was loaded, to a stream of `SHOWN`."""
        assert self._meshes is not None
        context = self.device.context
        lens = lens_uniforms(camera, target.size, "point")
        names = "camera_origin", "camera_right", "camera_up", "camera_forward"
        view = raster.PinholeView(*(np.asarray(lens[name], np.float64) for name in names))
        columns = tuple(np.stack([view.right, -view.up, view.forward], axis=1).T.ravel().tolist())
        self._meshes.select(view)
        self._target.begin(target.textures[0], (0.0, 0.0, 0.0, 0.0))
        behind, shader = self._behind.shader, self._shader
        for name, texture in self._textures.items():
            behind.bind(name, texture)
        behind.set("view_columns", columns)
        behind.set("size", target.size)
        context.disable(moderngl.DEPTH_TEST)
        self._behind.render()
        context.enable(moderngl.DEPTH_TEST)
        for name, texture in self._textures.items():
            shader.bind(name, texture)
        shader.set("view_columns", columns)
        shader.set("least_depth", raster.NEAR_FRACTION * self._meshes.extent)
        self._meshes.render(shader, (0, raster.ONE_SIDED))
        self._target.disable_depth_writes()  # no order: triangles that are seen through do not hide each other
        context.enable(moderngl.BLEND)
        context.blend_func = OVER  # type: ignore[assignment]  # of colour, and of nearness
        context.blend_equation = moderngl.FUNC_ADD, moderngl.MAX
        self._meshes.render(shader, (BLENDED, BLENDED | raster.ONE_SIDED))
        context.disable(moderngl.BLEND)
        context.blend_equation = moderngl.FUNC_ADD, moderngl.FUNC_ADD
        # The other function forbids passes with several outputs, to Mesa.
        context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        self._target.end()

    def release(self) -> None:
        """Free the scene's buffers; the program stays."""
        self._target.release()
        if self._meshes is not None:
            self._meshes.release()
            self._meshes = None
        for texture in self._textures.values():
            texture.release()
        self._textures = {}
