"""Cycles, in Blender as a Python module, as one of the renderers of `peers`: on the CPU, box filter of one pixel.

Biased or incomparable features are off: clamping, denoising, adaptive sampling, filter glossy. The rest is Blender's
default, including light tree and Russian roulette.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.noise.peers import Job, Missing

NEAR, FAR = 1e-4, 1e3  # clipping planes of the camera, as shares of the scene's size


def load(job: Job) -> None:
    """Import Blender. Raises Missing."""
    try:
        import bpy  # noqa: F401
    except ImportError as error:
        raise Missing(f"Cycles (bpy): {error}") from None


class Cycles:
    """A scene of one mesh with a slot for each material; Cycles' derived data persist between pictures."""

    compiles = False

    def __init__(self, job: Job) -> None:
        import bpy

        bpy.ops.wm.read_factory_settings(use_empty=True)
        self.version = bpy.app.version_string
        scene = bpy.context.scene
        if job.view is None:
            with np.load(job.arrays) as arrays:
                _add_mesh(scene, arrays)
                _add_camera(scene, arrays)
        else:
            bpy.ops.import_scene.gltf(filepath=job.scene)
            _add_camera(scene, _in_blender(job.view))
            _add_environment(scene, job.view["environment"])
        _settings(scene, job)
        self._scene, self._size = scene, job.size

    def render(self, samples: int, seed: int) -> int:
        """See `Peer`: times `bpy.ops.render.render`, without reading the picture back."""
        import bpy

        self._scene.cycles.samples, self._scene.cycles.seed = samples, seed
        self._scene.update_tag()  # with persistent data, Blender 5.0 would keep the last picture's settings
        bpy.ops.render.render()
        return samples

    def picture(self) -> NDArray[np.float32]:
        """See `Peer`. Blender exposes a rendered picture's pixels by file only."""
        import bpy

        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "picture.exr")
            bpy.data.images["Render Result"].save_render(path, scene=self._scene)
            image = bpy.data.images.load(path)
            pixels = np.empty(4 * self._size[0] * self._size[1], np.float32)
            image.pixels.foreach_get(pixels)
            bpy.data.images.remove(image)
        return pixels.reshape(self._size[1], self._size[0], 4)[::-1, :, :3]  # row 0 is Blender's lowest


def _settings(scene: Any, job: Job) -> None:
    render, cycles = scene.render, scene.cycles
    render.engine, cycles.device = "CYCLES", "CPU"
    render.threads_mode, render.threads = "FIXED", job.threads
    render.resolution_x, render.resolution_y = job.size
    render.resolution_percentage = 100
    render.use_persistent_data = True
    render.use_compositing = render.use_sequencer = False
    form = render.image_settings
    form.file_format, form.color_mode, form.color_depth, form.exr_codec = "OPEN_EXR", "RGB", "32", "NONE"
    cycles.pixel_filter_type = "BOX"
    cycles.use_adaptive_sampling = cycles.use_denoising = cycles.use_auto_tile = False
    cycles.sample_clamp_direct = cycles.sample_clamp_indirect = cycles.blur_glossy = 0.0
    # Cycles counts bounces: 0 is light reflected by one surface.
    cycles.max_bounces = cycles.diffuse_bounces = job.surfaces - 1
    if job.view is not None:  # as the references of models
        cycles.glossy_bounces = cycles.transmission_bounces = cycles.max_bounces
        render.film_transparent, cycles.transparent_max_bounces = False, 16
    if hasattr(cycles, "sampling_pattern"):
        cycles.sampling_pattern = job.sampler


def _add_camera(scene: Any, arrays: Any) -> None:
    """Blender's camera looks along its -Z with +Y up, as OpenGL's."""
    import bpy
    from mathutils import Matrix

    origin = arrays["origin"]
    backward = origin - arrays["target"]
    backward /= np.linalg.norm(backward)
    right = np.cross(arrays["up"], backward)
    right /= np.linalg.norm(right)
    place = np.eye(4)
    place[:3] = np.column_stack([right, np.cross(backward, right), backward, origin])
    span = float(np.ptp(np.vstack([arrays["positions"], origin]), axis=0).max())
    data = bpy.data.cameras.new("camera")
    data.sensor_fit = "VERTICAL"
    data.angle = math.radians(float(arrays["fov"]))
    data.clip_start, data.clip_end = NEAR * span, FAR * span
    camera = bpy.data.objects.new("camera", data)
    camera.matrix_world = Matrix(place.tolist())
    scene.collection.objects.link(camera)
    scene.camera = camera


def _in_blender(view: dict[str, Any]) -> dict[str, Any]:
    """A camera's arrays, see `peers.write_arrays`: the importer turns +Y, which is up in glTF, to +Z."""
    turned = {name: np.array([x, -z, y]) for name in ("origin", "target", "up") for x, y, z in [view[name]]}
    return {**turned, "fov": view["fov_vertical"], "positions": np.array([turned["target"]])}


def _add_environment(scene: Any, path: str) -> None:
    """A picture all around; Blender and Raystream have it the same way round."""
    import bpy

    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    tree = scene.world.node_tree
    texture = tree.nodes.new("ShaderNodeTexEnvironment")
    texture.image = bpy.data.images.load(path)
    tree.links.new(texture.outputs["Color"], tree.nodes["Background"].inputs["Color"])


def _add_mesh(scene: Any, arrays: Any) -> None:
    """Flat triangles; each material has the slot of its number."""
    import bpy

    mesh = bpy.data.meshes.new("scene")
    mesh.from_pydata(arrays["positions"].tolist(), [], arrays["triangles"].tolist(), shade_flat=True)
    for base_color, emission in zip(arrays["base_color"], arrays["emission"], strict=True):
        mesh.materials.append(_material(base_color, emission))
    mesh.polygons.foreach_set("material_index", arrays["materials"].astype(np.int32))
    mesh.update()
    scene.collection.objects.link(bpy.data.objects.new("scene", mesh))


def _material(base_color: NDArray, emission: NDArray) -> Any:
    """Lambertian reflection, and emission from front faces; Cycles itself would emit from both."""
    import bpy

    material = bpy.data.materials.new("material")
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    surface = tree.nodes.new("ShaderNodeBsdfDiffuse")
    surface.inputs["Color"].default_value = (*base_color.tolist(), 1.0)
    surface.inputs["Roughness"].default_value = 0.0
    shader = surface.outputs["BSDF"]
    if emission.any():
        kinds = ("Emission", "NewGeometry", "MixShader", "AddShader")
        # The mixture takes its first shader at factor 0: a front face.
        emitter, geometry, front, both = (tree.nodes.new(f"ShaderNode{kind}") for kind in kinds)
        emitter.inputs["Color"].default_value = (*emission.tolist(), 1.0)
        emitter.inputs["Strength"].default_value = 1.0
        tree.links.new(geometry.outputs["Backfacing"], front.inputs[0])
        tree.links.new(emitter.outputs["Emission"], front.inputs[1])
        tree.links.new(front.outputs["Shader"], both.inputs[0])
        tree.links.new(shader, both.inputs[1])
        shader = both.outputs["Shader"]
        material.cycles.emission_sampling = "FRONT"
    tree.links.new(shader, output.inputs["Surface"])
    return material


make = Cycles
