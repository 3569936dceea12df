"""The code in a worker's process: a scene, one renderer on one OpenGL context, and units of work."""

from __future__ import annotations

import pickle
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raystream.base.version import __version__
from raystream.dataset.picture import DatasetRenderer, FinishedPicture
from raystream.farm.units import Build, Unit, source_digest
from raystream.film.film import Film
from raystream.renderer.inputs.settings import Settings
from raystream.renderer.renderer import Renderer
from raystream.renderer.sampling.partial_film import FilmPart, film_of_part
from raystream.renderer.sequence import Frame, FrameSequence
from raystream.scene.camera import Camera
from raystream.scene.environment import ImageEnvironment
from raystream.scene.scene import Scene
from raystream.stream.gl.device import shared_device
from raystream.stream.machines.counters import Stats

MAX_SCENES = 2  # that a worker keeps


class SceneLost(Exception):
    """The process was restarted since it received the scene."""


@dataclass(frozen=True)
class RendererSpec:
    """A worker's renderer. scene : digest of the content, which includes an environment's picture: the settings, sent
    with every unit, do not. camera : replaces the settings' own."""

    scene: str
    settings: Settings
    camera: Camera | None = None


@dataclass
class Traced:
    """A unit's film, its duration in seconds, that of making the renderer within it, and its counters."""

    film: Film
    seconds: float
    preparing: float
    stats: Stats


@dataclass
class _Process:
    """State of the process between units."""

    scenes: OrderedDict[str, tuple[Any, ImageEnvironment | None]] = field(default_factory=OrderedDict)
    renderer: Renderer | None = None
    spec: RendererSpec | None = None
    staged: Scene | None = None  # of the current frames, from `FrameSequence.staged`
    dataset_renderer: tuple[str, DatasetRenderer] | None = None  # of a dataset's pictures, by the digest of its stage


_PROCESS = _Process()


def build() -> Build:
    """This worker's build."""
    return Build(__version__, source_digest(), shared_device().driver)


def store_payload(digest: str, payload: NDArray[np.uint8]) -> None:
    """Store a pickled scene with its environment, or a dataset's stage, under the digest of their content."""
    scenes = _PROCESS.scenes
    if digest not in scenes:
        scenes[digest] = pickle.loads(payload.tobytes())
    scenes.move_to_end(digest)
    while len(scenes) > MAX_SCENES:
        scenes.popitem(last=False)


def trace(spec: RendererSpec, size: tuple[int, int], unit: Unit) -> Traced:
    """Render the film of a unit of a picture of ``size`` (width, height). Raises SceneLost, and errors of
    `Renderer`."""
    began, stats = time.perf_counter(), Stats()
    renderer = _renderer(spec)
    preparing = time.perf_counter() - began
    part = FilmPart(size, unit.samples, unit.region, unit.first)
    film = film_of_part(renderer, part, unit.film, stats=stats)
    return Traced(film, time.perf_counter() - began, preparing, stats)


def frame(spec: RendererSpec, motion: FrameSequence, render: dict[str, Any], k: int, with_film: bool) -> Frame:
    """Render the k-th frame of an animated scene. with_film : keep a progressive program's film, for .exr."""
    (scene, settings), process = _scene_and_settings(spec), _PROCESS
    if process.staged is None or process.spec != spec:
        _release_renderers()
        process.spec, process.staged = spec, motion.staged(scene)
    process.renderer = motion.show(process.staged, k, process.renderer, settings)
    finished = motion.frame(k, process.renderer.render(**render))
    if not with_film:
        finished.picture.film = None
    return finished


def dataset_picture(digest: str, index: int) -> FinishedPicture:
    """Render a picture of a dataset. digest : of its stage, sent before. Raises SceneLost, and errors of `Renderer`."""
    process = _PROCESS
    if process.dataset_renderer is None or process.dataset_renderer[0] != digest:
        _release_renderers()
        try:
            process.dataset_renderer = digest, DatasetRenderer(process.scenes[digest][0])
        except KeyError:
            raise SceneLost(digest) from None
    return process.dataset_renderer[1].render(index)


def _scene_and_settings(spec: RendererSpec) -> tuple[Scene, Settings]:
    """The scene of a spec, and the settings with its environment."""
    try:
        scene, environment = _PROCESS.scenes[spec.scene]
    except KeyError:
        raise SceneLost(spec.scene) from None
    return scene, spec.settings if environment is None else spec.settings.replace(environment=environment)


def _renderer(spec: RendererSpec) -> Renderer:
    """The renderer of a spec: the present one if it is of the same, else a new one."""
    process, (scene, settings) = _PROCESS, _scene_and_settings(spec)
    if process.renderer is not None and process.spec == spec and process.staged is None:
        return process.renderer
    _release_renderers()
    process.renderer = Renderer(scene, settings)
    if spec.camera is not None:
        process.renderer.update(camera=spec.camera)
    process.spec = spec
    return process.renderer


def _release_renderers() -> None:
    if _PROCESS.renderer is not None:
        _PROCESS.renderer.release()
    if _PROCESS.dataset_renderer is not None:
        _PROCESS.dataset_renderer[1].release()
    _PROCESS.renderer = _PROCESS.spec = _PROCESS.staged = _PROCESS.dataset_renderer = None
