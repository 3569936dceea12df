"""Pictures that are abandoned, alternate with others, or are traced in between: none disturbs another."""

from __future__ import annotations

import meshes
import numpy as np
import pytest
from pictures import MACHINES, assert_same

from raystream import Renderer, Scene
from raystream.renderer.device.machine_pool import MAX_MACHINES
from raystream.renderer.sampling.sampler import FramePlan, TileDone


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


def test_tracing_in_the_middle_of_a_picture_disturbs_neither(scene: Scene) -> None:
    size = (64, 48)
    camera = scene.camera(aspect=size[0] / size[1])  # which pictures of that size have by default, too
    renderer = Renderer(scene, fuse="none", unroll=1, program="cast", camera=camera)
    origins, directions = (a.reshape(-1, 3) for a in renderer.camera.rays(*size))
    whole, hits = renderer.render(size, layers=("triangle",)), renderer.trace(origins, directions)
    found = None
    for k, event in enumerate(renderer.sampler.render_tiles(FramePlan(renderer.settings, renderer.camera, size))):
        if k in (1, 3):
            again = renderer.trace(origins, directions)
            assert all(np.array_equal(a, b) for a, b in zip(hits, again, strict=True))
        if isinstance(event, TileDone):
            with renderer.device.current():
                found = event.tile.machine.read("radiance")["rgb"]
    assert found is not None and found.tobytes() == whole.linear.tobytes()
    # rays through pixels, rounded on the host: the same triangles but at edges
    assert (hits.triangle != whole.layers["triangle"].ravel()).mean() < 1e-3


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


def test_many_sizes_keep_few_machines(renderer: Renderer) -> None:
    for edge in range(8, 24):
        renderer.render((edge, edge))
    assert len(renderer.gpu_scene.machines) <= MAX_MACHINES
    assert_same(renderer.render((8, 8)), renderer.render((8, 8)))
