"""``--classic`` and glTF's ``extras.classic`` on the command line."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from calls import run
from PIL import Image

from raystream import Renderer, load
from raystream.cli import main as cli

SHOWN = {"program": "whitted", "machine": "singlepass"}
SMALL = ("--size", "8x6", "--spp", "1", *(word for name, value in SHOWN.items() for word in (f"--{name}", value)))
FOUR = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.fixture
def tetrahedron(tmp_path: Path) -> str:
    path = tmp_path / "one.obj"
    path.write_text(FOUR)
    return str(path)


@pytest.mark.usefixtures("device")
def test_a_model_in_glass_is_the_renderer_s(tetrahedron: str, tmp_path: Path) -> None:
    file = str(tmp_path / "a.png")
    run("render", tetrahedron, "--classic", "-o", file, "--quiet", *SMALL)
    renderer = Renderer(tetrahedron, classic=True, **SHOWN)
    picture = renderer.render(size=(8, 6), spp=1)
    renderer.release()
    picture.save(str(tmp_path / "b.png"))
    assert np.array_equal(np.asarray(Image.open(file)), np.asarray(Image.open(tmp_path / "b.png")))
    assert {material.kind for material in load(tetrahedron).materials} == {"lambert"}


def test_what_cannot_stand_on_a_plane_is_told(tmp_path: Path, capsys) -> None:
    (tmp_path / "point.obj").write_text("v 0 0 0\nf 1 1 1\n")
    run("render", str(tmp_path / "point.obj"), "--classic", "-o", str(tmp_path / "a.png"), *SMALL, code=2)
    assert "has no extent to put a plane under" in capsys.readouterr().err


def test_the_window_takes_it() -> None:
    assert cli._parse("view", ["bunny.ply", "--classic"]).classic is True
    assert cli._parse("view", ["bunny.ply"]).classic is False


@pytest.mark.usefixtures("device")
def test_info_tells_what_extras_say(tmp_path: Path, capsys) -> None:
    corners = np.eye(3, dtype="<f4").tobytes()
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "material": 0}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "data:;base64," + base64.b64encode(corners).decode()}],
        "materials": [{"extras": {"classic": {"transmittance": 0.5, "indices": [1.4, 1.5, 1.6], "thickness": 2}}}],
    }
    path = tmp_path / "glass.gltf"
    path.write_text(json.dumps(document))
    run("info", str(path))
    assert "transmittance 0.5, indices (1.4, 1.5, 1.6), thickness 2 (path)" in capsys.readouterr().out
    run("info", str(path), "--json")
    told = json.loads(capsys.readouterr().out)["materials"][0]["classic"]
    assert told["indices"] == [1.4, 1.5, 1.6] and told["vertex_colors"] is False  # its mesh has none
