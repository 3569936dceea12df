"""One eye ray of a pixel, whose hit all of its samples share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream import Renderer

SIZE, SPP = (16, 12), 4
MACHINES = {
    "single pass": {"machine": "singlepass"},
    "every kernel": {"machine": "multipass", "fuse": "none", "policy": "threshold=0.2", "unroll": 1},
}


def render(device: Any, stats: bool = False, scene: str = "cornell", **options: Any) -> Any:
    renderer = Renderer(raystream.load(scene), device=device, **options)
    return renderer, renderer.render(SIZE, SPP, layers=("normal", "depth"), stats=stats)


@pytest.mark.parametrize(
    ("machine", "first_hits"), [("single pass", "rays"), ("single pass", "raster"), ("every kernel", "rays")]
)
def test_the_bits_of_samples_at_the_centre_from_one_eye_ray(device, machine: str, first_hits: str) -> None:
    options = {"depth": 2, **MACHINES[machine]}
    counted = machine == "single pass"  # whose programs are few: each has another one that counts
    _, each = render(device, stats=counted, pixel_filter="point", **options)
    renderer, shared = render(device, stats=counted, eye_rays="shared", first_hits=first_hits, **options)
    assert renderer.gpu_scene.first_hits(renderer.settings, renderer.camera).mode == (
        "raster" if first_hits == "raster" else "shared"
    )
    assert np.array_equal(shared.linear, each.linear) and each.linear.max() > 0
    for name, layer in each.layers.items():
        assert np.array_equal(shared.layers[name], layer), name
    if not counted:
        return
    pixels = SIZE[0] * SIZE[1]
    calls = {name: total.calls for name, total in shared.stats.kernels.items()}
    before = {name: total.calls for name, total in each.stats.kernels.items()}
    assert calls["begin"] == before["begin"] == SPP * pixels
    # The walks of all samples but the first are spared, and where triangles are drawn that too.
    traced = 0 if first_hits == "raster" else 1
    assert calls.get("eye", 0) == traced * pixels
    assert before["setup"] - calls["setup"] == (SPP - traced) * pixels


PUBLISHED_MACHINE = {"program": "cast", "accel": "grid", "machine": "multipass", "fuse": "none", "count": "query"}


@pytest.mark.parametrize("mask", ["depth", "stencil", "kill", "none"])
@pytest.mark.parametrize("traversal", ["dda", "adinetz"])
def test_eye_rays_that_miss_the_scene_s_box_end_there(device, mask: str, traversal: str) -> None:
    """Purcell 2004, section 3.3.1. The bits are those of set-ups that test the box, which fused passes have."""
    options = {**PUBLISHED_MACHINE, "mask": mask, "traversal": traversal, "scene": "teapotahedron", "fov": 75.0}
    renderer, found = render(device, stats=mask == "depth", **options)
    states = [state.kernel.name for state in renderer.program().states]
    assert states[:2] == ["eye_ray_to_box", "traversal_setup_in_box"]
    fused, expected = render(device, **{**options, "fuse": "ray"})
    assert [state.kernel.name for state in fused.program().states][:2] == ["eye_ray", "traversal_setup"]
    assert found.linear.tobytes() == expected.linear.tobytes() and found.linear.max() > 0
    for name, layer in expected.layers.items():
        assert found.layers[name].tobytes() == layer.tobytes(), name
    if mask == "depth":
        steps = [each.render(SIZE, 1, layers=("steps",)).layers["steps"] for each in (renderer, fused)]
        assert np.array_equal(*steps) and steps[0].max() > 3  # from the voxel where a ray enters
        calls = {name: total.calls for name, total in found.stats.kernels.items()}
        assert calls["eye"] == calls["shade"] == SIZE[0] * SIZE[1]
        assert (found.layers["depth"] < np.inf).sum() <= calls["setup"] < 0.9 * calls["eye"]


def test_hits_are_found_anew_for_another_view_and_scene(device) -> None:
    options = {"machine": "singlepass", "accel": "two-level-bvh", "depth": 1}
    scene = raystream.load("cornell")
    renderer = Renderer(scene, device=device, eye_rays="shared", **options)
    plain = Renderer(scene, device=device, pixel_filter="point", **options)
    number = [each.name for each in scene.instances].index("tall_block")
    lifted = np.eye(4)
    lifted[1, 3] = 40.0
    moves = ({}, {"fov": 20.0}, {"aperture": 30.0}, None)
    pictures = []
    for change in moves:
        for each in (renderer, plain):
            if change is None:
                each.move({number: lifted})
            elif "aperture" not in change or each is renderer:
                each.update(**change)
        pictures.append(renderer.render(SIZE, 2).linear)
        assert np.array_equal(pictures[-1], plain.render(SIZE, 2).linear)
        assert any("--aperture" in note for note in renderer.notes) == (renderer.settings.aperture is not None)
    assert not np.array_equal(pictures[0], pictures[1]) and not np.array_equal(pictures[2], pictures[3])
    assert np.array_equal(pictures[1], pictures[2])  # a lens has no effect, and a note says so
