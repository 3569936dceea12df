"""Pictures: layers against NumPy, sizes and cuts, counts, arrays, awkward scenes, and what is refused."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import exact
import numpy as np
import pytest
from pictures import MACHINES, assert_same
from PIL import Image

import raystream
from raystream import Renderer, Scene, ViewerError
from raystream.cameras.lens import BACKGROUND
from raystream.film.layers import LAYERS
from raystream.film.tonemap import srgb8
from raystream.renderer.render import framed
from raystream.renderer.sampling import picture_metadata
from raystream.renderer.sampling.picture import Picture
from raystream.renderer.sampling.sampler import FramePlan, TileDone, Tiling
from raystream.stream.machines.counters import Stats

EVERY = ("all", "steps", "tests")  # layers of the ray caster

# --- layers


def test_layers_against_numpy(scene: Scene, renderer: Renderer) -> None:
    size = (160, 120)
    picture = renderer.render(size, layers="depth,normal,albedo,triangle")
    assert list(picture.layers) == ["depth", "normal", "albedo", "triangle"]
    for name, layer in picture.layers.items():
        assert layer.shape[:2] == (120, 160) and layer.dtype == LAYERS[name].dtype
    flat = renderer.prepared.triangles
    corners = flat.corners()
    with framed(renderer, size):
        origins, directions = (a.reshape(-1, 3) for a in renderer.camera.rays(*size))
    depth, triangle = picture.layers["depth"].ravel(), picture.layers["triangle"].ravel()
    verdict = exact.judge(corners, origins, directions, triangle, depth)
    assert not len(verdict.wrong) and len(verdict.near_edge) < 5
    hit = triangle >= 0
    assert 0.1 < hit.mean() < 0.9
    assert np.array_equal(np.isinf(depth), ~hit) and (depth > 0).all()
    # normals and colours at the exact point of the triangle that was hit
    number, o, d = triangle[hit], origins[hit], directions[hit]
    own = corners[number].astype(np.float64)
    point = o + d * exact.plane_distance(own, o, d)[:, None]
    a, ab, ac = own[:, 0], own[:, 1] - own[:, 0], own[:, 2] - own[:, 0]
    n = np.cross(ab, ac)
    v = (np.cross(point - a, ac) * n).sum(1) / (n * n).sum(1)
    w = (np.cross(ab, point - a) * n).sum(1) / (n * n).sum(1)
    weights = np.stack([1 - v - w, v, w], axis=1)[..., None]
    # Weights are off by rounding over the area that the ray sees of the triangle: compare where that is not thin.
    cosine = np.abs((n * d).sum(1)) / np.linalg.norm(n, axis=1)
    height = np.linalg.norm(n, axis=1) / np.linalg.norm(own - np.roll(own, 1, axis=1), axis=-1).max(axis=1)
    normal = (flat.normals[flat.triangles[number]] * weights).sum(axis=1)
    length = np.linalg.norm(normal, axis=1)
    plain = (cosine > 0.1) & (height > 0.05) & (length > 0.1)
    assert plain.mean() > 0.7
    normal /= length[:, None]
    facing = (normal * d).sum(axis=1)
    normal[facing > 0] *= -1
    plain &= np.abs(facing) > 1e-3  # which side rounding may decide
    found = picture.layers["normal"].reshape(-1, 3)[hit]
    # distances of some units, rounded to 2^-24, over heights of 0.05 and cosines of 0.1: 5e-5, and slopes of normals
    assert np.abs(found - normal)[plain].max() < 1e-3
    assert np.abs(np.linalg.norm(found, axis=1) - 1)[length > 1e-3].max() < 1e-6
    assert ((found * d).sum(axis=1) <= 1e-6).all()
    base = np.array(scene.materials[0].base_color[:3])
    albedo = (flat.colors[flat.triangles[number]] * weights).sum(axis=1) * base
    assert np.abs(picture.layers["albedo"].reshape(-1, 3)[hit] - albedo)[plain].max() < 1e-4
    # the picture itself: Lambert under a light at the eye, and the background
    shaded = picture.layers["albedo"].reshape(-1, 3)[hit] * np.maximum(0, -(found * d).sum(axis=1))[:, None]
    linear = picture.linear.reshape(-1, 3)
    assert np.allclose(linear[hit], shaded, atol=2e-6)
    assert (linear[~hit] == np.float32(BACKGROUND)).all()
    for name in ("normal", "albedo"):
        assert not picture.layers[name].reshape(-1, 3)[~hit].any()


def test_layers_do_not_change_the_picture_and_machines_agree(renderer: Renderer) -> None:
    plain = renderer.render((97, 61))
    every = None
    for choices in MACHINES:
        renderer.update(**choices)
        picture = renderer.render((97, 61), layers=EVERY)
        assert picture.linear.tobytes() == plain.linear.tobytes()
        assert_same(every or picture, picture)
        every = every or picture
        assert_same(picture, renderer.render((97, 61), layers=EVERY, stats=True))
    assert every is not None
    hit = every.layers["triangle"] >= 0
    assert (every.layers["tests"][hit] > 0).all() and (every.layers["steps"][hit] > 0).all()
    assert renderer.render((97, 61), layers=["depth"]).layers.keys() == {"depth"}
    renderer.update(machine="multipass", fuse="ray")


def test_layers_of_hits_beside_samples_are_the_ray_caster_s(scene: Scene, renderer: Renderer) -> None:
    names = ("triangle", "steps", "tests")
    path = Renderer(scene, traversal="octants", program="path", depth=1)
    for size in ((40, 30), (23, 31)):
        cast, sampled = renderer.render(size, layers=names), path.render(size, spp=1, layers=names, denoise="none")
        assert all((sampled.layers[name] == cast.layers[name]).all() for name in names)
        assert (cast.layers["triangle"] >= 0).any() and cast.layers["steps"].all()


# --- sizes


@pytest.mark.parametrize("size", [(1, 1), (1, 777), (777, 1), (513, 257)])
def test_odd_sizes(renderer: Renderer, size: tuple[int, int]) -> None:
    first = None
    for choices in MACHINES:
        renderer.update(**choices)
        picture = renderer.render(size, layers=("triangle", "depth", "normal", "steps"))
        assert picture.linear.shape == (size[1], size[0], 3)
        assert_same(first or picture, picture)
        first = first or picture
    assert first is not None
    with framed(renderer, size):  # narrow pictures have all of the scene in view
        origins, directions = (a.reshape(-1, 3) for a in renderer.camera.rays(*size))
    triangle, depth = first.layers["triangle"].ravel(), first.layers["depth"].ravel()
    sample = np.random.default_rng(2).integers(0, len(triangle), 2000)
    verdict = exact.judge(
        renderer.prepared.triangles.corners(), origins[sample], directions[sample], triangle[sample], depth[sample]
    )
    assert not len(verdict.wrong)
    renderer.update(machine="multipass", fuse="ray")


@pytest.mark.parametrize("choices", MACHINES)
def test_a_cut_picture_equals_the_whole_one(
    renderer: Renderer, choices: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    renderer.update(**choices)
    size, layers = (131, 67), ("depth", "normal", "triangle", "steps", "tests")
    whole = renderer.render(size, layers=layers)
    for largest in (131 * 10, 1000, 97):  # rows, several rows; parts of a row
        monkeypatch.setattr("raystream.renderer.sampling.sampler.LARGEST_STREAM", largest)
        cut = renderer.render(size, layers=layers)
        assert_same(whole, cut)
        monkeypatch.undo()
    parts = [
        event.tile
        for event in renderer.sampler.render_tiles(
            FramePlan(renderer.settings, renderer.camera, size, tiling=Tiling((40, 30)))
        )
        if isinstance(event, TileDone)
    ]
    assert len(parts) == 12
    covered = np.zeros((67, 131), int)
    for part in parts:
        covered[part.rows, part.columns] += 1
    assert (covered == 1).all()
    renderer.update(machine="multipass", fuse="ray")


# --- options


def test_stats_count_when_asked(renderer: Renderer) -> None:
    off = renderer.render((40, 30)).stats
    assert off.kernel_passes > 0 and not off.passes and not off.kernels
    on = renderer.render((40, 30), stats=True).stats
    assert on.rays == 1200 and len(on.passes) == on.kernel_passes and on.kernels["eye"].calls == 1200
    assert on.kernels["shade"].calls == 1200 and on.kernels["traverse"].calls > 1200
    data = json.loads(json.dumps(on.to_json()))
    assert data["size"] == "40x30" and data["triangles"] == 200


def test_from_triangles_checks_its_arrays() -> None:
    points = np.eye(3)
    for vertices, faces, more in (
        (points, [[0, 1, 3]], {}),
        (points, [[0, 1, -1]], {}),
        (points, [[0, 1, 2]], {"normals": np.eye(2)}),
        (points, [[0, 1, 2]], {"colors": np.ones((2, 3))}),
        (points, [[0, 1, 2]], {"colors": np.ones((3, 5))}),
        (points, [[0, 1, 2]], {"colors": np.ones(3)}),
        (points, [[0, 1, 2]], {"normals": np.ones(3)}),
        (points[:, :2], [[0, 1, 1]], {}),
        (points.ravel(), [[0, 1, 2]], {}),
        (points, [0, 1, 2], {}),
        (points, [[0, 1, 2, 0]], {}),
        (points, [[0.5, 1, 2]], {}),
        (points, [["a", "b", "c"]], {}),
        ("corners", [[0, 1, 2]], {}),
    ):
        with pytest.raises(ViewerError):
            Scene.from_triangles(vertices, faces, **more)
    scene = Scene.from_triangles(points.tolist(), [[0, 1, 2]], colors=np.ones((3, 4)))
    assert scene.triangle_count == 1


# --- awkward scenes


def test_scenes_without_triangles_show_the_background() -> None:
    nothing = Scene.from_triangles([], [])
    points = Scene.from_triangles(np.ones((3, 3)), [[0, 1, 2]])
    lost = Scene.from_triangles(np.full((3, 3), np.nan), [[0, 1, 2]])
    for scene in (nothing, Scene(), points, lost):
        renderer = Renderer(scene, program="cast")
        for choices in MACHINES:
            renderer.update(**choices)
            picture = renderer.render((20, 10), layers=EVERY)
            assert (picture.linear == np.float32(BACKGROUND)).all()
            assert (picture.layers["triangle"] == -1).all() and np.isinf(picture.layers["depth"]).all()
            assert not picture.layers["normal"].any()
            assert scene is points or not picture.layers["tests"].any()  # it has no area, and is tested
        assert (renderer.trace([[0, 0, 5]], [[0, 0, -1]]).triangle == -1).all()


def _broken_files() -> list[str]:
    folder = Path(os.environ.get("RAYSTREAM_SHARED", Path(__file__).resolve().parents[3] / "shared"))
    expected = folder / "scenes" / "broken" / "expect.json"
    return sorted(json.loads(expected.read_text())) if expected.is_file() else [""]


@pytest.mark.parametrize("name", _broken_files())
def test_broken_files_that_load_also_render(name: str, shared_scenes: Path) -> None:
    """With finite pictures, or a refusal that says why."""
    expect = json.loads((shared_scenes / "broken" / "expect.json").read_text())[name]["expect"]
    try:
        scene = raystream.load(shared_scenes / "broken" / name)
        renderer = Renderer(scene, program="cast")
        picture = renderer.render((64, 64), layers=("normal", "triangle"))
    except ViewerError:
        assert expect != "load"
        return
    assert expect != "reject"
    assert np.isfinite(picture.linear).all() and np.isfinite(picture.layers["normal"]).all()
    renderer.release()


@pytest.fixture
def picture() -> Picture:
    linear = np.random.default_rng(7).uniform(0, 2, (5, 8, 3)).astype(np.float32)
    return Picture(linear, {}, Stats(), {"scene": "one", "samples": "3"})


def test_numpy_takes_it_for_an_array(picture) -> None:
    assert np.asarray(picture) is picture.linear
    assert np.shares_memory(np.array(picture, copy=None), picture.linear)
    copied = np.array(picture)
    assert np.array_equal(copied, picture.linear) and not np.shares_memory(copied, picture.linear)
    assert np.array_equal(np.asarray(picture, np.float64), picture.linear) and np.mean(picture) == picture.linear.mean()
    assert np.array(picture, np.float16).dtype == np.float16


def test_eight_bits(picture) -> None:
    assert picture.srgb8().dtype == np.uint8
    np.testing.assert_array_equal(picture.srgb8(), srgb8(picture.linear, "auto", "agx"))
    np.testing.assert_array_equal(picture.srgb8(0, "none"), srgb8(picture.linear))
    np.testing.assert_array_equal(picture.srgb8(exposure=-1, tonemap="agx"), srgb8(picture.linear, -1, "agx"))
    for wrong, line in (
        ({"exposure": 40}, "^exposure=40: expected auto or a number of stops"),
        ({"tonemap": "agc"}, "'agx'"),
    ):
        with pytest.raises(ViewerError, match=line):
            picture.srgb8(**wrong)


def test_a_notebook_shows_it(picture, tmp_path) -> None:
    shown = Image.open(io.BytesIO(picture._repr_png_()))
    np.testing.assert_array_equal(np.asarray(shown), picture.srgb8())
    assert shown.info["scene"] == "one" and shown.info["exposure"].endswith("(auto)")
    picture.save(tmp_path / "a.png", exposure=1, tonemap="aces")
    assert (tmp_path / "a.png").read_bytes() == picture.png(exposure=1, tonemap="aces")


@pytest.fixture
def renderer_facts(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(picture_metadata, "picture_facts", lambda renderer: {"program": "photon"})
    monkeypatch.setattr(picture_metadata, "sample_settings", lambda renderer: {"depends": "on this"})
    return SimpleNamespace(
        photon_map=SimpleNamespace(remark=lambda settings: f"no photon under {settings.name}"),
        settings=SimpleNamespace(name="these", environment=None),
        prepared=SimpleNamespace(lighting=SimpleNamespace(only_own_lights=True)),
    )


def film(count: Any, budget: float | None = None, error: float = 0.01234) -> Any:
    return SimpleNamespace(count=np.asarray(count, np.float32), sample_budget=budget, error=lambda: error)


def picture_of(renderer: Any, film: Any, reason: str = "") -> Any:
    return picture_metadata.picture(renderer, np.zeros((2, 3, 3), np.float32), film, Stats(), reason, 1.5)


def test_what_a_picture_of_samples_keeps(renderer_facts: Any) -> None:
    picture = picture_of(renderer_facts, film(np.full((2, 3), 4)), "noise")
    assert picture.photon_remark == "no photon under these" and picture.own_lights
    assert picture.depends == {"depends": "on this"}
    facts = {"size": "3x2", "program": "photon", "samples": "4", "stopped by": "noise", "estimated error": "0.0123"}
    assert picture.metadata == facts
    assert picture.stats.facts["seconds"] == 1.5 and picture.stats.facts["samples"] == 4


SMALL = {"size": (8, 8), "spp": 2, "machine": "singlepass"}
TRIANGLE = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]], np.float64), np.array([[0, 1, 2]])


def test_the_renderers_own_bits():
    whole = raystream.Renderer("cornell", machine="singlepass").render(size=(8, 8), spp=2)
    picture = raystream.render("cornell", layers=("depth",), **SMALL)
    assert np.array_equal(picture.linear, whole.linear) and picture.layers["depth"].shape == (8, 8)


def test_arrays():
    picture = raystream.render((*TRIANGLE, [[0, 1, 0]] * 3), environment=(1, 1, 1), **SMALL)
    red, green, _ = picture.linear[4, 4]
    assert red == 0 < green


def test_what_is_refused():
    with pytest.raises(raystream.ViewerError, match="int cannot be shown"):
        raystream.render(3)
    with pytest.raises(raystream.ViewerError, match="sise"):
        raystream.render("cornell", sise=(8, 8))
