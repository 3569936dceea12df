"""The making of a dataset's pictures, each by its index alone: files as bytes, and a record of their contents."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerWarning
from raystream.dataset.sampling import PlacementReport, SceneLayout, picture_seed, sample_camera
from raystream.dataset.stage import Arrangement, DatasetStage
from raystream.dataset.view import Ball, GroundTruth, ObjectInView, Silhouette, lens_of, silhouettes
from raystream.dataset.writers import WRITERS
from raystream.film.files import image
from raystream.options.table import keywords
from raystream.renderer.render import centre_layers
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera

CORNERS = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)], bool)
DATASET_LAYERS = ("class", "depth", "flow", "object", "position")  # made here; others by the renderer


@dataclass(frozen=True)
class FinishedPicture:
    """A finished picture: its files by their paths in the dataset's folder, and its record for the formats' lists, of
    JSON's types."""

    index: int
    files: Mapping[str, bytes]
    record: Mapping[str, Any]


class DatasetRenderer:
    """Renders a stage's pictures in any order, by one renderer; a picture's bits do not depend on those before it.

    report : of the placement of copies, see `raystream.dataset.sampling.sample_layout`.
    """

    def __init__(self, stage: DatasetStage, report: PlacementReport | None = None) -> None:
        self._report = report
        self.stage, self.recipe = stage, stage.recipe
        self._renderer: Renderer | None = None
        self._scene: tuple[int, SceneLayout, Arrangement] | None = None
        self._arrangement: Arrangement | None = None  # of the renderer

    def release(self) -> None:
        """Free the renderer's GPU memory."""
        if self._renderer is not None:
            self._renderer.release()
            self._renderer = self._arrangement = None

    def render(self, index: int) -> FinishedPicture:
        """Render the picture of that index and encode its files. Raises ViewerError where the renderer does."""
        view, linear, layers = self.view(index)
        files = {view.path("rgb"): image.png(view.rgb, {}), view.path("depth"): self._depth_png(view.depth)}
        if layers:
            files[view.path("layers", "exr")] = exr(linear, layers)
        assert self._renderer is not None
        record: dict[str, Any] = {"number": index, "driver": self._renderer.device.driver}
        for name in self.recipe.formats:
            view_files, record[name] = WRITERS[name].of_view(self.stage, view)
            files |= view_files
        return FinishedPicture(index, files, record)

    def view(self, picture_index: int) -> tuple[GroundTruth, NDArray[np.float32], dict[str, NDArray]]:
        """A picture as arrays: its record, its linear colours (H, W, 3), and the recipe's layers by name."""
        recipe, (scene, index) = self.recipe, divmod(picture_index, self.recipe.views)
        if self._scene is None or self._scene[0] != scene:
            layout = self.stage.layout(scene, self._report)
            self._scene = scene, layout, self.stage.arranged(layout)
        _, layout, arranged = self._scene
        camera, size = sample_camera(recipe, layout.middle, scene, index), recipe.size
        renderer = self._updated_renderer(layout, arranged, camera, picture_seed(recipe, picture_index))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ViewerWarning)  # of choices that the recipe has made
            picture = renderer.render(size, spp=recipe.render["spp"])
        names = [name for name in recipe.layers if name not in DATASET_LAYERS]
        layers = centre_layers(renderer, size, [*names, "instance", "position"])
        hit, position = layers["instance"] >= 0, layers["position"].astype(np.float64)
        owners = arranged.owners[layers["instance"]]
        depth = np.where(hit, (position - camera.origin) @ camera.basis()[2], 0.0)
        view = GroundTruth(
            picture_index,
            scene,
            index,
            camera,
            lens_of(camera, size),
            picture.srgb8(recipe.render["exposure"], recipe.render["tonemap"]),
            depth,
            owners,
            self._objects_in_view(arranged, camera, owners, renderer),
        )
        categories = [*(self.stage.kinds[placed.kind].category for placed in arranged.objects), -1]
        layers |= {"depth": depth, "object": owners, "class": np.array(categories, np.int32)[owners]}
        if "flow" in recipe.layers:
            layers["flow"] = self._flow(layout, scene, index, position, hit)
        return view, picture.linear, {name: layers[name] for name in recipe.layers}

    def _updated_renderer(self, layout: SceneLayout, arranged: Arrangement, camera: Camera, seed: int) -> Renderer:
        """The renderer, created or updated for a picture: every option that differs among pictures is given again."""
        environment = self.stage.environments[layout.environment]
        options: dict[str, Any] = {
            "camera": camera,
            "environment": environment,
            "environment_rotation": layout.rotation,
            "sun": (layout.sun, 0.0) if environment == "sky" else None,
            "seed": seed,
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ViewerWarning)
            if self._renderer is None:
                fixed = {name: value for name, value in self.recipe.render.items() if name in keywords("renderer")}
                self._renderer = Renderer(arranged.scene, **fixed, **options)
            else:
                self._renderer.update(None if arranged is self._arrangement else arranged.scene, **options)
        self._arrangement = arranged
        return self._renderer

    def _objects_in_view(
        self, arranged: Arrangement, camera: Camera, owners: NDArray[np.int32], renderer: Renderer
    ) -> tuple[ObjectInView, ...]:
        """The scene's objects in the camera's space. owners : (H, W) the object in each pixel, -1 for none."""
        whole_silhouettes: list[Silhouette | None] = [None] * len(arranged.objects)
        if any(WRITERS[name].whole_silhouettes for name in self.recipe.formats):
            balls = [self._ball(k, arranged) for k in range(len(arranged.objects))]
            whole_silhouettes = [*silhouettes(renderer, camera, arranged.owners, balls, owners)]
        right, up, forward = camera.basis()
        world_to_camera = np.stack([right, -up, forward])
        return tuple(
            ObjectInView(
                placed.kind,
                world_to_camera @ placed.placement.rotation,
                world_to_camera @ (placed.placement.position - camera.origin),
                silhouette,
            )
            for placed, silhouette in zip(arranged.objects, whole_silhouettes, strict=True)
        )

    def _ball(self, index: int, arranged: Arrangement) -> Ball:
        """The bounds of an object's copy, world space: those of its whole model."""
        placement = arranged.objects[index].placement
        shape = self.stage.assets[placement.model].shape
        low, high = shape.points.min(axis=0), shape.points.max(axis=0)
        corners = np.where(CORNERS, high, low) @ placement.matrix[:3, :3].T + placement.position
        return Ball(placement.position, shape.radius * placement.scale * (1 + 1e-5), corners)

    def _flow(
        self, layout: SceneLayout, scene: int, index: int, position: NDArray[np.float64], hit: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """(H, W, 2): from pixels' centres to where the next view of the scene has the same points, right and down; NaN
        where nothing is hit or the point is behind that camera, and in the last view."""
        height, width = hit.shape
        flow = np.full((height, width, 2), np.nan, np.float32)
        if index + 1 < self.recipe.views:
            next_camera = sample_camera(self.recipe, layout.middle, scene, index + 1)
            rows, columns = np.nonzero(hit)
            projected = next_camera.project(position[hit], (width, height))
            flow[hit] = projected - np.stack([columns, rows], axis=1) - 0.5
        return flow

    def _depth_png(self, depth: NDArray[np.float64]) -> bytes:
        """A PNG of 16 bits of depths (H, W), scene units, in steps of the dataset; 0 for none, and beyond the range."""
        steps = np.rint(depth * 1000 / self.stage.depth_scale)
        return image.grey_png(np.where(steps <= 0xFFFF, steps, 0).astype(np.uint16))


def exr(linear: NDArray[np.float32], layers: Mapping[str, NDArray]) -> bytes:
    """The bytes of an EXR of linear colours (H, W, 3) and layers."""
    channels = dict(layers)
    if "flow" in channels:  # no layer of pictures, whose channels have names
        flow = channels.pop("flow")
        channels |= {"flow.X": flow[..., 0], "flow.Y": flow[..., 1]}
    with tempfile.TemporaryDirectory(prefix="raystream-") as folder:  # the library writes files alone
        path = Path(folder) / "picture.exr"
        image.save(path, linear, channels)
        return path.read_bytes()
