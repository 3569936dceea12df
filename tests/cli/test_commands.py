"""What a user meets at the command line when samples are added: going on, being stopped, what files and words say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image as Pillow
from signals import heeding

import raystream
from raystream.base.version import __version__
from raystream.cli import commands, shader_check
from raystream.cli import main as cli
from raystream.cli.main import _parse
from raystream.cli.rendering import _unused_options
from raystream.film.files.image import read_exr
from raystream.stream.compile.source import Source

SMALL = ("--size", "24x16", "--machine", "singlepass")
# What a picture of the presets says of itself.
PUBLISHED = {
    **{"program": "path", "strategy": "bsdf", "sampler": "table", "seed": "0", "depth": "2", "first_hits": "shared"},
    **{"accel": "grid", "intersection": "moller-trumbore"},
    **{"fuse": "none", "unroll": "1", "policy": "threshold=0.2,active", "count": "query"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A fresh one to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments, code=0):
    """The command in this process, held to its exit code."""
    assert cli.main(arguments) == code


def refused(capsys, *arguments):
    """The one line that says why these arguments are not taken."""
    run("render", "cornell", *arguments, code=2)
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err.removeprefix("raystream: error: ").rstrip()


def pixels(path):
    """The colour channels, (H, W) each, of an EXR."""
    _, channels = read_exr(path)
    return np.stack([channels[name] for name in "RGB"], axis=-1)


# Going on


@pytest.mark.usefixtures("device")
def test_more_samples_from_the_file_of_fewer_are_those_of_an_unbroken_render(capsys):
    run("render", "cornell", "-o", "a.exr", "--spp", "3", *SMALL)
    run("render", "cornell", "-o", "a.exr", "--spp", "7", "--resume", "a.exr", *SMALL)
    run("render", "cornell", "-o", "b.exr", "--spp", "7", *SMALL)
    assert np.array_equal(pixels("a.exr"), pixels("b.exr"))
    lines = capsys.readouterr().out.splitlines()
    assert "24 x 16, 3 samples a pixel, 38 triangles" in lines[0] and "7 samples a pixel" in lines[1]
    run("render", "cornell", "-o", "c.exr", "--spp", "2", "--resume", "b.exr", *SMALL)  # it has more already
    assert np.array_equal(pixels("b.exr"), pixels("c.exr"))


@pytest.mark.usefixtures("device")
def test_a_preset_gives_other_defaults_and_what_is_typed_goes_before(capsys):
    run("render", "cornell", "-o", "a.exr", "--preset", "2002", "--spp", "1", "--size", "8x8")
    header, channels = read_exr("a.exr")
    assert channels["R"].shape == (8, 8) and header["samples"] == "1"
    assert PUBLISHED.items() <= header.items()
    capsys.readouterr()
    assert "expected 2002, 2003 or 2004" in refused(capsys, "-o", "b.png", "--preset", "2001")


@pytest.mark.parametrize(("name", "depth"), [("2002", 2), ("2004", 1024)])
def test_presets_are_the_published_machine(name, depth):
    chosen = _parse("render", ["cornell", "-o", "a.png", "--preset", name])
    found = {key: str(getattr(chosen, key)) for key in ("machine", "eye_rays", "size", "spp", *PUBLISHED)}
    same = {"machine": "multipass", "eye_rays": "shared", "size": "(256, 256)", "spp": "64", "first_hits": "rays"}
    assert found == {**PUBLISHED, **same, "depth": str(depth)}
    assert not _unused_options(_parse("render", ["cornell", "-o", "a.png", "--preset", name, "--program", "cast"]))


def test_a_file_of_other_settings_is_refused_and_the_option_named(capsys):
    run("render", "cornell", "-o", "a.exr", "--spp", "1", "--clamp", "2", "--quiet", *SMALL)
    on = ("-o", "b.exr", "--resume", "a.exr", "--machine", "singlepass")
    assert refused(capsys, *on) == "a.exr: is 24 x 16 pixels, not 512 x 512 (--size 24x16)"
    line = refused(capsys, *on, *SMALL)
    assert line == "a.exr: was rendered with clamp '2.0', not '0.0' (start a new render, or give --clamp 2.0)"
    assert "with seed '0', not '4' (start a new render, or give --seed 0)" in refused(
        capsys, *on, *SMALL, "--clamp", "2", "--seed", "4"
    )
    moved = ("--light", "light=278,500,200")
    assert "another scene, or its files have changed" in refused(capsys, *on, *SMALL, "--clamp", "2", *moved)
    Path("c.exr").write_bytes(Path("a.exr").read_bytes()[:-40])
    assert "cut short" in refused(capsys, "-o", "b.exr", "--resume", "c.exr", *SMALL, "--clamp", "2")
    assert not Path("b.exr").exists()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("-o", "a.png", "--resume", "none.exr"), "none.exr: there is no such file to go on from"),
        (("-o", "a.exr", "--layers", "bounce", "--program", "cast"), "--layers bounce: program cast adds no samples"),
        (("-o", "a.png", "--environment", "-1,0,0"), "--environment '-1,0,0': expected none, sky"),
        (("-o", "a.png", "--environment", "1,2"), "environment '1,2': is neither a file or folder nor a radiance"),
        (("-o", "a.png", "--light", "lamp=0,0,0"), "cornell: no light 'lamp' (lights: light)"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_wrong_words_about_samples(capsys, arguments, line):
    assert line in refused(capsys, *arguments)
    assert not os.listdir()


# Being stopped


def stopped(output, *arguments, patience=600.0, by=signal.SIGINT):
    """Start a long render as a process, stop it by a signal once it draws; its exit code and its last words."""
    command = [sys.executable, "-P", "-c", STARTED, "render", "cornell", "-o", output, "--spp", "65536", *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeding)
    assert child.stdout is not None
    child.stdout.readline()  # when it has its first samples
    time.sleep(0.3)
    child.send_signal(by)
    _, err = child.communicate(timeout=patience)
    return child.returncode, err


# The command, which says when the first samples are there.
STARTED = """
import sys
from raystream.cli import main as cli
from raystream.film.error import Stop
reason = Stop.reason
def told(self, samples, *arguments):
    if samples:
        print("drawing", flush=True)
    return reason(self, samples, *arguments)
Stop.reason = told
cli.entry()
"""


@pytest.mark.parametrize(("output", "by", "ends"), [("a b.png", "SIGINT", 130), ("a.exr", "SIGTERM", 143)])
def test_a_stopped_render_says_how_to_go_on_and_does_so_with_the_same_bits(output, by, ends, capsys):
    state = f"{output}.state.exr"
    code, err = stopped(output, *SMALL, by=getattr(signal, by))
    assert code == ends and err.count("\n") == 1, err
    assert err.startswith("raystream: stopped after ") and f"--resume {repr(state) if ' ' in state else state}\n" in err
    assert os.listdir() == [state]
    header, _ = read_exr(state)
    done = int(header["samples"])
    assert done > 0 and f"after {done} of 65,536 samples" in err and header["raystream"] == __version__
    run("render", "cornell", "-o", "whole.exr", "--spp", str(done + 2), "--quiet", *SMALL)
    run("render", "cornell", "-o", "on.exr", "--spp", str(done + 2), "--resume", state, "--quiet", *SMALL)
    assert np.array_equal(pixels("on.exr"), pixels("whole.exr"))
    run("render", "cornell", "-o", output, "--spp", str(done + 1), "--resume", state, "--quiet", *SMALL)
    assert sorted(os.listdir()) == sorted([output, "on.exr", "whole.exr"])  # the state has served


# What files and words say


@pytest.mark.usefixtures("device")
def test_pictures_tell_how_they_were_made():
    options = ("--spp", "2", "--clamp", "5", "--seed", "3", "--depth", "2", "--quiet", *SMALL)
    run("render", "cornell", "-o", "a.png", *options)
    run("render", "cornell", "-o", "a.exr", "--layers", "bounce,depth", *options)
    with Pillow.open("a.png") as picture:
        told = {str(key).removeprefix("raystream:"): value for key, value in picture.info.items()}
    header, channels = read_exr("a.exr")
    for found in (told, header):
        wanted = {"scene": "cornell", "raystream": __version__, "program": "path", "clamp": "5.0", "seed": "3"}
        wanted |= {"depth": "2", "samples": "2", "stopped by": "spp", "size": "24x16", "sampler": "sobol"}
        assert {key: found.get(key) for key in wanted} == wanted
    layers = [np.stack([channels[f"bounce.{k}.{c}"] for c in "RGB"], axis=-1) for k in range(3)]
    assert "bounce.3.R" not in channels and "depth" in channels
    # Without a clamp they add up; with it the picture is never brighter, to the rounding of the sums.
    assert (pixels("a.exr") <= np.sum(layers, axis=0) * (1 + 1e-5) + 1e-6).all()


@pytest.mark.usefixtures("device")
def test_why_a_render_ended(capsys):
    run("render", "cornell", "-o", "a.png", "--spp", "65536", "--time", "0.2", *SMALL)
    assert " a pixel (--time met)" in capsys.readouterr().out
    run("render", "cornell", "-o", "a.png", "--spp", "65536", "--error", "0.5", *SMALL)
    assert "samples a pixel (--error met)" in capsys.readouterr().out
    with Pillow.open("a.png") as picture:
        assert picture.info["stopped by"] == "error" and float(picture.info["estimated error"]) <= 0.5


def test_the_scene_for_checking_shaders_has_everything(device):
    from raystream.renderer.renderer import Renderer
    from raystream.scene.material import KINDS

    scene = shader_check.everything()
    assert {material.kind for material in scene.materials} == set(KINDS)
    made = Renderer(scene, environment="sky", machine="singlepass", device=device).render((4, 4), spp=1)
    assert np.isfinite(made.linear).all()


@pytest.mark.slow
def test_all_shaders_compile():
    done = subprocess.run([sys.executable, "-m", "raystream", "check-shaders"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    for program in ("cast", "shadow", "whitted", "path"):
        assert f"{program} single pass" in done.stdout and f"{program} none/" in done.stdout
    assert ": in no program" not in done.stdout


@pytest.mark.parametrize(("camera", "told"), [(None, 2), ("eye", 1), ("0,0,5 0,0,0", 1)])
def test_a_chosen_camera_has_no_stand_in(camera: str | None, told: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of the file's first one then says nothing of the picture."""
    scene = raystream.load("cornell").with_parts(
        warnings=["a: camera 'eye' sees nothing: the scene is framed", "other"]
    )
    monkeypatch.setattr("raystream.formats.named.load", lambda *args, **options: scene)
    notes: list[str] = []
    keys = dict.fromkeys(("variant", "lenient", "max_texture", "animation"))
    arguments = Namespace(scene="a", camera=camera, quiet=False, **keys)
    commands.load_scene(arguments, SimpleNamespace(note=notes.append))  # type: ignore[arg-type]
    assert len(notes) == told and "other" in notes[-1]


def test_stopped_before_the_first_sample_there_is_nothing_to_keep(capsys, monkeypatch):
    from raystream.renderer.sampling.sampler import Sampler

    def interrupted(self, *_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Sampler, "render_tiles", interrupted)
    run("render", "cornell", "-o", "a.png", *SMALL, code=130)
    assert capsys.readouterr().err == "raystream: stopped\n"
    assert os.listdir() == []


def test_an_error_ends_a_render_where_no_context_is_current(capsys):
    """The film lies on the device: the rule that looks at it has the context, though nobody else holds it."""
    run("render", "cornell", "-o", "a.png", "--spp", "65536", "--error", "0.5", *SMALL)
    assert "samples a pixel (--error met)" in capsys.readouterr().out


def test_what_is_drawn_beside_machines_compiles(monkeypatch, request):
    """Without a context that somebody else has made current, as from the command line."""
    device, lines = request.getfixturevalue("device"), []
    routed = [*shader_check.routed_sources(), ("broken", (Source(), Source()))]
    monkeypatch.setattr(shader_check, "routed_sources", lambda: iter(routed))
    monkeypatch.setattr(shader_check, "machine_jobs", lambda device: iter(()))
    assert shader_check.check_shaders(lines.append, device) == 1
    passed = {line.split(": ok")[0] for line in lines if ": ok" in line}
    assert {
        "photon map: route, fetched",
        "photon map: compaction",
        "window: photons",
        "window: cells of photons",
    } <= passed
    assert "photon map: broken" not in passed and any(line.startswith("photon map: broken: ") for line in lines)
    assert "kernels/scatter.glsl: in no program" in lines
