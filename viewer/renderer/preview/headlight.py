"""A scene's first picture: its triangles rasterised under a headlight, before anything is built or compiled for it.

Base colours, vertex colours, and base colour textures as sampled at the vertices in a coarse copy. Lights and emission
have no part in it: the picture is as it is to be displayed, whatever the exposure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from viewer.base.errors import ViewerError
from viewer.base.ordered import distinct
from viewer.cameras.backdrop import Backdrop
from viewer.cameras.lens import lens_uniforms
from viewer.denoise.upsampling import SHOWN
from viewer.scene.camera import Camera
from viewer.scene.edits.materials import culls
from viewer.scene.geometry.quadrics import Quadrics
from viewer.scene.material import Material
from viewer.scene.mesh import Mesh
from viewer.scene.quadric import Quadric
from viewer.scene.scene import Instance, Scene
from viewer.scene.texture import Texture
from viewer.stream.gl.device import Device
from viewer.stream.gl.draw import Shader
from viewer.stream.gl.stream import Stream
from viewer.stream.raster.instanced import ONE_SIDED, InstancedMeshes, MeshGroups, PinholeView, RasterMesh
from viewer.stream.raster.visible import NEAR, DepthTarget, raster_source

BACKGROUND = 0.03  # linear, displayed
COARSE = 32  # texels across the copy of a texture that vertices look into
SEGMENTS = 32  # of what turns around an axis
CLEAR = 0.5  # opacity below which a surface is left out
EXTRA = 3  # texels of an instance: rows by which normals go to the world


@dataclass(frozen=True)
class HeadlightScene:
    """The geometry drawn of a scene, made without OpenGL. bounds : (2, 3) of the scene, its ground left out. background
    : behind it, linear, as displayed."""

    groups: MeshGroups
    of: NDArray[np.int64]
    transforms: NDArray[np.float64]
    bounds: NDArray[np.float64]
    background: tuple[float, float, float] = (BACKGROUND, BACKGROUND, BACKGROUND)


def headlight_scene(scene: Scene, backdrop: Backdrop | None = None) -> HeadlightScene:
    """A scene's triangles and instances, and the colours of its vertices, before the mean colour of a backdrop that has
    one."""
    found: dict[tuple[int, int | None], int] = {}
    of = [found.setdefault((each.mesh, each.material), len(found)) for each in scene.instances]
    meshes = [_mesh(scene, scene.meshes[number], material) for number, material in found]
    transforms = np.array([each.transform for each in scene.instances], np.float64).reshape(-1, 4, 4)
    made = HeadlightScene(
        MeshGroups(meshes, ordered=False), np.array(of, np.int64), transforms, scene.bounds(ground=False)
    )
    if backdrop is None or backdrop.tones is None:
        return made
    red, green, blue = np.mean(backdrop.tones, axis=0).tolist()
    return replace(made, background=(red, green, blue))


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
    if len(used) > 1:  # a vertex has one colour
        mesh = _unshared(mesh)
    tint = np.ones((len(mesh.positions), 3), np.float32) if mesh.colors is None else mesh.colors[:, :3].copy()
    kinds, shown = np.zeros(len(mesh.triangles), np.uint8), np.ones(len(mesh.triangles), np.bool_)
    for number in used.tolist():
        own = scene.materials[number] if 0 <= number < len(scene.materials) else Material()
        mine = mesh.materials == number
        kinds[mine] = ONE_SIDED * culls(own)
        shown[mine] = own.alpha_mode != "blend" or own.base_color[3] >= CLEAR
        vertices = slice(None) if len(used) == 1 else distinct(mesh.triangles[mine])
        base = np.minimum(np.array(own.base_color[:3]) + own.emission, 1.0)
        tint[vertices] *= base
        if own.texture is not None and mesh.uvs is not None and own.texture < len(scene.textures):
            tint[vertices] *= _texels(scene.textures[own.texture], mesh.uvs[vertices])
    normals = np.zeros_like(mesh.positions) if mesh.normals is None else mesh.normals
    attributes = {"normal": normals, "tint": np.asarray(tint, np.float32)}
    return RasterMesh(mesh.positions, mesh.triangles[shown], kinds[shown], attributes=attributes)


def _unshared(mesh: Mesh) -> Mesh:
    """A mesh with vertices of their own for every triangle."""
    of = mesh.triangles.ravel()
    positions, normals, uvs, colors = (
        None if each is None else each[of] for each in (mesh.positions, mesh.normals, mesh.uvs, mesh.colors)
    )
    assert positions is not None
    return Mesh(positions, np.arange(len(of), dtype=np.int32).reshape(-1, 3), mesh.materials, normals, uvs, colors)


def _texels(texture: Texture, uvs: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, 3) linear sRGB of a coarse copy of a texture at (N, 2)."""
    texels = texture.image.texels
    rows, columns = (np.linspace(0, size - 1, min(size, COARSE)).round().astype(int) for size in texels.shape[:2])
    coarse = texels[rows[:, None], columns, :3]
    linear = coarse.astype(np.float32)
    if coarse.dtype != np.float16:
        linear = (linear / float(2 ** (8 * coarse.dtype.itemsize) - 1)) ** 2.2
    with np.errstate(invalid="ignore"):
        at = np.nan_to_num(uvs @ texture.transform[:, :2].T + texture.transform[:, 2])
    column, row = ((at % 1.0) * linear.shape[1::-1]).astype(int).T
    return linear[np.minimum(row, len(linear) - 1), np.minimum(column, linear.shape[1] - 1)]


class Headlight:
    """Draws first pictures; the context must be current in every call. Its program serves all scenes.

    Raises ShaderError where it does not compile.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        sources = raster_source("headlight_fragment"), raster_source("headlight_vertex")
        self._shader = Shader(device, *sources, listed=True)
        self._target = DepthTarget(device)
        self._meshes: InstancedMeshes | None = None
        self._background = HeadlightScene.background

    def warm(self) -> None:
        """Draw a triangle: software drivers finish compilation then."""
        mesh = Mesh(np.eye(3, dtype=np.float32), np.arange(3, dtype=np.int32)[None])
        self.load(headlight_scene(Scene([mesh], [Instance(0)])))
        picture = Stream(self.device, SHOWN, (8, 8))
        self.draw(Camera((1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), picture, 0.0)
        self.release()
        picture.release()

    def load(self, scene: HeadlightScene) -> None:
        """Bring a scene to the device, in place of the one before."""
        self.release()
        self._background = scene.background
        self._meshes = InstancedMeshes(self.device, scene.groups, EXTRA)
        extra = np.zeros((len(scene.of), EXTRA, 4), np.float32)
        linear = scene.transforms[:, :3, :3]
        size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
        scaled = linear / np.where(size > 0, size, 1.0)
        # Cofactors are the inverse transpose but for a factor; of a flat map they are its normal.
        extra[:, :, :3] = np.stack([np.cross(scaled[:, (k + 1) % 3], scaled[:, (k + 2) % 3]) for k in range(3)], axis=1)
        self._meshes.place(scene.of, scene.transforms, extra)

    def draw(self, camera: Camera, target: Stream, stops: float) -> None:
        """The scene that was loaded, to a stream of `SHOWN`, to be displayed at this exposure."""
        assert self._meshes is not None
        lens = lens_uniforms(camera, target.size, "point")
        names = "camera_origin", "camera_right", "camera_up", "camera_forward"
        view = PinholeView(*(np.asarray(lens[name], np.float64) for name in names))
        gain = 2.0**-stops
        self._meshes.select(view)
        self._target.begin(target.textures[0], (*(gain * each for each in self._background), 0.0))
        columns = np.stack([view.right, -view.up, view.forward], axis=1)
        self._shader.set("view_columns", tuple(columns.T.ravel().tolist()))
        self._shader.set("least_depth", NEAR * self._meshes.extent)
        self._shader.set("gain", gain)
        self._meshes.render(self._shader, (0, ONE_SIDED))
        self._target.end()

    def release(self) -> None:
        """Free the scene's buffers; the program stays."""
        self._target.release()
        if self._meshes is not None:
            self._meshes.release()
            self._meshes = None
