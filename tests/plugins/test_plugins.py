"""Entry points of other distributions: a reader, a program and a material of a package that lies beside, with the
metadata of an installed one; and a package whose parts are all broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
OFF = "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0 # a corner\n0 1 0\n4 0 1 2 3\n3 0 2 1\n"
USED = """
import json, warnings, numpy as np
warnings.simplefilter("error")
import raystream
from raystream import Material
found = {"off": repr(raystream.load("a.off")), "nameless": raystream.load("b.model").triangle_count}
corners, faces = [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]]
plane = raystream.Scene.from_triangles(corners, faces)
camera = "0,2,2 0,0,0"
for machine in ("singlepass", "multipass"):
    view = {"camera": camera, "fov": 1.0, "size": 4, "spp": 2, "environment": "none"}
    picture = raystream.render(plane, program="facing", machine=machine, **view)
    found[machine] = picture.linear[2, 2].tolist()
for kind in ("lambert", "clay"):
    plane.materials = [Material("ground", (0.5, 0.5, 0.5, 1), kind=kind, roughness=0.6)]
    lamp = raystream.Light("directional", direction=(0, 0.6, -0.8), intensity=(3, 3, 3))
    lit = {"camera": "0,-3,2 0,0,0", "environment": "none", "depth": 1, "fov": 1, "size": 4, "spp": 4}
    scene = raystream.Scene(plane.meshes, plane.instances, plane.materials, lights=[lamp])
    found[kind] = float(raystream.render(scene, **lit).linear.mean())
    white = [Material("ground", (1, 1, 1, 1), kind=kind, roughness=0.6)]
    furnace = raystream.Scene(plane.meshes, plane.instances, white)
    options = {"size": 8, "spp": 256, "depth": 1, "fov": 1, "environment": (1, 1, 1), "camera": camera}
    found[kind + " furnace"] = float(raystream.render(furnace, **options).linear.mean())
from raystream.options.table import docstring
found["help"] = "facing" in raystream.Renderer.__doc__
print(json.dumps(found))
"""
BROKEN = """
import json, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import raystream
    from raystream import Material, ViewerError
    raystream.render("cornell", size=4, spp=1)
    faults = []
    for call in (lambda: raystream.load("a.lost"), lambda: raystream.load("a.vague"), lambda: Material(kind="dust")):
        try:
            call()
        except ViewerError as error:
            faults.append(str(error))
print(json.dumps({"told": [str(each.message) for each in told], "faults": faults}))
"""
FAILING = {
    "curious": "def sniff(head): pass\ndef read(path): pass",
    "leaving": "def sniff(head, path): return path.suffix == '.leaving'\ndef read(path): raise SystemExit('bye')",
    "wrong": "import raystream\ndef sniff(head, path): return path.suffix == '.wrong'\ndef read(path):\n"
    "    mesh = raystream.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])\n"
    "    return raystream.Scene([mesh], [raystream.Instance(5)])",
    ".dotted": "def sniff(head, path): return path.suffix == '.dotted'\n"
    "def read(path): raise KeyError('of the author')",
}


def python(folder: Path, plugins: str | Path, *arguments: str, code: int = 0) -> tuple[str, str]:
    """Output and errors of a process that finds these plug-ins."""
    paths = [str(HERE / plugins), str(ROOT), str(ROOT / "tools" / "editable")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a process knows that finds them."""
    folder = tmp_path_factory.mktemp("found")
    for name in ("a.off", "b.model"):
        (folder / name).write_text(OFF)
    return json.loads(python(folder, "found", "-c", USED)[0])


def test_a_reader(found):
    """By its extension, and by content."""
    assert found["off"].startswith("<Scene 'a': 3 triangles") and found["nameless"] == 3


def test_a_program(found):
    """On both machines, with a kernel of its own, and in the help."""
    assert found["singlepass"] == found["multipass"] == pytest.approx([0.5**0.5] * 3, rel=5e-3)
    assert found["help"]


def test_a_material(found):
    """Against the formula, seen from the light's side; and in a furnace less comes back than came."""
    variance = 0.6**2
    a, b = 1 - 0.5 * variance / (variance + 0.33), 0.45 * variance / (variance + 0.09)
    to_light, to_eye = (0.0, -0.6, 0.8), (0.0, -3 / 13**0.5, 2 / 13**0.5)
    here, there = to_light[2], to_eye[2]
    together = (to_light[1] * to_eye[1]) / max(here, there)
    assert found["clay"] / found["lambert"] == pytest.approx(a + b * together, rel=2e-3)
    assert found["lambert furnace"] == pytest.approx(1, rel=1e-5) and 0.7 < found["clay furnace"] < 0.95


def test_broken_ones_are_a_warning_each(tmp_path):
    for name in ("a.lost", "a.vague"):
        (tmp_path / name).write_text("something\n")
    said = json.loads(python(tmp_path, "broken", "-c", BROKEN)[0])
    parts = [line.split(" is left out: ") for line in said["told"]]
    ours = [part for part in parts if len(part) == 2]
    assert [name for name, _ in ours] == [
        f"plug-in {name} (raystream-broken)"
        for name in (
            "nothing of raystream.programs",
            "lost of raystream.formats",
            "vague of raystream.formats",
            "dust of raystream.materials",
        )
    ]
    assert ours[0][1] == ours[1][1] == "ModuleNotFoundError: No module named 'raystream_broken.missing'"
    assert [fault.partition(": ")[2].split(" (")[0] for fault in said["faults"]] == [
        "is of no known scene format",
        "is of no known scene format",
        "unknown kind 'dust'",
    ]


def test_the_command_line_tells_them(tmp_path):
    line = ("-m", "raystream", "render", "cornell", "-o", "a.png", "--size", "4x4", "--spp", "1")
    _, errors = python(tmp_path, "broken", *line)
    notes = [each for each in errors.splitlines() if "plug-in" in each]
    assert len(notes) == 1 and notes[0].startswith("raystream: note: plug-in nothing of raystream.programs")
    assert "plug-in" not in python(tmp_path, "broken", *line, "--quiet")[1]
    out, _ = python(tmp_path, "found", "-m", "raystream", "render", "--help", "all")
    assert "photon or facing" in " ".join(out.split())


def test_the_command_line_tells_why_a_file_is_of_no_known_format(tmp_path):
    """Its plug-in was left out."""
    (tmp_path / "a.lost").write_text("something\n")
    _, errors = python(tmp_path, "broken", "-m", "raystream", "info", "a.lost", code=2)
    *notes, fault = errors.splitlines()
    (note,) = [each for each in notes if each.startswith("raystream: note: plug-in lost of raystream.formats")]
    assert "No module named" in note
    assert fault.startswith("raystream: error: a.lost: is of no known scene format")


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("a.curious", "the plug-in for curious fails: TypeError: sniff() takes 1 positional argument but 2 were given"),
        ("a.leaving", "the plug-in for leaving fails: SystemExit: bye"),
        ("a.wrong", "instance 0 names mesh 5"),
        ("a.dotted", "the plug-in for .dotted fails: KeyError: 'of the author'"),
    ],
)
def test_plugins_that_fail_are_told_in_a_line(tmp_path, file, fault):
    """In ``sniff``, by an exit, by a scene whose parts are not there; and named with the dot of its extension."""
    package, metadata = tmp_path / "site" / "failing", tmp_path / "site" / "failing-1.0.dist-info"
    package.mkdir(parents=True)
    metadata.mkdir()
    (package / "__init__.py").touch()
    points = ["[raystream.formats]"]
    for name, source in FAILING.items():
        module = name.strip(".")
        (package / f"{module}.py").write_text(f"NAME = {name!r}\n{source}\n")
        points.append(f"{name} = failing.{module}")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("\n".join(points) + "\n")
    (tmp_path / file).write_text("something\n")
    _, errors = python(tmp_path, tmp_path / "site", "-m", "raystream", "info", file, code=2)
    (line,) = errors.splitlines()
    assert line.startswith("raystream: error: ") and fault in line and "bug in raystream" not in line


TWICE = """
import json, warnings
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import raystream
    raystream.render("cornell", size=4, spp=1)
    faults = []
    for name in ("a.same", "a.exits"):
        try:
            raystream.load(name)
        except raystream.ViewerError as error:
            faults.append(str(error))
print(json.dumps({"told": [str(each.message) for each in told], "faults": faults}))
"""


def test_exits_and_names_that_come_twice_are_a_warning_each(tmp_path):
    """A module that exits when it is imported; of two distributions the first one's reader is asked."""
    for owner in ("first", "second"):
        package, metadata = tmp_path / "site" / owner, tmp_path / "site" / f"{owner}-1.0.dist-info"
        package.mkdir(parents=True)
        metadata.mkdir()
        (package / "__init__.py").write_text("raise SystemExit('not today')" if owner == "second" else "")
        reader = (
            "from raystream import ViewerError\nNAME = 'same'\ndef sniff(head, path): return path.suffix == '.same'\n"
        )
        (package / "same.py").write_text(reader + f"def read(path): raise ViewerError(str(path), '{owner}')\n")
        points = "[raystream.formats]\nsame = first.same\n"
        if owner == "second":
            points += "exits = second\n[raystream.programs]\nleaving = second:PROGRAM\n"
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {owner}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(points)
    for name in ("a.same", "a.exits"):
        (tmp_path / name).write_text("something\n")
    said = json.loads(python(tmp_path, tmp_path / "site", "-c", TWICE)[0])
    left = sorted(each for each in said["told"] if "plug-in" in each)
    assert len(left) == 3
    assert left[0] == "plug-in exits of raystream.formats (second) is left out: SystemExit: not today"
    assert left[1] == "plug-in leaving of raystream.programs (second) is left out: SystemExit: not today"
    assert "plug-in same of raystream.formats" in left[2] and "has a plug-in of that name" in left[2]
    assert said["faults"][0] == "a.same: first"
    assert (
        said["faults"][1].startswith("a.exits: is of no known scene format") and ".exits" not in said["faults"][1][9:]
    )
