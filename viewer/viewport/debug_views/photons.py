"""Views of a photon map: its photons as points, and the occupied cells of its grid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError
from raystream.kernels.photons import ENTRY, PHOTON
from raystream.kernels.records import HIT
from raystream.options.declare import join_words
from raystream.photons.grid import PhotonGrid
from raystream.programs import programs_with
from raystream.renderer.renderer import Renderer
from raystream.scene.camera import Camera
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader, ranges
from raystream.stream.gl.passes import add_fetch
from raystream.stream.gl.stream import Stream
from raystream.viewport.debug_views import false_color
from raystream.viewport.debug_views.false_color import FalseColorPicture, Legend
from raystream.viewport.debug_views.wires import box_edges
from raystream.viewport.viewport import Viewport

# -- photons -----------------------------------------------------------------------------------------------------------
# Photons as points over the picture, straight from their stream on the device, and cells of their grid as wires.

PREMULTIPLIED = moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA
NEAR = 1e-4  # of the distance to the target: nearer parts of a wire are cut off
VERTEX_STREAMS = {"photons": PHOTON, "photon_list": ENTRY, "hits": HIT}  # streams of the vertex program


def point_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of the points."""
    vertex = Source.begin()
    for name, record in VERTEX_STREAMS.items():
        vertex.add_record(record)
        add_fetch(vertex, name, record)
    vertex.include("photons/seen_vertex.glsl")
    return vertex, Source.of_file("photons/seen_fragment.glsl")


def wire_sources() -> tuple[Source, Source]:
    """Vertex and fragment program of the wires."""
    return Source.of_file("photons/wire_vertex.glsl"), Source.of_file("photons/wire_fragment.glsl")


def view_uniforms(camera: Camera, size: tuple[int, int]) -> dict[str, tuple[float, ...]]:
    """The projection of a picture of ``size`` (width, height): its middle and edges at 0 and 1 after division by the
    depth."""
    right, up, forward = (np.asarray(axis, np.float64) for axis in camera.basis())
    tangent = math.tan(math.radians(camera.fov) / 2)
    return {
        "eye": tuple(map(float, camera.origin)),
        "rightward": tuple(map(float, right / (tangent * size[0] / size[1]))),
        "upward": tuple(map(float, up / tangent)),
        "forward": tuple(map(float, forward)),
    }


class PhotonPicture:
    """Draws points and wires over the picture in a framebuffer; the context must be current in every call."""

    def __init__(self, device: Device) -> None:
        self.device = device
        vertex, fragment = point_sources()
        self._points = Shader(device, fragment, vertex, listed=True)
        self._array = device.context.vertex_array(self._points.program, [])
        vertex, fragment = wire_sources()
        self._wires = Shader(device, fragment, vertex, listed=True)
        self._lines: tuple[NDArray[np.float64], moderngl.VertexArray] | None = None

    def points(
        self,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        camera: Camera,
        streams: Mapping[str, Stream],
        stored: int,
        hits: Stream | None,
        diameter: float,
    ) -> None:
        """Every stored photon.

        streams : "photons" of `PHOTON`, and "photon_list" of `ENTRY` that holds ``stored`` of them first, or else all
        places are looked at. hits : of `HIT`, whose surfaces hide photons behind them. diameter : of a point, pixels.
        """
        listed = "photon_list" in streams
        photons = streams["photons"]
        count = stored if listed else photons.size[0] * photons.size[1]
        if not count:
            return
        shader = self._points
        bound = {"photon_list": photons, "hits": photons, **streams}  # what is not read needs a texture all the same
        for name, stream in ({**bound, "hits": hits} if hits is not None else bound).items():
            for k, texture in enumerate(stream.textures):
                shader.bind(f"in_{name}_{k}", texture)
        values = {"listed": int(listed), "hiding": int(hits is not None), "diameter": diameter}
        for name, value in {**view_uniforms(camera, size), **values}.items():
            shader.set(name, value)
        self._draw(target, size, shader, self._array, moderngl.POINTS, count)

    def wires(
        self,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        camera: Camera,
        lines: NDArray[np.float64],
        ink: NDArray[np.float32],
    ) -> None:
        """Lines (N, 2, 3) in world space, each of its colour, ``ink`` (N, 4), premultiplied; uploaded where another
        array of them is given."""
        if self._lines is None or self._lines[0] is not lines:
            vertices = np.zeros((len(lines), 2), [("place", "f4", 3), ("ink", "f4", 4)])
            vertices["place"], vertices["ink"] = lines, ink[:, None]
            buffer = self.device.context.buffer(vertices.tobytes() or bytes(28))
            array = self.device.context.vertex_array(self._wires.program, [(buffer, "3f4 4f4", "place", "ink")])
            self._lines = lines, array
        near = NEAR * max(math.dist(camera.origin, camera.target), 1e-12)
        for name, value in {**view_uniforms(camera, size), "near": near}.items():
            self._wires.set(name, value)
        self._draw(target, size, self._wires, self._lines[1], moderngl.LINES, len(lines))

    def _draw(
        self, target: moderngl.Framebuffer, size: tuple[int, int], shader: Shader, array: Any, mode: int, count: int
    ) -> None:
        """This number of points or lines."""
        if not count:
            return
        context, per_primitive = self.device.context, 2 if mode == moderngl.LINES else 1
        with context.scope(target, enable_only=moderngl.BLEND | moderngl.PROGRAM_POINT_SIZE):
            context.blend_func = PREMULTIPLIED
            target.viewport = (0, 0, *size)
            for first, some in ranges(shader.parts, count):
                array.render(mode, vertices=per_primitive * some, first=per_primitive * first)


# -- views of a photon map ---------------------------------------------------------------------------------------------

MAX_CELLS = 4000  # largest number drawn, fullest first


class PhotonView:
    """Photons and cells over the picture. points, cells : whether they are shown."""

    def __init__(self, view: Viewport) -> None:
        self.view = view
        self.points = self.cells = False
        self._hits: tuple[tuple[Any, ...], Stream] | None = None  # with the key of their camera
        self._wires: tuple[Any, NDArray, NDArray, FalseColorPicture] | None = None  # by the number of their map

    # -- commands --------------------------------------------------------------------------------------------------

    def toggle_points(self) -> None:
        """Show or hide the photons."""
        if not self.points:
            renderer = self._mapped()
            if not renderer.ray_queries.coarse_hits_ready(renderer.settings):
                self.view.compilation.request("the rays that hide photons", lambda: self._surfaces(self._camera()))
        self.points = not self.points
        self.view.say_switched("photons", self.points)

    def toggle_cells(self) -> None:
        """Show or hide the grid's occupied cells."""
        if not self.cells:
            self._mapped()
        self.cells = not self.cells
        self.view.say_switched("photon cells", self.cells)

    def _mapped(self) -> Renderer:
        renderer, camera = self.view.require_scene()[0], self._camera()
        if camera is not None and camera.kind:
            key = self.view.keymap.text("camera.orthographic")
            raise ViewerError(
                "photons", "are drawn over pictures in perspective alone", f"{key} changes the projection"
            )
        if not renderer.settings.picture_program.maps_photons:
            mapping = programs_with(lambda each: each.maps_photons)
            keys = join_words(self.view.keymap.text(f"program.{name}") for name in mapping)
            raise ViewerError("photons", f"program {renderer.settings.program} has none", f"{keys} maps them")
        return renderer

    # -- drawing ----------------------------------------------------------------------------------------------------

    def _camera(self) -> Camera | None:
        """The camera of the current picture."""
        on_show = self.view.session.shown
        return on_show[0] if on_show is not None else None

    @property
    def renderer(self) -> Renderer | None:
        """The renderer with visible photons; None without any."""
        renderer = self.view.renderer
        mapped = renderer is not None and renderer.settings.picture_program.maps_photons and renderer.photon_map.streams
        return renderer if mapped else None

    def scene(self) -> tuple[Camera, Stream | None] | None:
        """The camera of the current picture, and its rays' hits; None if no photons are shown."""
        camera = self._camera()
        if not self.points or self.renderer is None or camera is None or self.view.compilation.name or camera.kind:
            return None
        return camera, self._surfaces(camera)

    def _surfaces(self, camera: Camera | None) -> Stream | None:
        renderer = self.view.renderer
        if renderer is None or camera is None:
            return None
        key = (camera, renderer.prepared, *self.view.area.pixels)
        if self._hits is None or self._hits[0] != key:
            self._hits = key, renderer.ray_queries.coarse_hits(renderer.settings, camera, self.view.area.pixels)
        return self._hits[1]

    def wires(self) -> tuple[Camera, NDArray[np.float64], NDArray[np.float32]] | None:
        """Camera, lines (N, 2, 3) and their colours (N, 4); None if no cells are shown."""
        renderer, camera = self.renderer, self._camera()
        if not self.cells or renderer is None or camera is None or camera.kind:
            return None
        return camera, *self._cells(renderer)

    def _cells(self, renderer: Renderer) -> tuple[NDArray, NDArray]:
        """Edges of the occupied cells and their colours, see `cell_wires`, of the photon map as it is now."""
        photon_map = renderer.photon_map
        if self._wires is None or self._wires[0] != (id(photon_map), photon_map.build_count):
            with renderer.device.current():
                photons = renderer.photon_map.streams["photons"].read()
            stored = photons["position"][photons["stored"] > 0]
            cells, counts = occupied(stored, photon_map.grid)
            colors = count_colors(counts[:MAX_CELLS])
            wires = cell_wires(cells[:MAX_CELLS], counts[:MAX_CELLS], photon_map.grid)
            self._wires = ((id(photon_map), photon_map.build_count), *wires, colors)
        return self._wires[1:3]

    @property
    def legend(self) -> Legend | None:
        """Legend of the cells' colours, as last drawn."""
        return self._wires[3].legend if self._wires is not None else None

    def forget(self) -> None:
        """Drop results: the scene or the machines have changed."""
        self._hits = self._wires = None


OPACITY = 0.55  # of a cell's edges


def occupied(positions: NDArray, grid: PhotonGrid) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells (N, 3) with photons at these positions (P, 3), and the count (N,) of each, fullest first.

    For a hashed grid these are cells of space, not the buckets that several may share.
    """
    cells = grid.cells_of(positions)
    unique_cells, counts = np.unique(cells, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return unique_cells[order], counts[order]


def cell_wires(cells: NDArray, counts: NDArray, grid: PhotonGrid) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Edges (12 N, 2, 3) of cells (N, 3) in world space, and the colour (12 N, 4), premultiplied, of their counts."""
    low = np.asarray(grid.low) + cells * np.asarray(grid.cell)
    lines = box_edges(low, low + np.asarray(grid.cell)).reshape(-1, 2, 3)
    rgb = count_colors(counts).picture.reshape(-1, 3).astype(np.float32) / 255
    ink = np.concatenate([rgb * OPACITY, np.full((len(rgb), 1), OPACITY, np.float32)], axis=1)
    return lines, np.repeat(ink, 12, axis=0)


def count_colors(counts: NDArray) -> FalseColorPicture:
    """Colours (1, N, 3) and legend of photons in cells (N,)."""
    return false_color.count("photons in a cell", counts[None], np.ones((1, len(counts)), bool), "photons")
