"""Sessions and debug views with photon maps, and of what compiles meanwhile."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer
from raystream.film.device_film import FilmBuffer
from raystream.film.error import Stop
from raystream.renderer.device import machine_pool
from raystream.renderer.photon_map import MIN_PHOTONS
from raystream.renderer.preview.scheduler import MIN_ROWS, TileRows
from raystream.renderer.sampling.sampler import Event, FramePlan, PhotonMapBuilt, PhotonMapProgress
from raystream.renderer.session.session import Session
from raystream.scene.edits.movable import with_light_at
from raystream.scene.light import Light
from raystream.viewport.debug_views.inspector import Inspector
from raystream.viewport.debug_views.probe import probe
from tests.renderer.test_session import Paper


def two_walls() -> raystream.Scene:
    """That meet at a right angle, so that photons come to a second surface, with a lamp."""
    scene = raystream.Scene.from_triangles([[-1, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3]])
    scene.lights = [Light("point", "lamp", (0.0, 0.5, 0.5))]
    return scene


def test_machines_given_back_are_made_again(device: Any, monkeypatch) -> None:
    """A window with photons never showed its picture again: a machine that had traced them was given back to make room
    for another, and as the map itself was still there, warming made no new one; it was waited for without end."""
    scene = two_walls()
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "depth": 1}
    renderer = Renderer(scene, device=device, camera="0,1,1 0,0.3,0.3", environment="none", photon_bounces=2, **options)
    session = Session(renderer, (8, 6), Stop(1), screen=Paper())
    session.finish()
    held = len(renderer.gpu_scene.machines)
    monkeypatch.setattr(machine_pool, "MAX_MACHINES", held)
    renderer.trace([[0, 1, 1]], [[0, 0, -1]])  # one more: the oldest goes
    assert len(renderer.gpu_scene.machines) == held and not renderer.sampler.ready(
        renderer.settings, renderer.camera, (256, 128)
    )
    session.restart()
    for _ in range(500):
        if session.idle:
            break
        session.advance(0.0)
    assert session.converged and session.samples == 1
    session.release()
    renderer.release()


def test_every_move_shows_a_picture_and_compiles_nothing(device: Any) -> None:
    """Nothing was seen of a light that was dragged under photon mapping: after each of its moves the photons' kernels
    were taken for kernels to compile, and all photons were traced to warm them; the next move began that anew."""
    scene = two_walls()
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 4 * MIN_PHOTONS, "depth": 1}
    renderer = Renderer(scene, device=device, camera="0,1,1 0,0.3,0.3", environment="none", photon_bounces=2, **options)
    session = Session(renderer, (8, 6), screen=Paper())
    while not session.idle:
        session.advance(1e-3)
    maps = renderer.photon_map
    for step in range(3):
        compiled, pictures, traced = device.compiled, session.pictures, maps.trace_count
        session.update(with_light_at(renderer.scene, "lamp", (0.0, 0.5, 0.6 + 0.1 * step)))
        while session.pictures == pictures:
            session.advance(1e-3, moving=True)
            assert not session.compiling
        assert device.compiled == compiled and maps.trace_count == traced + 1
    session.release()
    renderer.release()


def test_a_moving_camera_lets_it_go_on(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While shaders were compiled, a camera that moved began it anew in every turn, and it never came to its end."""
    renderer = Renderer(raystream.load("cornell"), device=device, machine="multipass", fuse="ray", program="cast")
    begun = []
    warm = renderer.sampler.warm
    monkeypatch.setattr(renderer.sampler, "warm", lambda *arguments: begun.append(arguments) or warm(*arguments))
    session = Session(renderer, (8, 6), screen=Paper())
    for step in range(100):
        session.advance(1e-3)
        if begun and not session.compiling:
            break
        session.update(camera=f"{278 + step},273,-800 278,273,0")
    assert len(begun) == 1 and not session.compiling
    session.release()


def test_a_map_is_no_piece(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever its steps take, the rows of the next piece are chosen by what the pieces take."""
    events: list[Event] = []
    noted: list[Event] = []

    class Watched(TileRows):
        def note(self, seconds: float) -> None:
            noted.append(events[-1])
            super().note(seconds)

    renderer = Renderer(
        raystream.load("cornell"), device=device, program="photon", machine="singlepass", photons=64, photon_bounces=1
    )
    render_tiles = renderer.sampler.render_tiles

    def watched(plan: FramePlan, film: FilmBuffer | None = None) -> Generator[Event, None, None]:
        for event in render_tiles(plan, film):
            events.append(event)
            yield event

    monkeypatch.setattr(renderer.sampler, "render_tiles", watched)
    session = Session(renderer, (8, 6))
    session.scheduler.tile_rows = Watched(MIN_ROWS)
    session.finish()
    session.release()
    mapped = [event for event in events if isinstance(event, PhotonMapProgress | PhotonMapBuilt)]
    assert renderer.photon_map.trace_count == 1 and len(mapped) > 1 and isinstance(mapped[-1], PhotonMapBuilt)
    assert session.steps > len(noted) > 0 and not any(
        isinstance(event, PhotonMapProgress | PhotonMapBuilt) for event in noted
    )


SIZE = (8, 4)  # powers of two, as of the probe's one ray: llvmpipe compiles for these apart


# Both gather: most of their kernels are the same, and compiled once.
CHANGES: tuple[dict[str, Any], ...] = ({"final_gather": 1}, {"photon_map": "stencil"})


@pytest.fixture(scope="module")
def gathering(device: Any) -> Renderer:
    """Of two walls that meet at a right angle, so that photons come to a second surface."""
    scene = two_walls()
    options: dict[str, Any] = {"program": "photon", "machine": "singlepass", "photons": 64, "photon_bounces": 2}
    options |= {"estimate": "nearest", "nearest": 4, "photon_grid": "2x2x2", "photon_radius": 1}
    options |= {"environment": "none", "pixel_filter": "point", "depth": 1, "camera": "0,1,1 0,0.3,0.3"}
    return Renderer(scene, device=device, **options)


def test_each_runs_over_the_map_that_there_is(gathering: Renderer) -> None:
    """Inspector and probe kept their machine by the program's name: over a map of another kind, or with a final
    gather, they ran the search over the streams of the map before, or none."""
    inspector = Inspector(gathering, SIZE)
    for change in CHANGES:
        gathering.update(**change)
        linear = gathering.render(SIZE, spp=1).linear
        inspector.begin(gathering.camera)
        assert inspector.run_to_end()
        np.testing.assert_array_equal(inspector.values("film.sum")[0], linear)
        y, x = np.argwhere(linear.any(axis=-1))[0]
        found = probe(gathering, gathering.camera, SIZE, (int(x), int(y)))
        assert found.complete
        np.testing.assert_array_equal(found.results["film"]["sum"], linear[y, x])
    inspector.release()


OTHER = 12, 9


@pytest.mark.parametrize(
    "options",
    [
        {"light_candidates": 1},
        {"light_candidates": 2},
        {"light_candidates": 3, "depth": 2, "strategy": "lights", "seed": 5, "light_sampler": "power"},
        {"clamp": 0.5, "roulette": 1},
    ],
    ids=str,
)
def test_the_inspector_makes_the_renderer_s_picture(options: dict[str, Any]) -> None:
    """The inspector showed another picture than the renderer: debug views left `light_candidates`, which only the
    sampler set, at a module's default."""
    renderer = raystream.Renderer("balls", program="path", **options)
    inspector = Inspector(renderer, size=OTHER)
    inspector.begin(renderer.camera)
    inspector.run_to_end()
    shown = inspector.values("film.sum")[0]
    expected = renderer.render(size=OTHER, spp=1).linear
    inspector.release()
    renderer.release()
    assert shown.any()
    np.testing.assert_array_equal(shown, expected)
