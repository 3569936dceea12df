"""Whitted's tracer against a recursion in float64, and the same bits from every machine."""

from __future__ import annotations

from typing import Any

import meshes
import numpy as np
import pytest
from numpy.typing import NDArray
from shade_tree import SIZE, Oracle, Tree, mixed, piece, placed

import raystream
from raystream import Camera, Renderer, Scene
from raystream.base.errors import ViewerError
from raystream.programs.whitted import whitted_trace
from raystream.scene.light import Light
from raystream.scene.material import Material
from raystream.scene.scene import Instance

# Where the oracle's picture is another one a hundredth of a pixel away, an edge runs through the pixel's middle,
# somewhere in the tree, and float32 may see its other side.
NEAR, EDGE = 0.01, 5e-3
LARGEST_EXCLUDED = 0.03
# Of radiance around 0.1 to 5: the rounding of five hits one behind the other, each about 1e-6 of 10 units, which curved
# glass magnifies some times. The largest difference found is 2e-5.
CLOSE = 1e-4


def render(scene: Scene, device: Any, size: tuple[int, int] = SIZE, spp: int = 1, **options: Any) -> NDArray:
    given = {"program": "whitted", "machine": "singlepass", "environment": "none", "pixel_filter": "point", **options}
    return Renderer(scene, device=device, **given).render(size=size, spp=spp).linear.astype(np.float64)


def assert_close(picture: NDArray, oracle: Oracle, camera: Camera, tree: Tree, close: float = CLOSE) -> None:
    size = (picture.shape[1], picture.shape[0])
    expected, *near = (oracle.picture(camera, size, tree, off) for off in (0.0, NEAR, -NEAR))
    edge = np.max([np.abs(other - expected).max(axis=2) for other in near], axis=0) > EDGE
    assert edge.mean() <= LARGEST_EXCLUDED
    assert np.abs(picture - expected)[~edge].max() <= close


@pytest.fixture(scope="module")
def scene() -> Scene:
    return mixed()


@pytest.fixture(scope="module")
def oracle(scene) -> Oracle:
    return Oracle(scene)


@pytest.mark.parametrize("machine", ["singlepass", "multipass"])
def test_is_the_recursion(scene, oracle, machine, device):
    picture = render(scene, device, machine=machine)  # depth 4 without being asked
    assert picture.max() > 0.3
    assert_close(picture, oracle, scene.camera(), Tree(4))


@pytest.mark.parametrize("depth", [0, 2, 7])  # others: below
def test_every_depth_is_the_recursion_s(scene, oracle, depth, device):
    assert_close(render(scene, device, (40, 30), depth=depth), oracle, scene.camera(), Tree(depth))


def test_an_even_environment_is_ambient_light(scene, device):
    """Unshadowed, of every matte and Phong surface the share that it reflects; nothing of it is random."""
    sky = (0.2, 0.3, 0.5)
    picture = render(scene, device, (40, 30), environment=sky)
    assert_close(picture, Oracle(scene, sky), scene.camera(), Tree(4))


@pytest.mark.parametrize("off", ["shadows", "reflections", "refractions"])
def test_switches(scene, oracle, off, device):
    picture = render(scene, device, (40, 30), **{off: "off"})
    assert_close(picture, oracle, scene.camera(), Tree(4, **{off: False}))
    assert np.abs(picture - render(scene, device, (40, 30))).max() > 0.01  # it makes a difference


def test_rays_of_little_weight_are_left_out(scene, oracle, device):
    """A. V. Adinetz, S. B. Berezin (2006), section 2: no ray is traced below a least intensity. Polished surfaces give
    1 / 4 here, and so nothing behind one in another; glass its reflections off facing surfaces."""
    least, tree = 0.1, Tree(4, min_intensity=0.1)
    picture = render(scene, device, (40, 30), min_intensity=least)
    assert_close(picture, oracle, scene.camera(), tree)
    whole = render(scene, device, (40, 30))
    lost = (whole - picture).max(axis=2)
    expected = (oracle.picture(scene.camera(), (40, 30), Tree(4)) - oracle.picture(scene.camera(), (40, 30), tree)).max(
        2
    )
    nothing = expected == 0
    assert 0.2 < nothing.mean() < 0.95 and (lost >= 0).all()
    assert (lost[nothing] == 0).mean() > 1 - LARGEST_EXCLUDED  # the same bits where no ray is left out
    assert lost.max() > 0.01
    # What is left out is dim: each ray of at most that weight carries no more than the brightest radiance.
    assert lost.max() <= 4 * least * whole.max()


def test_both_children_of_glass_see_the_surroundings(device):
    """Without a light, what comes back is the sky's, over all branches: never more than that, and with depth nearly
    all."""
    ball = meshes.icosphere(2)
    glass = Material("glass", (1.0, 1.0, 1.0, 1.0), kind="dielectric", ior=1.6)
    scene = Scene(
        [piece(ball.points, ball.faces, 0, "ball", round_=True)],
        [Instance(0, placed(1.0))],
        [glass],
        [Camera((0, 0.3, 4), (0, 0, 0), fov=36)],
    )
    sky, seen = (0.2, 0.5, 1.0), []
    for depth in (1, 4, 8):
        picture = render(scene, device, (48, 48), environment=sky, depth=depth)
        # Each of the facets, whose normals are curved, adds to the rounding of the ray before it and magnifies it.
        assert_close(picture, Oracle(scene, sky), scene.camera(), Tree(depth), depth * CLOSE)
        seen.append(picture.mean(axis=(0, 1)) / sky)
    assert (np.diff(seen, axis=0) >= -1e-6).all() and (seen[-1] <= 1 + 1e-6).all()
    assert (seen[-1] > 0.995).all()  # after 8 surfaces next to nothing is left inside


RUNS = {
    "single pass": {"machine": "singlepass"},
    "fused": {"fuse": "ray"},
    "naive": {"fuse": "ray", "policy": "naive"},
    "most work": {"fuse": "ray", "policy": "most-work", "mask": "kill"},
    "every kernel": {"fuse": "none", "policy": "threshold=0.2", "unroll": "4,2", "mask": "tiles"},
}


def test_the_same_bits_from_every_machine(device):
    """With soft shadows, two samples through each pixel, and a sun in the sky."""
    scene = mixed()
    scene.materials.append(Material("shine", emission=(8.0, 7.0, 6.0)))
    scene.meshes.append(piece([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [(0, 1, 2)], 4, "panel"))  # it shines down
    scene.instances.append(Instance(len(scene.meshes) - 1, placed(1.5, (-1, 3, 1)), name="panel"))
    common = {"environment": "sky", "pixel_filter": "box", "depth": 2}
    pictures = {
        name: render(scene, device, (17, 19), 2, **{"machine": "multipass", **options, **common})
        for name, options in RUNS.items()
    }
    first = pictures.pop("single pass")
    assert first.min() >= 0 and first.max() > 1
    for name, picture in pictures.items():
        assert np.array_equal(picture, first), name


@pytest.mark.parametrize("accel", ["two-level-bvh", "two-level-grid"])
def test_two_levels_are_one(scene, oracle, accel, device):
    """Instances under a structure of two levels: the same tree, but for the rounding of the maps to their spaces."""
    assert_close(render(scene, device, (40, 30), accel=accel), oracle, scene.camera(), Tree(4))


def test_soft_shadows_and_all_lights_are_unbiased(device):
    """At depth 1 all that shines lights matte surfaces alike, whether every light is asked or one is chosen by power:
    emitters of unequal size and radiance. Blocks of 8 x 8 pixels against path tracing, by the standard errors of
    both."""
    scene = raystream.load("cornell")
    scene.lights.append(Light("point", "lamp", (150, 300, 80), intensity=(9e4, 8e4, 7e4)))
    scene.materials.append(Material("shine", emission=(5.0, 20.0, 40.0)))
    low = [(20, 60, 100), (20, 60, 300), (20, 220, 150)]  # on the wall at x = 0, low and to the room
    scene.meshes.append(piece(low, [(0, 2, 1)], len(scene.materials) - 1, "panel"))
    scene.instances.append(Instance(len(scene.meshes) - 1, placed(), name="panel"))
    options: dict[str, Any] = {"depth": 1, "sampler": "independent", "environment": "none"}

    def blocks(values: NDArray) -> NDArray:
        return values.reshape(4, 8, 4, 8).mean(axis=(1, 3))

    means, errors = [], []
    for seed, program in ((1, "whitted"), (2, "path")):
        renderer = Renderer(scene, device=device, machine="singlepass", seed=seed, program=program, **options)
        film = renderer.render(size=(32, 32), spp=256).film
        means.append(blocks(film.mean().astype(np.float64) @ [0.2126, 0.7152, 0.0722]))
        errors.append(blocks(film.variance()) / 64)
    z = (means[0] - means[1]) / np.sqrt(errors[0] + errors[1])
    assert np.abs(z).max() < 4.5  # one in 10,000 pictures of 16 blocks
    assert (z**2).sum() < 45  # chi-square of 16 degrees of freedom: p = 1e-4


def test_another_depth_in_use(scene, device):
    """A renderer follows another depth, another program and the switches without being made again."""
    renderer = Renderer(scene, device=device, program="whitted", machine="singlepass", environment="none")
    fresh = {
        depth: Renderer(scene, device=device, program="whitted", machine="singlepass", environment="none", depth=depth)
        .render(size=(24, 18), spp=1)
        .linear
        for depth in (1, 6)
    }
    for depth in (6, 1, 6):
        renderer.update(depth=depth)
        assert np.array_equal(renderer.render(size=(24, 18), spp=1).linear, fresh[depth])
    compiled = device.compiled
    renderer.update(shadows=False)
    bright = renderer.render(size=(24, 18), spp=1).linear
    assert device.compiled == compiled and (bright >= fresh[6] - 1e-6).all() and bright.sum() > fresh[6].sum()


def test_counted(scene, device):
    """All passes with their counters keep within 8 attachments; no ray of the tree gets lost or is walked twice."""
    renderer = Renderer(
        scene, device=device, program="whitted", fuse="none", environment="none", pixel_filter="point", depth=3
    )
    stats = renderer.render(size=(24, 18), spp=1, stats=True).stats
    calls = {state: total.calls for state, total in stats.kernels.items()}
    pushed = sum(calls[f"push_{level}"] for level in range(3))
    popped = sum(calls[f"pop_{level}"] for level in range(3))
    assert pushed == popped > 0
    assert calls["begin"] == calls["root"] == calls["finish"] == 24 * 18
    followed = calls["arrive"] - calls["root"] - popped
    assert 0 < followed <= calls["reflect"]
    assert calls["next"] == calls["finish"] + popped
    assert calls["resolve"] <= calls["light"]


@pytest.mark.parametrize("depth", [0, 1, 4, 13])
def test_as_many_levels_as_the_depth(depth):
    streams = whitted_trace(depth=depth).streams
    assert [name for name in streams if name.startswith("pending_")] == [f"pending_{k}" for k in range(max(1, depth))]


@pytest.mark.parametrize("depth", [33, 1024])
def test_too_deep(scene, depth, device):
    with pytest.raises(ViewerError, match="Whitted's tracer goes to 32"):
        render(scene, device, depth=depth)
