"""The inspector: what it shows of every pass is what the machines count and leave."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Camera, Renderer
from raystream.base.errors import ViewerError
from raystream.renderer.sampling.picture import COUNTER_LAYERS
from raystream.viewport.debug_views.debug_views import Heat
from raystream.viewport.debug_views.false_color import DONE, NONE
from raystream.viewport.debug_views.inspector import Inspector

SIZE = (64, 36)


@pytest.fixture(scope="module")
def renderer(device: Any) -> Renderer:
    """It draws with another machine than the one that is inspected; its picture goes beyond the scene's box."""
    camera = Camera((0, 14, 26), (0, 2, 0), fov=45)
    return Renderer(
        raystream.load("teapotahedron"),
        device=device,
        machine="singlepass",
        camera=camera,
        accel="grid",
        program="cast",
    )


@pytest.fixture(scope="module")
def finished(renderer: Renderer) -> Inspector:
    inspector = Inspector(renderer, SIZE)
    inspector.begin(renderer.camera)
    assert inspector.run_to_end() and inspector.complete
    return inspector


@pytest.fixture(scope="module")
def layers(renderer: Renderer) -> dict[str, np.ndarray]:
    picture = renderer.render(SIZE, layers=("steps", "tests", "triangle", "depth"))
    return {"linear": picture.linear, **picture.layers}


def test_the_run_ends_with_the_picture_of_every_other_machine(finished: Inspector, layers: dict) -> None:
    for name, layer in (("steps", "steps"), ("tests", "tests"), ("hit.triangle", "triangle")):
        values, valid = finished.values(name)
        assert valid.all() and np.array_equal(values, layers[layer]), name
    t, _ = finished.values("hit.t")
    hit = layers["triangle"] >= 0
    assert 0.1 < hit.mean() < 0.9 and t[hit].tobytes() == layers["depth"][hit].tobytes()
    assert finished.values("radiance.rgb")[0].tobytes() == layers["linear"].tobytes()


def test_passes_are_those_that_the_policy_chose(finished: Inspector) -> None:
    rays = SIZE[0] * SIZE[1]
    done = 0
    for number, served in enumerate(finished.passes, 1):
        assert served.number == number and served.active == served.calls == served.waiting[served.state]
        assert rays - sum(served.waiting.values()) >= done
        done = rays - sum(served.waiting.values())
        traversal = served.waiting["traverse"] + served.waiting["intersect"]
        if served.state == "intersect":  # threshold 20 % of the rays in the loop, or nobody walks
            assert served.active >= 0.2 * traversal or served.waiting["traverse"] == 0
    assert finished.passes[0].kernel == "eye_ray" and finished.passes[-1].kernel == "shade_headlight"
    assert finished.active == 0 and finished.waiting["done"] == rays


@pytest.mark.parametrize(("policy", "unroll"), [("sweep", 1), ("most-work", (4, 2)), ("threshold=0.5,all", "auto")])
def test_a_step_is_one_pass_under_every_policy(renderer: Renderer, layers: dict, policy: str, unroll: Any) -> None:
    inspector = Inspector(renderer, SIZE, policy, unroll)
    inspector.begin(renderer.camera)
    while inspector.step():
        assert inspector.machine.stats.kernel_passes == len(inspector.passes)
    assert not inspector.step()
    assert inspector.complete and np.array_equal(inspector.values("tests")[0], layers["tests"])
    inspector.release()


def test_single_steps_change_the_picture_of_states(renderer: Renderer, finished: Inspector) -> None:
    inspector = Inspector(renderer, SIZE)
    inspector.begin(renderer.camera)
    colors = inspector.colors
    assert (inspector.show("state").picture == colors["eye"]).all() and not inspector.passes
    assert (inspector.show("traversal.voxel").picture == NONE).all() and not inspector.passes
    assert inspector.step() and inspector.passes[0].state == "eye"
    seen = {tuple(color) for color in inspector.show("state").picture.reshape(-1, 3).tolist()}
    assert seen == {colors["setup"]}
    assert (inspector.show("traversal.voxel").picture == NONE).all()  # it holds what the last run left, not this one
    assert inspector.step()
    seen = {tuple(color) for color in inspector.show("state").picture.reshape(-1, 3).tolist()}
    assert seen == {colors["traverse"], colors["shade"]}  # rays on the box, and those beside it
    for _ in range(12):
        assert inspector.step()
    picture, states = inspector.show("state").picture, inspector.values("state")[0]
    for label in inspector.show("state").legend.labels:
        number = 0 if label.text == "done" else inspector.machine.linked.program.number(label.text)
        assert (picture[states == number] == label.color).all()
        assert inspector.waiting[label.text] == (states == number).sum()
    assert dict(zip(("done", *colors), (DONE, *colors.values()), strict=True)) == {
        label.text: label.color for label in inspector.show("state").legend.labels
    }


def test_what_no_kernel_wrote_is_dark(renderer: Renderer, finished: Inspector) -> None:
    inspector = Inspector(renderer, SIZE)
    inspector.begin(renderer.camera)
    for written in (False, True):  # by the second pass, which enters the grid
        assert inspector.step()
        for name in ("traversal.voxel", "traversal.t_exit", "setup.by.x"):
            _, valid = inspector.values(name)
            assert (valid == written).all(), name
            assert written or (inspector.show(name).picture == NONE).all(), name
        _, valid = inspector.values("ray.direction")
        assert valid.all()
    missed = finished.values("hit.triangle")[0] < 0
    assert np.array_equal((finished.show("hit.triangle").picture == NONE).all(axis=-1), missed)
    assert np.array_equal((finished.show("hit.t").picture == NONE).all(axis=-1), missed)


def test_faults_are_told_in_a_line(renderer: Renderer, finished: Inspector) -> None:
    with pytest.raises(ViewerError, match="begin one"):
        Inspector(renderer).step()
    with pytest.raises(ViewerError, match=r"did you mean 'hit\.t'"):
        finished.show("hitt")
    with pytest.raises(ViewerError, match=r"^policy"):
        Inspector(renderer, policy="greedy")


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_the_heat_map_shows_the_counts_of_the_picture(renderer: Renderer, machine: str) -> None:
    size = (300, 150)  # four tiles, three of them partly beside the picture
    camera = Camera.framing(renderer.scene.bounds(), fov=20)
    other = Renderer(
        renderer.scene, device=renderer.device, machine=machine, camera=camera, accel="grid", program="cast"
    )
    counts = other.render(size, layers=tuple(COUNTER_LAYERS)).layers
    other.update(camera=renderer.camera)
    for what in COUNTER_LAYERS:
        whole = Heat(other, camera, size, what)
        assert not whole.advance(0.0) and (whole.show().picture[-1, -1] == NONE).all()
        assert other.camera is renderer.camera
        assert whole.advance() and whole.complete and np.array_equal(whole.counts, counts[what])
    whole = Heat(other, camera, size, "steps")
    whole.advance()
    whole.limit = None  # its own counts set it
    picture, legend = whole.show().picture, whole.show().legend
    (ramp,) = legend.ramps
    assert picture.shape == (150, 300, 3) and (ramp.low, ramp.high) == (0, counts["steps"].max())
    hottest = picture[counts["steps"] == counts["steps"].max()]
    assert (hottest == ramp.colors[-1]).all()
    with pytest.raises(ViewerError, match="steps, tests"):
        Heat(other, camera, size, "depth")
