"""What T prints, taken by its word: boxes halved and tested, weights, Fresnel's share; and how roundings grow."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from reproduction import drawings
from reproduction.sections import thesis, thesis_text
from reproduction.simulators.packets import traffic
from reproduction.simulators.whitted import formulas, loops, probes
from reproduction.simulators.whitted.back_ends import Emulation, Level, Processor
from reproduction.simulators.whitted.model import Traced
from reproduction.thesis_back_ends import SKY, prepared

from raystream.scene import builtin

SPHERE = {"Sphere": "sphere"}


def recursion(corners: np.ndarray, level: int = 0, stuck: int = 0) -> tuple[int, int, int]:
    """Nodes, one-sided splits and primitives without end of algorithm 6-1, node after node."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    if stuck == 3:
        return 0, 0, len(corners)
    own = int(stuck == 0)
    if len(corners) <= 2:
        return own + 2 * (len(corners) == 2), 0, 0
    axis = level % 3
    behind = (low + high)[:, axis] / 2 >= (low.min(axis=0) + high.max(axis=0))[axis] / 2
    if behind.all() or not behind.any():
        nodes, sides, endless = recursion(corners, level + 1, stuck + 1)
        return nodes + own, sides + 1, endless
    one, other = (recursion(each, level + 1) for each in (corners[behind], corners[~behind]))
    return own + one[0] + other[0], one[1] + other[1], one[2] + other[2]


@pytest.mark.parametrize("seed", range(4))
def test_boxes_halved_level_by_level_are_those_of_the_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(60, 3, 3)).astype(np.float32)
    corners[:20] = corners[0] + np.float32([0.01, 0.0, 0.0]) * np.arange(20)[:, None, None]  # along x
    corners[30:33] = corners[30]  # three of one place
    found = formulas.halved(corners)
    assert (found.nodes, found.one_sided, found.endless) == recursion(corners)
    assert found.one_sided > 0 and found.endless >= 3
    apart = formulas.halved(np.float32([[[x, y, z]] * 3 for x in (0, 9) for y in (0, 9) for z in (0, 9)]))
    assert (apart.nodes, apart.one_sided, apart.endless, apart.levels) == (15, 0, 0, 3)


def test_boxes_as_printed_lose_what_rays_of_negative_directions_hit() -> None:
    model = probes.small()
    rng = np.random.default_rng(3)
    targets, origins = rng.uniform(0, [8, 2, 1], (400, 3)), rng.uniform(-4, [12, 6, 6], (400, 3))
    rays = np.concatenate([origins, targets - origins], axis=1).astype(np.float32)
    whole = np.pad(rays, ((0, 0), (0, 1)), constant_values=loops.FAR)
    hit = traffic(model.structure, whole, 1)
    tested, who, faces = formulas.reached(model, rays, True, True)
    assert formulas.lost(hit.face, who, faces) == 0 and tested >= hit.boxes and (hit.face >= 0).sum() > 50
    # A leaf is reached if its own box is met, as boxes above it hold it.
    leaf = np.flatnonzero(model.links[:, 2] > 0)
    wanted = set()
    for instance, (_, first) in enumerate(model.roots):
        rows = model.instances[instance].reshape(3, 4).astype(np.float64)
        at, along = (rays[:, :3] - rows[:, 3]) @ rows[:, :3].T, rays[:, 3:] @ rows[:, :3].T
        for node in leaf:
            one, other = ((model.boxes[node, side : side + 3] - at) / along for side in (0, 3))
            near, far = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
            number = int(first) + int(model.numbers[model.links[node, 1]])
            wanted |= {(int(ray), number) for ray in np.flatnonzero((near <= far) & (far >= 0))}
    found = set(zip(who.tolist(), faces.tolist(), strict=True))
    assert wanted and len(wanted ^ found) <= 0.01 * len(wanted)
    _, who, faces = formulas.reached(model, rays, False, False)
    assert formulas.lost(hit.face, who, faces) > 0.5
    forward = (rays[:, 3:] > 0).all(axis=1)
    kept = np.where(forward, hit.face, -1)
    assert (kept >= 0).any() and formulas.lost(kept, who, faces) == 0


def levels() -> list[Level]:
    """Two eye rays; of the first come two rays, of the second of these another."""
    made: dict[str, Any] = {"rays": np.zeros(2), "missed": np.zeros(2, bool), "refracted": np.zeros(2, bool)}
    one, two = np.full((2, 3), 0.5), np.full((1, 3), 0.25)
    eye = Level(pixel=np.arange(2), parent=np.arange(2), share=2 * one, weight=2 * one, light=one, **made)
    next_ = Level(pixel=np.zeros(2, int), parent=np.zeros(2, int), share=one, weight=one, light=2 * one, **made)
    last = Level(pixel=np.zeros(1, int), parent=np.ones(1, int), share=two, weight=two / 2, light=4 * one[:1], **made)
    return [eye, next_, last]


def test_recursion_and_weights_are_one_sum() -> None:
    recursive, weighted = formulas.nested(levels())
    assert recursive.tolist() == weighted.tolist() == [[1.75] * 3, [0.5] * 3]
    assert formulas.unfinished(levels(), 0.2) == [0.5, 0.5, 0.0] and formulas.unfinished(levels(), 0.3)[1] == 0.0
    scene = prepared(builtin.build("sphere"))
    emulation = Emulation(Traced.of(scene, SKY, 3))
    recursive, weighted = formulas.nested(list(emulation.levels(scene.camera(), (12, 12))))
    assert np.abs(recursive - weighted).max() < 1e-14
    assert np.allclose(recursive, emulation.render(scene.camera(), (12, 12)).pixels.reshape(-1, 3), atol=1e-6)


def test_fresnel_and_snell() -> None:
    brewster = np.cos(np.arctan(1.5))
    normal, polarised, grazing = formulas.reflectance(np.array([1.0, brewster, 0.0]), 1.5)
    assert np.isclose(normal, 0.04) and np.isclose(polarised, ((1.5**2 - 1) / (1.5**2 + 1)) ** 2 / 2) and grazing == 1
    assert formulas.bent(np.radians(42), 1.5, inside=True) is None
    sine, cosine = formulas.bent(np.radians(30), 1.5) or (0, 0)
    assert np.isclose(sine, 1 / 3) and np.isclose(cosine, -np.sqrt(8 / 9))
    found = thesis_text.angles()
    assert max(found[each] for each in ("reflected", "into", "out", "share")) < thesis_text.BOUND
    assert found["beyond"] == found["total"] == 48  # 42 to 89 degrees
    assert formulas.counted([4, 7, 9]) == [4, 3, 2]


def test_the_drawn_tree_is_that_of_a_pixel() -> None:
    found = thesis_text.tree(16, 9)
    assert found[0]["parent"] == [0] and found[0]["weight"] == [1.0] and sum(len(each["parent"]) for each in found) > 4
    for above, below in pairwise(found):
        assert below["parent"] == sorted(below["parent"])
        sums = np.bincount(below["parent"], below["weight"], minlength=len(above["weight"]))
        assert (sums <= 1.01 * np.array(above["weight"])).all() and not sums[above["missed"]].any()
    drawn = drawings.draw_tree(found)
    assert drawn.count("<ellipse") == sum(len(each["parent"]) for each in found) == drawn.count("<path") + 1
    assert drawn.count("dasharray") == sum(sum(each["refracted"]) for each in found[1:])


def test_a_motion_leaves_the_lower_level_alone() -> None:
    found = thesis_text.rigid()
    assert found["below"] == 0 < found["above"] <= found["top"] < found["tree"]


def test_turned_rays_change_more_pixels_the_further_they_are_turned() -> None:
    scene = prepared(builtin.build("sphere"))
    processor = Processor(Traced.of(scene, SKY, 4))
    differs = np.zeros((24, 24), bool)
    none, few, many = (
        thesis.turned(processor, scene.camera(), 24, roundings, differs) for roundings in (0, 1, 1 << 18)
    )
    assert none == (0.0, 0.0, None) and few[0] < 0.01 < 0.1 < many[0] < many[1]
    _, any_run, among = thesis.turned(processor, scene.camera(), 24, 1 << 18, ~differs)
    assert among == any_run == many[1]
