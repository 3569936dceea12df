"""Pictures without a window: colour by the path tracer, depth and segments by rays through pixel centres."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import RLock
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raystream.base.errors import ViewerError, warn
from raystream.film.tonemap import srgb8
from raystream.options.values import MAX_SIDE as LARGEST
from raystream.pyrender.checked import Checked
from raystream.pyrender.constants import RenderFlags
from raystream.pyrender.conversion import Conversion, Eye
from raystream.pyrender.scene import Node, Scene
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.denoising import MAX_FEATURE_SAMPLES, features_of
from raystream.renderer.sampling.ray_queries import pack_rays

SAMPLES = {"lit": 8, "flat": 4}  # of each pixel
STYLES: dict[str, dict[str, Any]] = {"lit": {"denoise": "shader"}, "flat": {"depth": 0}}  # options
UNDRAWN = RenderFlags.VERTEX_NORMALS | RenderFlags.FACE_NORMALS
FILLED = RenderFlags.DEPTH_ONLY | RenderFlags.SEG | RenderFlags.ALL_SOLID  # without wireframes
STEP = 1e-5  # of its depth, by which a ray goes on behind a node without a colour


def _side(what: str) -> Callable[[Any], int]:
    """A reader of a picture's width or height, pixels; raises ViewerError."""

    def read(value: Any) -> int:
        try:
            pixels = int(value)
        except (TypeError, ValueError, OverflowError):
            pixels = 0
        if not 1 <= pixels <= LARGEST:
            raise ViewerError(f"{what}={value!r:.60}", f"expected a whole number from 1 to {LARGEST} pixels")
        return pixels

    return read


class _StyleRenderer:
    """A renderer of one style of a scene."""

    def __init__(self, style: str, culled: bool, options: Mapping[str, Any]) -> None:
        self.convert = Conversion(style, culled)
        self.renderer: Renderer | None = None
        common = {"back_faces": "culled" if culled else "shown", "accel": "two-level-bvh", "environment": "none"}
        self.options = {**common, **STYLES.get(style, {}), **options}

    def update(self, scene: Scene, eye: Eye, point_size: float, flags: int, **changes: Any) -> Renderer | None:
        """The renderer with the scene as it is now; None where there is nothing to see."""
        converted = self.convert(scene, eye, point_size, partial(_wired, flags))
        if not converted.triangle_count:
            return None
        if self.renderer is None:
            self.renderer = Renderer(converted, **{**self.options, **changes})
        else:
            self.renderer.update(converted, **changes)
        return self.renderer


class OffscreenRenderer:
    """Renders pictures of viewport_width x viewport_height pixels; points are squares of ``point_size`` pixels.

    spp : samples of a pixel, by default `SAMPLES`. options : of `raystream.Renderer`, such as ``denoise="none"``, by
    default ``shader``, ``depth=2`` or ``device=0``.

    The renderers behind it keep a scene's structures and programs: after a change of poses, lights or cameras only
    numbers are brought to the device.
    """

    viewport_width = Checked(_side("viewport_width"))
    viewport_height = Checked(_side("viewport_height"))

    def __init__(
        self,
        viewport_width: int,
        viewport_height: int,
        point_size: float = 1.0,
        *,
        spp: int | None = None,
        **options: Any,
    ) -> None:
        self.viewport_width, self.viewport_height = viewport_width, viewport_height
        self._lock = RLock()
        self.point_size, self.spp, self.options = float(point_size), spp, options
        self._renderers: dict[tuple[str, bool], _StyleRenderer] = {}
        self._packed: tuple[Any, tuple[NDArray, NDArray[np.float64]]] | None = None

    @overload
    def render(
        self, scene: Scene, flags: Literal[1], seg_node_map: Mapping[Node, ArrayLike] | None = None
    ) -> NDArray[np.float32]: ...
    @overload
    def render(
        self,
        scene: Scene,
        flags: Literal[0, 2048, 4096, 8192] = 0,  # alone: what combinations give is not known to types
        seg_node_map: Mapping[Node, ArrayLike] | None = None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]: ...
    @overload
    def render(self, scene: Scene, flags: int, seg_node_map: Mapping[Node, ArrayLike] | None = None) -> Any: ...
    def render(
        self, scene: Scene, flags: int = RenderFlags.NONE, seg_node_map: Mapping[Node, ArrayLike] | None = None
    ) -> Any:
        """Colour (H, W, 3), or (H, W, 4) under RGBA, uint8 sRGB, and depth (H, W) float32: along the view, scene units,
        0 where nothing is seen. Under DEPTH_ONLY the depth alone.

        flags : of `RenderFlags`, combined. seg_node_map : under SEG the colour, a number or three of 0 to 255, of each
        node; others are left out.

        Threads may share it: their pictures are made one after the other. Raises ViewerError for a scene without a
        camera, and for one that cannot be rendered.
        """
        with self._lock:
            eye = Eye.of(scene, (self.viewport_width, self.viewport_height))
            if flags & UNDRAWN:
                warn(["normals are not drawn as lines"])
            if flags & RenderFlags.SEG:
                return self._segments(scene, eye, flags, seg_node_map or {})
            if flags & RenderFlags.DEPTH_ONLY:
                return self._depth(scene, eye, flags)
            return self._color(scene, eye, flags), self._depth(scene, eye, flags)

    def delete(self) -> None:
        """Free the renderers' memory; the next picture uploads its scene again."""
        with self._lock:
            for style_renderer in self._renderers.values():
                if style_renderer.renderer is not None:
                    style_renderer.renderer.release()
            self._renderers.clear()

    def _style_renderer(self, style: str, flags: int) -> _StyleRenderer:
        culled = not flags & RenderFlags.SKIP_CULL_FACES
        if (style, culled) not in self._renderers:
            self._renderers[style, culled] = _StyleRenderer(style, culled, self.options)
        return self._renderers[style, culled]

    # -- rays ----------------------------------------------------------------------------------------------------------

    def _depth(self, scene: Scene, eye: Eye, flags: int) -> NDArray[np.float32]:
        """(H, W): the depth."""
        renderer = self._style_renderer("solid", flags).update(scene, eye, self.point_size, flags)
        depth = np.zeros(eye.size[::-1], np.float32)
        if renderer is not None:
            near = max(eye.near, 0.0)  # behind the eye depth counts from the near plane
            with renderer.lock, renderer.device.kept_current():  # as `Renderer.trace`, of rays that are packed already
                renderer.revive()
                distance = renderer.ray_queries.trace(renderer.settings, *self._rays(eye)).distance
            depth[...] = np.where(np.isfinite(distance), distance + near, 0.0).reshape(depth.shape)
        return depth

    def _rays(self, eye: Eye) -> tuple[NDArray, NDArray[np.float64]]:
        """The eye's rays, packed; those of the last eye are at hand: a camera often rests."""
        key = eye.key, eye.near, eye.far
        if self._packed is None or self._packed[0] != key:
            self._packed = key, pack_rays(*eye.rays(), eye.far - eye.near, False, view=True)
        return self._packed[1]

    def _segments(
        self, scene: Scene, eye: Eye, flags: int, colors: Mapping[Node, ArrayLike]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """(H, W, 3 or 4) and the depth (H, W) of nodes with a colour: rays go on behind others."""
        solid = self._style_renderer("solid", flags)
        renderer = solid.update(scene, eye, self.point_size, flags)
        count, near = eye.size[0] * eye.size[1], max(eye.near, 0.0)
        depth, color = np.zeros(count), np.zeros((count, 3), np.uint8)
        if renderer is not None:
            nodes = solid.convert.nodes
            palette = np.array([_segment_color(colors[node]) for node in nodes if node in colors], np.uint8)
            indices = np.full(len(nodes) + 1, -1)  # of each instance's colour; the last of no instance
            indices[:-1][[node in colors for node in nodes]] = np.arange(len(palette))
            origins, directions = eye.rays()
            rays, distances = np.arange(count), np.zeros(count)  # active rays, and the distances that they have come
            while len(rays):
                points = origins[rays] + distances[rays, None] * directions[rays]
                hits = renderer.trace(points, directions[rays], eye.far - eye.near - distances[rays], view=True)
                hit, colored = hits.instance >= 0, indices[hits.instance]
                distances[rays[hit]] += hits.distance[hit].astype(np.float64)
                finished = rays[colored >= 0]
                color[finished], depth[finished] = palette[colored[colored >= 0]], near + distances[finished]
                rays = rays[hit & (colored < 0)]
                distances[rays] += STEP * (near + distances[rays])
                rays = rays[distances[rays] < eye.far - eye.near]
        shape = eye.size[::-1]
        if flags & RenderFlags.RGBA:
            color = np.concatenate([color, np.full((count, 1), 255, np.uint8)], axis=1)
        return color.reshape(*shape, -1), depth.reshape(shape).astype(np.float32)

    # -- light ---------------------------------------------------------------------------------------------------------

    def _color(self, scene: Scene, eye: Eye, flags: int) -> NDArray[np.uint8]:
        """(H, W, 3 or 4) before the scene's background, which is no light."""
        style = "flat" if flags & RenderFlags.FLAT else "lit"
        ambient = tuple(map(float, scene.ambient_light)) if style == "lit" else (0.0, 0.0, 0.0)
        background = np.clip(scene.bg_color, 0, 1).astype(np.float64)
        renderer = self._style_renderer(style, flags).update(
            scene, eye, self.point_size, flags, camera=eye.camera(), environment=ambient
        )
        shape = eye.size[::-1]
        front, coverage = np.zeros((*shape, 3)), np.zeros((*shape, 1))
        if renderer is not None:
            samples = self.spp or SAMPLES[style]
            device = renderer.device
            with device.kept_current():
                linear = renderer.render(eye.size, samples).linear
                with features_of(renderer, eye.size, min(samples, MAX_FEATURE_SAMPLES)) as features, device.current():
                    sums = features.fields(("hits", "count"))
            coverage = (sums["hits"] / np.maximum(sums["count"], 1))[..., None]
            radiance = (linear - (1 - coverage) * ambient) / np.maximum(coverage, 1 / 256)
            if style == "flat":  # numbers of pixels already
                front = np.clip(radiance, 0, 1)
            else:
                front = srgb8(np.maximum(radiance, 0).astype(np.float32), 0.0, "none") / 255.0
        color = coverage * front + (1 - coverage) * background[:3]
        if flags & RenderFlags.RGBA:
            color = np.concatenate([color, coverage + (1 - coverage) * background[3]], axis=2)
        return np.rint(255 * color).astype(np.uint8)


def _wired(flags: int, wireframe: bool) -> bool:
    """Whether a material is drawn as edges, by the flags and its own ``wireframe``."""
    if flags & FILLED:
        return False
    return bool(flags & RenderFlags.ALL_WIREFRAME) or wireframe != bool(flags & RenderFlags.FLIP_WIREFRAME)


def _segment_color(value: ArrayLike) -> NDArray[np.uint8]:
    """(3,) of a number or three of 0 to 255."""
    color = np.broadcast_to(np.asarray(value), (3,))
    if not ((color >= 0) & (color <= 255)).all():
        raise ViewerError("seg_node_map", f"{value!r} is no colour", "give a number, or three, from 0 to 255")
    return color.astype(np.uint8)
