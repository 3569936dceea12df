"""The picture texture: a session's pictures on the device, where tiles are put in their places."""

from __future__ import annotations

import math
from collections.abc import Callable

import moderngl
import numpy as np
from numpy.typing import NDArray

from raystream.denoise.upsampling import SHOWN
from raystream.film.tonemap import TONEMAPS, automatic_exposure, block_edge
from raystream.kernels.photons import ESTIMATE
from raystream.kernels.records import FILM, PATH, RADIANCE
from raystream.renderer.device.tile_job import Tile
from raystream.renderer.preview.scheduler import METERED
from raystream.stream.compile.source import Source
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Drawing, Shader, square
from raystream.stream.gl.objects import Readback, read_texture
from raystream.stream.gl.passes import add_fetch
from raystream.stream.gl.stream import Stream, float_texture
from raystream.stream.machines.multipass import Multipass

SEARCHED = {"film": FILM, "radiance": RADIANCE, "path": PATH, "estimate": ESTIMATE}  # streams of a search under way
SEARCHING = ("shell", "cell", "photon", "total")  # its states


def film_drawing(device: Device, name: str, **constants: int) -> Drawing:
    """A program of ``shaders/film``, with the constants that it leaves open, to be drawn over a whole viewport. Raises
    ShaderError."""
    return square(device, Shader(device, Source.of_file(f"film/{name}.glsl", **constants)))


def fill(drawing: Drawing, target: moderngl.Framebuffer, viewport: tuple[int, int, int, int]) -> None:
    """Draw over a part of a framebuffer, (left, bottom, width, height) in pixels, whatever was drawn before."""
    target.use()
    target.viewport = viewport
    drawing.device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    drawing.render()


def running_source() -> Source:
    """The fragment program that shows radiance estimates while they grow."""
    source = Source.begin()
    for name, record in SEARCHED.items():
        source.add_record(record)
        add_fetch(source, name, record)
    source.include("film/running.glsl")
    return source


class PictureTexture:
    """A session's screen (`raystream.renderer.preview.frame.Screen`): pictures are linear sRGB, float32, row 0 at the
    top. blank : nothing has been shown so far. changes : how often it has looked otherwise."""

    def __init__(self, device: Device) -> None:
        self.device, self.blank, self.changes = device, True, 0
        self._spare: Stream | None = None  # for the next picture of its size: to make one takes long
        self._nowhere = self._new((1, 1)).framebuffer
        self._on_show = self._new((1, 1))
        self._coming: Stream | None = None  # a preview, which is shown when it is complete
        self._plain = float_texture(device, (1, 1))
        self._running: Drawing | None = None  # made when there are estimates to show
        self.reload()

    @property
    def texture(self) -> moderngl.Texture:
        """The picture on show."""
        return self._on_show.textures[0]

    def reload(self) -> None:
        """Recompile the shaders. Raises ShaderError; the old ones then stay."""
        self._place, self._resize = film_drawing(self.device, "place"), film_drawing(self.device, "resize")
        self._running = None

    def begin(self, size: tuple[int, int], preview: bool) -> None:
        """Another picture begins: a preview out of sight, any other in place of the one on show, enlarged."""
        self.drop()
        picture = self._new(size)
        if preview:
            self._coming = picture
        else:
            self._resize.shader.bind("in_picture", self.texture)  # filtered
            self._resize.shader.set("size", size)
            fill(self._resize, picture.framebuffer, (0, 0, *size))
            self.restore_sampling()
            self._show(picture)
            self.changes += 1

    def end(self) -> None:
        """The picture is complete: a preview is shown."""
        if self._coming is not None:
            pending, self._coming = self._coming, None
            self._show(pending)
            self.changes += 1

    def drop(self) -> None:
        """A preview will not be completed."""
        if self._coming is not None:
            self._free(self._coming)
            self._coming = None

    def release(self) -> None:
        """Free the picture on show, and one that is coming."""
        self.drop()
        self._on_show.release()

    def linear(self) -> NDArray[np.float32]:
        """(H, W, 3) float32: the picture on show."""
        width, height = self._on_show.size
        pixels = np.empty((height, width, 4), np.float32)
        self.device.waits += 1
        read_texture(self.texture, pixels)
        return pixels[..., :3].copy()

    def _new(self, size: tuple[int, int]) -> Stream:
        """A picture of (width, height), of undefined contents."""
        if self._spare is not None and self._spare.size == size:
            picture, self._spare = self._spare, None
            return picture
        picture = Stream(self.device, SHOWN, size)
        picture.textures[0].filter = (moderngl.LINEAR, moderngl.LINEAR)
        return picture

    def _show(self, picture: Stream) -> None:
        self.blank = False
        self._free(self._on_show)
        self._on_show = picture

    def _free(self, picture: Stream) -> None:
        """Give a picture back; the last one of the size of that on show is kept for the next."""
        unused: Stream | None = picture
        if picture.size == self._on_show.size:
            unused, self._spare = self._spare, picture
        if unused is not None:
            self._nowhere.use()  # a framebuffer that is bound must not go
            unused.release()

    def put(self, tile: Tile) -> None:
        """Copy a tile to its place."""
        summed = "film" in tile.machine.linked.program.results
        texture = tile.machine.streams["film" if summed else "radiance"].textures[0]
        self._copy(texture, summed, (self._coming or self._on_show).framebuffer, _rectangle(tile))
        self.changes += self._coming is None

    def _copy(
        self,
        texture: moderngl.Texture,
        summed: bool,
        target: moderngl.Framebuffer,
        rectangle: tuple[int, int, int, int],
    ) -> None:
        """Copy a texture, of sums of samples or of radiance, to its place (left, top, width, height)."""
        shader = self._place.shader
        shader.bind("in_tile", texture)
        shader.set("summed", int(summed))
        shader.set("corner", rectangle[:2])
        shader.set("wide", rectangle[2])
        fill(self._place, target, rectangle)

    def show(self, picture: Stream) -> None:
        """Copy a whole picture, of any size."""
        if self._coming is not None and self._coming.size != picture.size:
            self._free(self._coming)
            self._coming = self._new(picture.size)
        target = self._coming or self._on_show
        assert target.size == picture.size
        if picture.record == FILM:
            self._copy(picture.textures[0], True, target.framebuffer, (0, 0, *picture.size))
        else:
            target.framebuffer.use()  # and leave another one's scissors, which would cut the copy
            self.device.context.copy_framebuffer(target.framebuffer, picture.framebuffer)
        self.changes += self._coming is None

    def warp(self, size: tuple[int, int], draw: Callable[[Stream], None]) -> None:
        """Have a whole picture drawn in place of the one on show, whatever is coming."""
        if self._on_show.size != size:
            self._show(self._new(size))
        draw(self._on_show)
        self.changes += 1

    def grow(self, tile: Tile) -> bool:
        """Show the running estimates of a tile in progress, where its machine keeps them from pass to pass; whether it
        does. `put` replaces them when the tile is done."""
        machine, streams = tile.machine, tile.machine.streams
        if self._coming is not None or not isinstance(machine, Multipass) or not SEARCHED.keys() <= streams.keys():
            return False
        self._running = self._running or square(self.device, Shader(self.device, running_source()))
        shader = self._running.shader
        for name in SEARCHED:
            # Under a final gather the search is for a ray of the surface's, which has a weight of its own.
            stream = streams.get("gathering", streams["path"]) if name == "path" else streams[name]
            for k, texture in enumerate(stream.textures):
                shader.bind(f"in_{name}_{k}", texture)
        shader.bind("in_state", machine.state.textures[0])
        rectangle = _rectangle(tile)
        shader.set("corner", rectangle[:2])
        shader.set("wide", rectangle[2])
        program = machine.linked.program
        shader.set("searching", tuple(program.number(state) if state in program.by_name else -1 for state in SEARCHING))
        fill(self._running, self._on_show.framebuffer, rectangle)
        self.changes += 1
        return True

    def restore_sampling(self) -> None:
        """Leave behind how streams are sampled.

        To Mesa's drivers the sampling that a buffer texture finds in its place, from whatever was drawn before, makes
        another variant of a machine's shader: after a filtered picture or a panel it would be compiled once more, in
        the middle of a picture.
        """
        self._copy(self._plain, False, self._nowhere, (0, 0, 1, 1))


def _rectangle(tile: Tile) -> tuple[int, int, int, int]:
    """Left, top, width and height of a tile."""
    left, top = tile.columns.start, tile.rows.start
    return left, top, tile.columns.stop - left, tile.rows.stop - top


# -- shows a picture in the window: exposure, tone map, sRGB -----------------------------------------------------------


class Display:
    """Draws a picture over a whole framebuffer; one of fewer pixels is enlarged as it is displayed."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._unscaled: moderngl.Framebuffer | None = None  # a picture of fewer pixels than it fills, as displayed
        self.reload()

    def reload(self) -> None:
        """Recompile its shader. Raises ShaderError; the old one then stays."""
        # Several programs: drivers for the CPU run both sides of a branch, and filtering takes long.
        self._drawings = [film_drawing(self.device, "show", smooth_up=smooth_up) for smooth_up in (0, 1)]
        self._enlarge = film_drawing(self.device, "resize")

    def draw(
        self,
        picture: moderngl.Texture,
        target: moderngl.Framebuffer,
        size: tuple[int, int],
        exposure: float,
        tonemap: str = "none",
    ) -> None:
        """picture: linear sRGB. size: of the part of the target that it fills, pixels. exposure: stops. tonemap: a name
        of TONEMAPS, another shows as ``none``."""
        width, height = picture.size
        if width <= size[0] and height <= size[1] and picture.size != size:
            # Tone maps take long: not for more pixels than there are.
            small = self._small(picture.size)
            self.draw(picture, small, picture.size, exposure, tonemap)
            self._enlarge.shader.bind("in_picture", small.color_attachments[0])
            self._enlarge.shader.set("size", size)
            fill(self._enlarge, target, (0, 0, *size))
            return
        drawing = self._drawings[picture.size != size]
        shader = drawing.shader
        shader.bind("in_picture", picture)
        shader.set("window", size)
        shader.set("exposure", exposure)
        shader.set("curve", list(TONEMAPS).index(tonemap) if tonemap in TONEMAPS else 0)
        fill(drawing, target, (0, 0, *size))

    def _small(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        """For a picture of this size as it is displayed, 8 bits a channel."""
        if self._unscaled is None or self._unscaled.size != size:
            if self._unscaled is not None:
                self._unscaled.color_attachments[0].release()
            texture = self.device.context.texture(size, 4)
            texture.repeat_x = texture.repeat_y = False
            self._unscaled = self.device.context.framebuffer([texture])
        return self._unscaled


# -- the light meter: the exposure that suits the picture on show, which it follows as eyes get used to light ----------

ADAPTING = 0.35  # seconds in which all but 1/e of a difference is gone
SAME = 0.01  # stops that nobody sees


class AutoExposure:
    """Stops that follow the pictures on show. stops : now. reached : whether they are where they lead to."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.stops = self._target = 0.0
        self._fresh, self._looked = True, -math.inf
        self._coming: Readback | None = None  # of the picture looked at last: the host does not wait for it
        self._means: tuple[moderngl.Texture, moderngl.Framebuffer] | None = None
        self.reload()

    def reload(self) -> None:
        """Recompile its shader. Raises ShaderError; the old one then stays."""
        self._drawing = film_drawing(self.device, "luminance")

    @property
    def reached(self) -> bool:
        """Whether the stops are where they lead to."""
        return self.stops == self._target and self._coming is None

    def begin(self) -> None:
        """Another scene: its first picture is shown as suits it at once."""
        self._fresh, self._looked, self._coming = True, -math.inf, None

    def follow(self, picture: moderngl.Texture, now: float, dt: float, last: bool, same: bool = False) -> bool:
        """Look at a picture, linear sRGB, unless it is the ``same`` as at the last look, if that was long ago or it is
        the ``last`` for a while; whether it was looked at. Then move the stops by ``dt`` seconds. now : seconds since
        any moment."""
        due = self._coming is None and (self._fresh or (not same and (last or now - self._looked >= METERED)))
        if due and self.device.concurrent and not self._fresh:
            self._looked, self._coming = now, Readback(self.device, self._block_means(picture))
        elif due:
            self._looked, self._target = now, self.measure(picture)
        elif self._coming is not None and self._coming.ready:
            self._target, self._coming = _exposure(self._coming.read()), None
        if self._fresh:
            self.stops, self._fresh = self._target, False
        self.stops += (self._target - self.stops) * (1 - math.exp(-dt / ADAPTING))
        if abs(self._target - self.stops) < SAME:
            self.stops = self._target
        return due

    def measure(self, picture: moderngl.Texture) -> float:
        """The exposure in stops that suits a picture on the device, as `raystream.film.tonemap.stops` has it."""
        texture = self._block_means(picture)
        blocks = np.empty((texture.height, texture.width, texture.components), np.float32)
        self.device.waits += 1
        read_texture(texture, blocks)
        return _exposure(blocks)

    def _block_means(self, picture: moderngl.Texture) -> moderngl.Texture:
        """Means of the picture's blocks."""
        edge = block_edge(picture.size)
        size = -(-picture.width // edge), -(-picture.height // edge)
        if self._means is None or self._means[0].size != size:
            texture = float_texture(self.device, size)
            self._means = texture, self.device.context.framebuffer([texture])
        texture, framebuffer = self._means
        self._drawing.shader.bind("in_picture", picture)
        self._drawing.shader.set("edge", edge)
        fill(self._drawing, framebuffer, (0, 0, *size))
        return texture


def _exposure(blocks: NDArray[np.float32]) -> float:
    """The exposure by the means of a picture's blocks."""
    return automatic_exposure(blocks.reshape(-1, 4)[:, 0].astype(np.float64))
