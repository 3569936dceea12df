"""What the commands say: commands and options, a scene and its parts, devices, and a comparison, as text."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import raystream
from raystream.cli import commands, compare, main, presets, rendering, report
from raystream.cli.compare import page
from raystream.film.files.compare import Blemishes, Comparison
from raystream.renderer.empty_view import FILLED, add_default_sky
from raystream.scene.animation import Animation, Track
from raystream.scene.camera import Camera
from raystream.scene.light import Light
from raystream.scene.material import ClassicMaterial, Material
from raystream.scene.scene import Scene
from raystream.scene.texture import Image, Texture
from tests.texts import hold

HERE = Path(__file__).parent / "said"


@pytest.mark.parametrize("name", main.COMMANDS)
def test_parser(name: str, request: pytest.FixtureRequest) -> None:
    """Of each command, as `argparse` is given it; how it is broken into lines is Python's."""
    made = main._parser(name)
    lines = [made.prog, made.usage or "", made.description or ""]
    for action in made._actions:
        shown = (action.option_strings, action.dest, action.metavar, action.nargs, action.const, action.default)
        lines += [f"{type(action).__name__} {shown}", f"    {action.help}"]
    hold(HERE / f"{name}.txt", lines, request.config)


def test_overview(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = [
        main._overview_text(),
        f"{main.DONE} {commands.FAULT} {commands.USER_ERROR} {main.STOPPED} {main.BROKEN_PIPE}",
    ]
    for name in presets.PRESETS:
        for scene in ("cornell", "ring", "glass_ball") if name == "2003" else ("ring",):
            lines += [f"# preset {name} of {scene}", *(f"{k}: {v}" for k, v in presets.preset(name, scene).items())]
    hold(HERE / "overview.txt", "\n".join(lines).split("\n"), request.config)


def rich() -> Scene:
    """A scene with all that a report may tell of."""
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], name="rich")
    texels = np.zeros((2, 4, 4), np.uint8)
    scene.textures = [
        Texture(Image(texels, "wood"), name="a"),
        Texture(Image(texels.astype(np.uint16), "deep"), wrap=("clamp", "repeat"), minification="linear_mipmap_linear"),
        Texture(Image(texels.astype(np.float16), "half"), nearest=True),
    ]
    thin = ClassicMaterial(reflectivity=0.25, transmittance=0.5, thickness=0.1)
    scene.materials = [
        Material("plain", (0.1, 0.2, 0.3, 1.0), metallic=0.5, roughness=0.25),
        Material("papered", texture=0, emission=(1.0, 2.0, 3.0), emission_texture=1),
        Material("glass", kind="dielectric", ior=1.5),
        Material("flint", kind="dielectric", ior=1.7, dispersion=0.5),
        Material("sheet", kind="classic", classic=thin),
        Material("solid", kind="classic", classic=ClassicMaterial(reflectivity=1.0)),
        Material("no longer classic", classic=thin),
    ]
    scene.instances = [replace(scene.instances[0], material=k) for k in range(6)]
    scene.lights = [
        Light("point", "bulb", position=(1.0, 2.0, 3.0), intensity=(4.0, 5.0, 6.0)),
        Light("directional", "sun", direction=(0.0, -1.0, 0.0), intensity=(1.0, 1.0, 1.0)),
        Light("spot", "beam", position=(0.0, 1.0, 0.0), direction=(0.0, -1.0, 0.0)),
    ]
    scene.cameras = [Camera((0, 0, 3), (0, 0, 0), name="hole"), Camera((0, 0, 3), (0, 0, 1), aperture=0.1, name="lens")]
    track = Track(0, "translation", np.array([0.0, 2.5]), np.zeros((2, 3)))
    scene.animations = [Animation("walk", (track,)), Animation("none")]
    scene.variants = {"warm": {}, "cold": {}}
    scene.extensions_used, scene.extensions_ignored = ["KHR_a", "KHR_b"], ["KHR_b"]
    scene.warnings = ["a remark"]
    return scene


def test_report(request: pytest.FixtureRequest, device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {
        "memory_bytes": {"grid": 2048, "parts": {"a": 1, "b_c": 5 << 30}, "share": 0.5},
        "per ray": {"registers": 12345, "fits": True, "sizes": [1, 2.5], "name": "x", "average": 1.23456},
    }
    monkeypatch.setattr("raystream.renderer.renderer.Renderer.info", lambda renderer: facts)
    said = []
    for scene in (rich(), raystream.load("ring"), raystream.load("cornell")):
        data = report.describe(scene, "path")
        said += [*report.lines(data), *(f"{name}: {value}" for name, value in data.items())]
    hold(HERE / "report.txt", said, request.config)


# -- render --------------------------------------------------------------------------------------------------------


def asked(**given: Any) -> argparse.Namespace:
    known = {"size": (64, 48), "output": "a.png", "resume": None, "spp": None, "time": None, "error": None}
    known["quality"] = None
    return argparse.Namespace(**{**known, **given})


@pytest.mark.parametrize(
    ("facts", "triangles", "passes", "expected"),
    [
        ({}, 1, 1, "64 x 48, 1 triangle, 1 pass"),
        ({"samples": 1}, 1000, 1234, "64 x 48, 1 sample a pixel, 1,000 triangles, 1,234 passes"),
        ({"samples": 9, "stopped by": "time"}, 2, 2, "64 x 48, 9 samples a pixel (--time met), 2 triangles, 2 passes"),
        ({"samples": "4 to 16"}, 2, 2, "64 x 48, 4 to 16 samples a pixel, 2 triangles, 2 passes"),
        (
            {"samples": 9, "estimated error": "0.0123"},
            2,
            2,
            "64 x 48, 9 samples a pixel, noise 1.2 %, 2 triangles, 2 passes",
        ),
    ],
)
def test_the_line_that_ends_a_render(facts: dict, triangles: int, passes: int, expected: str) -> None:
    picture: Any = SimpleNamespace(stats=SimpleNamespace(facts=facts, kernel_passes=passes))
    seconds = {"load": 0.126, "build": 2.0, "render": 61.254}
    said = rendering._summary(asked(output="a\n.png"), picture, triangles, seconds)
    assert said == f"a\\n.png: {expected}; load 0.13 s, build 2.00 s, compile and render 61.25 s"


def found_state(path: str | None, samples: int = 3, wrong: tuple[str, ...] = ()) -> Any:
    def find(size: tuple[int, int], pictures: bool) -> tuple[Any, int, tuple[str, ...]]:
        assert size == (64, 48)
        return (None if path is None else Path(f"{path}{'+' if pictures else ''}")), samples, wrong

    return SimpleNamespace(find=find)


def test_what_a_stopped_render_has_left() -> None:
    given = asked()
    said = rendering._find_state(found_state("b.state"), given)
    assert said == ["b.state holds 3 samples of this picture; --resume auto goes on from there"]
    assert rendering._find_state(found_state("b", 1), given)[0].startswith("b holds 1 sample of this picture;")
    assert rendering._find_state(found_state(None), given) == [] and given.resume is None
    assert rendering._find_state(None, asked(resume="auto")) == []
    given = asked(resume="b.exr")
    assert rendering._find_state(found_state("b"), given) == [] and given.resume == "b.exr"


def test_going_on_by_itself() -> None:
    given = asked(resume="auto")
    assert rendering._find_state(found_state("b", 1200), given) == ["goes on from b+, 1,200 samples"]
    assert given.resume == "b+"
    given = asked(resume="auto")
    said = rendering._find_state(found_state(None, 0, ("a: other size", "b: broken")), given)
    assert said == [
        "not resumed: a: other size",
        "not resumed: b: broken",
        "--resume auto: no state to go on from; starts anew",
    ]
    assert given.resume is None


@pytest.mark.parametrize(
    ("given", "facts", "said"),
    [
        ({"quality": "good"}, {}, ", above the 10 % of --quality good (--quality good --spp 120 gets there)"),
        (
            {"quality": "good"},
            {"denoised": "shader"},
            ", above the 5 % of --quality good (--quality good --spp 470 gets",
        ),
        ({"quality": "good"}, {"estimated error": "0.099"}, ""),
        ({"quality": "best"}, {"samples": 1024}, ", above the 2 % of --quality best (--quality best --spp 65536 gets"),
        (
            {"quality": "best", "time": 1},
            {"stopped by": "time"},
            ", above the 2 % of --quality best (a longer --time gets",
        ),
        ({"error": 0.05, "spp": 32}, {}, ", above the 5 % of --error 0.05 (--spp 470 gets there)"),
        ({"error": 0.05, "spp": 32}, {"samples": "30.2 (16 to 40)"}, ", above the 5 % of --error 0.05 (a larger --spp"),
        ({"spp": 32}, {}, ""),
    ],
)
def test_a_render_that_ends_above_its_limit_of_noise(given: dict, facts: dict, said: str) -> None:
    """It tells the limit, and the option by which another one would reach it."""
    facts = {"samples": 32, "stopped by": "spp", "estimated error": "0.19", "denoised": "oidn", **facts}
    picture: Any = SimpleNamespace(stats=SimpleNamespace(facts=facts, kernel_passes=2))
    line = rendering._summary(asked(**given), picture, 1, dict.fromkeys(("load", "build", "render"), 0.5))
    assert ("above" in line) == bool(said) and said in line


@pytest.mark.parametrize(
    ("saved", "used", "given", "expected"),
    [
        (False, False, {}, "stopped"),
        (False, True, {}, "stopped; go on with --resume 'a b.exr'"),
        (True, False, {}, "stopped after 5 of 32 samples; go on with --resume 'a b.exr'"),
        (True, True, {"spp": 1}, "stopped after 5 of 1 sample; go on with --resume 'a b.exr'"),
        (True, False, {"time": 3.0}, "stopped after 5 of 65,536 samples; go on with --resume 'a b.exr'"),
    ],
)
def test_how_to_go_on(saved: bool, used: bool, given: dict, expected: str) -> None:
    state: Any = SimpleNamespace(saved=saved, used=used, path=Path("a b.exr"), samples=5)
    assert rendering._resume_message(state, asked(**given)) == expected
    assert rendering._resume_message(None, asked(**given)) == "stopped"


DARK = {"environment": None, "sun": None, "exposure": "auto"}


@pytest.mark.parametrize(
    ("given", "lit", "progressive", "value", "size", "glance"),
    [
        ({}, True, True, 0.0, (64, 48), (48, 36)),
        ({}, True, True, 0.0, (48, 10), (48, 10)),
        ({}, True, True, 0.0, (20, 30), (20, 30)),
        ({}, True, True, 0.0, (10, 4800), (1, 48)),
        ({}, True, True, 1.0, (64, 48), (48, 36)),  # it is lit
        ({}, False, True, 0.0, (64, 48), None),  # without lights it has the default
        ({}, True, False, 0.0, (64, 48), None),
        ({"environment": "none"}, True, True, 0.0, (64, 48), None),
        ({"sun": (1.0, 2.0)}, True, True, 0.0, (64, 48), None),
        ({"exposure": 0.0}, True, True, 0.0, (64, 48), None),
        ({"output": "a.exr"}, True, True, 0.0, (64, 48), None),
    ],
)
def test_a_dark_scene_is_put_under_the_sky(given, lit, progressive, value, size, glance) -> None:
    """Found out by a small picture, where all of that is left to Raystream."""
    did: list[Any] = []

    def render(size: tuple[int, int], spp: int) -> Any:
        did.append((size, spp))
        return SimpleNamespace(linear=np.full((*size[::-1], 3), value, np.float32))

    own = SimpleNamespace(only_own_lights=lit, backdrop=None, listed=SimpleNamespace(lit=True))
    lighting = SimpleNamespace(lighting=own)
    settings = SimpleNamespace(background=None)
    renderer: Any = SimpleNamespace(prepared=lighting, progressive=progressive, render=render, settings=settings)
    renderer.update = lambda **changes: did.append(changes)
    said = rendering.fill_darkness(renderer, asked(**{**DARK, "size": size, **given}))
    dark = glance is not None and value == 0.0
    assert said == ([FILLED] if dark else [])
    assert did == [*([(glance, 4)] if glance else []), *([{"environment": "sky"}] if dark else [])]


@pytest.mark.parametrize("height", [-4.0, 4.0])
def test_a_bright_background_hides_no_darkness(device: Any, height: float) -> None:
    """Of a surface that is lit from above, seen from below or above, before white."""
    scene = raystream.Scene.from_triangles([[-1, 0, 1], [1, 0, 1], [0, 0, -1]], [[0, 1, 2]])
    scene.lights = [raystream.Light("point", "lamp", (0, 5, 0), intensity=(9.0, 9.0, 9.0))]
    camera = raystream.Camera((0, height, 0), (0, 0, 0), (0, 0, -1))
    renderer = raystream.Renderer(scene, device=device, machine="singlepass", camera=camera, background=(1.0, 1.0, 1.0))
    assert bool(add_default_sky(renderer, (64, 48))) == (height < 0)
    assert renderer.settings.background == (1.0, 1.0, 1.0)
    renderer.release()


# -- diff ----------------------------------------------------------------------------------------------------------


def comparison(**given: Any) -> Comparison:
    shown = {name: np.full((2, 3, 3), k, np.uint8) for k, name in enumerate(("first", "second", "difference"))}
    known = {"names": ("a.png", "<b>.png"), "kind": "displayed", "size": (300, 200), "flip": 0.12345, "error": 1.5e-5}
    known |= {"largest": 0.25, "at": (7, 9), "share": 0.125, "tolerance": 0.01, "shown": shown}
    known["blemishes"] = Blemishes(0.015, 0.0025, None)
    return Comparison(**{**known, **given})


def test_comparisons(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for installed in (True, False):
        monkeypatch.setattr("raystream.film.files.compare.has_flip", lambda installed=installed: installed)
        for given in ({}, {"kind": "linear", "flip": None}, {"kind": "depth", "flip": None, "blemishes": None}):
            found = comparison(**given)
            limits = {"flip": None, "largest": 0.25, "error": 1e-6, "share": 0.1, "holes": 0.002}
            if found.blemishes is None:
                del limits["holes"]
            for figure, limit in limits.items():
                chosen = argparse.Namespace(figure=figure, limit=limit)
                within = limit is None or compare.figure(found, figure) <= limit
                said += compare._lines(found, chosen, within)
            said.append(str(compare.data(found)))
    hold(HERE / "comparisons.txt", said, request.config)


def test_the_page_of_a_comparison(request: pytest.FixtureRequest) -> None:
    said = []
    for given, verdict in (({}, "FLIP: 1, within the limit of 2"), ({"flip": None, "size": (1000, 9)}, "beyond <it>")):
        found = comparison(**given)
        text = page(found, [("a", "<1>"), ("b", "2")], verdict)
        said += [line.split("base64,")[0] if "base64," in line else line for line in text.split("\n")]
        pictures = [part.split('"')[0] for part in text.split("base64,")[1:]]
        assert pictures[0] == pictures[2] and pictures[1] == pictures[3] and len(set(pictures)) == 3
    said = [line for line in said if "generator" not in line]  # the version
    hold(HERE / "page.txt", said, request.config)


DEVICE: dict[str, Any] = {
    "index": 0,
    "default": True,
    "software": True,
    "renderer": "llvmpipe",
    "vendor": "Mesa",
    "version": "4.5",
    "glsl": "4.50",
    **dict.fromkeys(report.LIMITS, 16384),
    **dict.fromkeys(report.ABILITIES, False),
}


def test_devices_with_what_they_lack_and_why_one_is_none() -> None:
    other = {**DEVICE, "index": None, "default": False, "software": False, **dict.fromkeys(report.ABILITIES, True)}
    lines = list(report.device_lines([DEVICE, other, {"index": 2, "default": False, "error": "no float textures"}]))
    assert lines[0] == "0  llvmpipe (default, software)" and lines[7] == "-  llvmpipe"
    assert lines[1] == "   vendor  Mesa" and lines[4].startswith("   limits  texture 16,384, buffer texture 16,384, ")
    assert lines[5:7] == ["   has     nothing beyond 3.3", f"   lacks   {', '.join(report.ABILITIES.values())}"]
    assert lines[12:14] == [f"   has     {', '.join(report.ABILITIES.values())}", "   lacks   nothing"]
    assert lines[14:] == ["2  not usable: no float textures"]


def test_what_json_cannot_hold() -> None:
    given = {1: np.float32(0.5), "path": Path("a/b"), "set": {2}, "nan": np.nan, "array": np.eye(2), "other": 1j}
    found = json.loads(json.dumps(report.json_value(given)))
    expected = {"1": 0.5, "path": str(Path("a/b")), "set": [2], "nan": None, "array": [[1, 0], [0, 1]], "other": "1j"}
    assert found == expected


def test_an_image_that_textures_share_counts_once(monkeypatch) -> None:
    scene = Scene.from_triangles([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    shared, own = Image(np.zeros((4, 8, 4), np.uint8), "shared"), Image(np.zeros((2, 2, 4), np.uint8), "own")
    scene.textures = [Texture(shared), Texture(shared, nearest=True), Texture(own)]
    monkeypatch.setattr("raystream.renderer.renderer.Renderer.info", lambda renderer: {})
    told = report.describe(scene, "cast")
    assert told["texture_bytes"] == 4 * 8 * 4 + 2 * 2 * 4
    assert [each["bytes"] for each in told["textures"]] == [128, 128, 16]


def test_a_projection_is_told_in_place_of_the_field_of_view() -> None:
    camera = {"name": "top", "camera": "0,1,0 0,0,0", "fov": 40.0, "aperture": 0.0, "focus": 1.0}
    assert report._camera(camera) == "top: '0,1,0 0,0,0', 40 degrees, pinhole"
    assert report._camera({**camera, "projection": "orthographic 2.0"}) == "top: '0,1,0 0,0,0', orthographic 2.0"
    assert report._camera({**camera, "aperture": 0.5}).endswith(", 40 degrees, lens of radius 0.5, sharp at 1")
