"""A view without a window that plays an animation: pictures that it shows, and CPU time of their parts.

The view, its pace and its pictures are those of a page or a notebook: pose, refit, light of few pixels, surfaces,
filter, and the bitmap that is sent.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.common import Table
from raystream.renderer.device.deformer import GpuDeformer
from raystream.renderer.preview.gbuffer import GBuffer, GBufferTracer
from raystream.renderer.preview.preview import Preview
from raystream.renderer.preview.scheduler import POLL, QUICK, TURN
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.sampler import Sampler
from raystream.scene.edits.animated import AnimatedParts
from raystream.scene.scene import Scene
from raystream.viewport.canvas import Bitmaps, CanvasView
from raystream.viewport.picture_texture import AutoExposure
from raystream.viewport.preferences import Preferences

SIZE = (480, 270)
SAMPLES = 6  # of a pixel at rest, before: a view then has compiled what serves pictures in motion
WARM_UP, LONGEST = 2.0, 60.0  # seconds before measurements, and until all is there
# Parts of a picture, by what they are computed by; time within an inner one is that one's alone.
PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "channels": ((AnimatedParts, "posed"),),
    "scene": ((Renderer, "update"),),
    "pose": ((GpuDeformer, "pose"),),
    "refit": ((GpuDeformer, "refit"),),
    "light": ((Sampler, "render_tiles"),),
    "surfaces": (
        (GBuffer, "chosen"),
        (GBuffer, "queue_triangles"),
        (GBuffer, "queue_surfaces"),
        (GBufferTracer, "fill"),
    ),
    "filter": ((Preview, "_picture"),),
    "bitmap": ((Bitmaps, "read"), (AutoExposure, "follow")),
}
OTHER = "other"


class Clock:
    """CPU seconds of parts, of all threads. device : is waited for at the end of each part."""

    def __init__(self, device: Any) -> None:
        self.device, self.seconds = device, dict.fromkeys([*PARTS, OTHER], 0.0)
        self._stack, self._since = [OTHER], time.process_time()

    def enter(self, part: str | None) -> None:
        """A part begins; None: the last one ends."""
        if part is None:
            with self.device.current():
                self.device.context.finish()
        now = time.process_time()
        self.seconds[self._stack[-1]] += now - self._since
        self._since = now
        if part is None:
            self._stack.pop()
        else:
            self._stack.append(part)

    def around(self, part: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """A function as a part; of a generator each of its steps."""

        @wraps(call)
        def timed(*arguments: Any, **named: Any) -> Any:
            self.enter(part)
            try:
                made = call(*arguments, **named)
            finally:
                self.enter(None)
            return self._steps(part, made) if isinstance(made, Iterator) else made

        return timed

    def _steps(self, part: str, steps: Iterator[Any]) -> Iterator[Any]:
        while True:
            self.enter(part)
            try:
                step = next(steps)
            except StopIteration as end:
                return end.value
            finally:
                self.enter(None)
            yield step


@contextmanager
def parted(clock: Clock) -> Iterator[None]:
    """The parts of pictures are timed meanwhile."""
    with ExitStack() as stack:
        for part, calls in PARTS.items():
            for owner, name in calls:
                stack.enter_context(mock.patch.object(owner, name, clock.around(part, getattr(owner, name))))
        yield


def played(source: Scene | Path, seconds: float, size: tuple[int, int] = SIZE, rests: bool = True) -> dict[str, Any]:
    """A scene's animation, played for so many seconds: rates, and CPU milliseconds of a picture and of its parts.

    rests : the view has been at rest before, as for `SAMPLES`.
    """
    with tempfile.TemporaryDirectory(prefix="raystream-bench-") as folder:
        view = CanvasView(source, size, preferences=Preferences(path=Path(folder) / "settings.toml"), spp=SAMPLES)
        try:
            view.wait()
            began = time.perf_counter()
            while not view.session.complete or (rests and not view.idle):
                view.advance(TURN)
                if time.perf_counter() - began > LONGEST:
                    break
            if rests:
                _compiled(view)
            view.perform("animation.play")
            _turns(view, WARM_UP if rests else 0.0)
            load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
            made = {"load": load, **_turns(view, seconds)}
            clock = Clock(view.device)
            with parted(clock):
                pictures = _turns(view, seconds)["pictures"]
                clock.enter(OTHER)
            made["cpu_ms_of_parts"] = {part: 1e3 * each / max(pictures, 1) for part, each in clock.seconds.items()}
            return made
        finally:
            view.release()


def _compiled(view: CanvasView) -> None:
    """Compile what a picture at rest leaves time for, unless the machine is so busy that it takes too long."""
    warmup, renderer = view.session._warmup, view.view.renderer
    assert warmup is not None and renderer is not None
    quick = warmup.quick
    if quick is not None:
        for _ in renderer.sampler.warm(quick, renderer.camera, QUICK):
            pass


def _turns(view: CanvasView, seconds: float) -> dict[str, Any]:
    """What a page would do meanwhile, and at least until there is a picture."""
    began, used, first = time.perf_counter(), time.process_time(), view.session.pictures
    seen, shown, scales = first, 0, []
    while time.perf_counter() - began < seconds or not shown:
        bitmap = view.advance(TURN)
        if view.session.pictures > seen and bitmap is not None:  # the others differ in exposure alone
            shown, seen = shown + 1, view.session.pictures
            scales.append(view.session.scale)
        if view.wait_timeout > 0:
            time.sleep(min(view.wait_timeout, POLL))
    passed, took = time.perf_counter() - began, time.process_time() - used
    pictures = view.session.pictures - first
    return {
        "seconds": passed,
        "pictures": pictures,
        "shown_per_second": shown / passed,
        "per_cpu_second": pictures / took,
        "cpu_ms": 1e3 * took / pictures,
        "cores": took / passed,
        "light": statistics.median(scales),
    }


def table(scenes: Mapping[str, Mapping[str, Any]]) -> Table:
    """What `played` has found, by scene."""
    columns = ("scene", "shown a second", "load", "cores", "CPU ms a picture", "width of light", *PARTS, OTHER)
    rows = [
        (
            name,
            *(each[key] for key in ("shown_per_second", "load", "cores", "cpu_ms", "light")),
            *each["cpu_ms_of_parts"].values(),
        )
        for name, each in scenes.items()
    ]
    note = (
        "A view without a window of {} x {}, at its own pace. Shown: bitmaps of other poses, by the clock, beside as "
        "many processes as the load says; cores: that it had on average. CPU milliseconds of all threads, the parts' "
        "in a second run that waits for the device after each. Width of light: that of the picture's."
    ).format(*SIZE)
    return Table("animations that play", columns, rows, note)
