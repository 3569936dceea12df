"""The sampler's events and the scene's version that it samples; pictures that are abandoned, or alternate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import meshes
import numpy as np
import pytest
from pictures import MACHINES, assert_same

import raystream
from raystream import Renderer, Scene
from raystream.base.errors import DeviceError
from raystream.renderer.device.machine_pool import MAX_MACHINES
from raystream.renderer.sampling.sampler import (
    FramePlan,
    PhotonMapBuilt,
    PhotonMapProgress,
    TileDone,
    TilePass,
    Tiling,
)

SIZE, TILE = (24, 16), (16, 8)
PHOTONS: dict[str, Any] = {"program": "photon", "photons": 256, "photon_bounces": 2, "depth": 1}


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    return Renderer("cornell", device=device, machine="multipass", depth=2)


@pytest.mark.parametrize("options", [{"program": "cast"}, {"program": "path"}, PHOTONS], ids=lambda o: o["program"])
def test_events_tell_all(renderer: Renderer, options: dict[str, Any]) -> None:
    """Shares rise to 1; every tile is under way before it is done; a photon map is complete before the first tile."""
    renderer.update(**{"depth": 2, **options})
    events = list(
        renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, SIZE, samples=2, tiling=Tiling(TILE))
        )
    )
    shares = [event.share for event in events]
    assert shares == sorted(shares) and shares[0] >= 0 and shares[-1] == 1
    pixels, under_way = np.zeros(SIZE[::-1], int), set()
    for event in events:
        if isinstance(event, TilePass):
            assert event.tile.machine.linked.counted is renderer.program()
            under_way.add((event.tile.rows.start, event.tile.columns.start))
        elif isinstance(event, TileDone):
            assert (event.tile.rows.start, event.tile.columns.start) in under_way
            pixels[event.tile.rows, event.tile.columns] += 1
    assert (pixels == (2 if options is PHOTONS and renderer.settings.estimate == "progressive" else 1)).all()
    mapped = [isinstance(event, PhotonMapProgress | PhotonMapBuilt) for event in events]
    assert any(mapped) == (options is PHOTONS)
    if options is PHOTONS:
        first = mapped.index(False)
        assert first and isinstance(events[first - 1], PhotonMapBuilt)


def test_the_version_is_of_scene_and_shaders(device: Any) -> None:
    """Options that change neither leave it; no two renderers share one; an older plan does not go on with another."""
    scene = raystream.Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    one, other = (Renderer(scene, device=device, program="cast", machine="singlepass") for _ in range(2))
    seen = [one.gpu_scene.version, other.gpu_scene.version]
    one.update(fov=20.0, program="path")
    assert one.gpu_scene.version == seen[0] != seen[1]
    events = one.sampler.render_tiles(FramePlan(one.settings, one.camera, SIZE))
    next(events)
    for change in (lambda: one.move({0: np.diag([2.0, 2.0, 2.0, 1.0])}), one.reload, lambda: one.update(scene)):
        change()
        seen.append(one.gpu_scene.version)
    assert len(set(seen)) == len(seen)
    with pytest.raises(DeviceError, match="cannot continue"):
        list(events)


def test_photons_are_of_the_scene_as_it_is(device: Any) -> None:
    renderer = Renderer("cornell", device=device, machine="singlepass", **PHOTONS)
    renderer.render(SIZE, spp=1)
    made = renderer.photon_map
    assert made.streams and made.trace_count == 1
    brighter = [replace(each, emission=tuple(2 * x for x in each.emission)) for each in renderer.scene.materials]
    renderer.update(replace(renderer.scene, materials=brighter))
    assert not made.streams  # those of before are not shown
    renderer.render(SIZE, spp=1)
    assert made.streams and made.trace_count == 2
    renderer.reload()
    assert (
        renderer.photon_map is made
        and not made.streams
        and not renderer.sampler.ready(renderer.settings, renderer.camera, TILE)
    )


@pytest.mark.parametrize("choices", MACHINES)
@pytest.mark.parametrize("counting", [False, True])
def test_a_run_that_was_abandoned_leaves_nothing_behind(scene: Scene, choices: dict[str, str], counting: bool) -> None:
    renderer = Renderer(scene, **choices, traversal="octants", program="cast")
    size, layers = (90, 70), ("depth", "triangle", "steps", "tests") if counting else ("depth", "triangle")
    whole = renderer.render(size, layers=layers)
    for progress in (0, 1, 2, 5):
        run = renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, size, layers=layers))
        for _ in range(progress + 1):
            if next(run, None) is None:
                break
        run.close()
        assert_same(whole, renderer.render(size, layers=layers))
    left = renderer.sampler.render_tiles(
        FramePlan(renderer.settings, renderer.camera, size, layers=layers)
    )  # never closed
    next(left)
    assert_same(whole, renderer.render(size, layers=layers))
    assert_same(whole, renderer.render(size, layers=layers))
    del left


def test_renderers_in_turns_and_two_contexts_at_once(scene: Scene) -> None:
    other = meshes.scene(meshes.icosphere(3).corners())
    size, layers = (80, 60), ("depth", "triangle")
    cameras = {"camera": scene.camera(aspect=size[0] / size[1])}
    renderers = [
        Renderer(scene, program="cast", **cameras),
        Renderer(other, program="cast", **cameras),
        Renderer(scene, barrier="off", program="cast", **cameras),
        Renderer(scene, memory="texture", program="cast", **cameras),
        Renderer(scene, machine="singlepass", barrier="off", memory="texture", program="cast", **cameras),
    ]
    assert renderers[0].device is renderers[1].device and renderers[0].device is not renderers[2].device
    first = [r.render(size, layers=layers) for r in renderers]
    for k in (2, 3, 4):
        assert_same(first[0], first[k])
    assert first[0].linear.tobytes() != first[1].linear.tobytes()
    for _ in range(2):
        for renderer, picture in zip(renderers, first, strict=True):
            assert_same(picture, renderer.render(size, layers=layers))
    # runs that are under way in both contexts at the same time
    runs = [r.sampler.render_tiles(FramePlan(r.settings, r.camera, size)) for r in renderers[:3]]
    ends: dict[int, np.ndarray] = {}
    while len(ends) < 3:
        for k, run in enumerate(runs):
            for event in run:
                if isinstance(event, TileDone):
                    with renderers[k].device.current():
                        ends[k] = event.tile.machine.read("radiance")["rgb"]
                break
    for k, rgb in ends.items():
        assert rgb.tobytes() == first[k].linear.tobytes()


def test_many_sizes_keep_few_machines(scene: Scene) -> None:
    renderer = Renderer(scene, program="cast")
    for edge in range(8, 24):
        renderer.render((edge, edge))
    assert len(renderer.gpu_scene.machines) <= MAX_MACHINES
    assert_same(renderer.render((8, 8)), renderer.render((8, 8)))
