"""Programs in files of users: pictures, faults with the file's line, edits, other processes, the command line."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.cli.main import main
from raystream.programs import PICTURES
from raystream.renderer.inputs import program_file
from raystream.renderer.inputs.program_file import program_files, program_path, read_program
from raystream.renderer.inputs.settings import Settings

EXAMPLE = Path(__file__).parents[1] / "plugins" / "found" / "raystream_example"
VIEW = {"camera": "0,2,2 0,0,0", "fov": 1.0, "environment": "none"}
CORNERS, FACES = [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]]


@pytest.fixture
def facing(tmp_path, monkeypatch):
    """The path of a program of two files, in a folder of its own; nothing of it stays known."""
    known = dict(PICTURES)
    monkeypatch.setattr(program_file, "_FILES", {})
    for name in ("facing.py", "face_camera.glsl"):
        shutil.copy(EXAMPLE / name, tmp_path)
    yield tmp_path / "facing.py"
    PICTURES.clear()
    PICTURES.update(known)


def edit(path, old, new):
    """Change a file, and its time."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def looked(renderer):
    """The mean of a small picture."""
    return renderer.render(size=(4, 4), spp=1).linear.mean()


@pytest.fixture
def renderer(facing, device):
    """Of a plane at an angle of 45 degrees, with the program."""
    plane = raystream.Scene.from_triangles(CORNERS, FACES)
    made = raystream.Renderer(plane, program=facing, **VIEW, device=device)
    yield made
    made.release()


def test_a_picture(facing, renderer):
    """The cosine of the angle; named by its program from then on."""
    assert looked(renderer) == pytest.approx(0.5**0.5, rel=5e-3)
    assert renderer.settings.program == "facing" and PICTURES["facing"].help == "how far surfaces face the camera"
    assert program_files() == [str(facing)] and program_path("facing") == str(facing) and program_path("path") is None
    assert read_program("facing") == read_program(str(facing)) == "facing"


def test_another_process_reads_the_file_itself(facing):
    settings = Settings(program=str(facing), depth=2)
    sent = pickle.dumps(settings)
    assert str(facing).encode() in sent and pickle.loads(sent) == settings


FAULTS = {
    "syntax": ("    begin = State(", "    begin = State)", "{path}:26: unmatched ')'"),
    "name": (
        '"facing",\n        streams',
        "facin,\n        streams",
        "{path}:29: NameError: name 'facin' is not defined",
    ),
    "import": (
        "from raystream.kernels import paths",
        "import nothing",
        "{path}:7: ModuleNotFoundError: No module named",
    ),
    "exit": ("PROGRAM = ", "raise SystemExit(3)\nPROGRAM = ", "{path}:45: SystemExit: 3"),
    "keyword": (', first_hits: str = "rays"', ", *, first: str", "{path}:24: TypeError: facing() missing 1 required"),
    "inner": ("FACE = K", "def made():\n    return Kern()\nFACE = made() or K", "{path}:16: NameError: name 'Kern'"),
    "kernel": ('exits=("done",)', "exits=()", "{path}:15: kernel face_camera: no exits"),
    "wire": ('FACE, {"done": "finish"}', 'FACE, {"done": "finis"}', "{path}:28: program facing"),
    "none": ("PROGRAM = ", "program = ", "{path}: has no PROGRAM"),
    "type": ("PROGRAM = PictureProgram", "PROGRAM = dict(a=1) or dict", "{path}: PROGRAM is of type dict, not Pict"),
    "maker": ('PictureProgram("facing", facing', 'PictureProgram("facing", 3', "{path}: the maker of PROGRAM is no"),
    "returned": ("    return Program(", "    made = Program(", "{path}:24: the maker of PROGRAM returns NoneType"),
    "taken": ('PictureProgram("facing"', 'PictureProgram("path"', "{path}: programs path and path: one name"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_name_the_line(facing, fault):
    """And leave the programs as they were."""
    old, new, told = FAULTS[fault]
    before = dict(PICTURES)
    edit(facing, old, new)
    with pytest.raises(ViewerError) as error:
        read_program(str(facing))
    assert str(error.value).startswith(told.format(path=facing)), str(error.value)
    assert before == PICTURES and not program_files()


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"a\0b"], ids=["folder", "not-utf-8", "null"])
def test_what_is_no_program(tmp_path, content):
    path = tmp_path / "a.py"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(ViewerError, match=r"a\.py(:1)?: "):
        read_program(str(path))


def test_a_shader_s_fault_names_its_line(facing, renderer):
    edit(facing.with_name("face_camera.glsl"), "geometry_at(", "geometry_of(")
    with pytest.raises(ViewerError) as error:
        looked(renderer)
    assert str(error.value).startswith(f"{facing.with_name('face_camera.glsl')}:5: ")
    facing.with_name("face_camera.glsl").write_bytes(b"\xff")
    with pytest.raises(ViewerError, match=r"face_camera\.glsl: is no text in UTF-8"):
        renderer.reload()
    facing.with_name("face_camera.glsl").unlink()
    with pytest.raises(ViewerError, match=r"face_camera.glsl: shader file not found$"):
        renderer.reload()


def test_includes_lie_beside(facing, renderer):
    """Files of the package as before; errors in one name its line."""
    edit(facing.with_name("face_camera.glsl"), '#include "interface', '#include "half.glsl"\n#include "interface')
    edit(facing.with_name("face_camera.glsl"), "vec3(abs(", "half_of(abs(")
    half = facing.with_name("half.glsl")
    half.write_text("vec3 half_of(float x) { return vec3(0.5 * x); }\n")
    assert looked(renderer) == pytest.approx(0.5 * 0.5**0.5, rel=5e-3)
    half.write_text("\nvec3 half_of(float x) { return vec3(0.5 * y); }\n")
    with pytest.raises(ViewerError) as error:
        renderer.reload()
    assert str(error.value).startswith(f"{half}:2: ")


def test_edits_are_taken_over_by_a_reload(facing, renderer):
    """Of the shader and of the wiring; a faulty one leaves the last good ones at work."""
    first = looked(renderer)
    edit(facing.with_name("face_camera.glsl"), "vec3(abs(", "vec3(0.5 * abs(")
    assert looked(renderer) == first
    renderer.reload()
    assert looked(renderer) == pytest.approx(first / 2, rel=1e-6)

    edit(facing, '"face_camera",', '"face_red",')  # a kernel of another name, without its file
    edit(facing, 'with_name("face_camera.glsl")', 'with_name("face_red.glsl")')
    for _ in range(2):
        with pytest.raises(ViewerError, match=r"face_red\.glsl: shader file not found"):
            renderer.reload()
        assert looked(renderer) == pytest.approx(first / 2, rel=1e-6)
    red = facing.with_name("face_camera.glsl").read_text().replace("face_camera", "face_red")
    facing.with_name("face_red.glsl").write_text(red.replace("vec3(0.5 *", "vec3(0.25 *"))
    renderer.reload()
    assert looked(renderer) == pytest.approx(first / 4, rel=1e-6)

    edit(facing, '"face", FACE', '"face", FACES')
    with pytest.raises(ViewerError, match=r"facing\.py:36: NameError"):
        renderer.reload()
    assert looked(renderer) == pytest.approx(first / 4, rel=1e-6)
    edit(facing, '"face", FACES', '"face", FACE')
    edit(facing, 'PictureProgram("facing"', 'PictureProgram("faced"')
    with pytest.raises(ViewerError, match="its program was 'facing' and is now 'faced'"):
        renderer.reload()


def test_the_command_line(facing, tmp_path, capsys):
    line = ["render", "cornell", "--program", str(facing), "--size", "4x4", "--spp", "1", "-o", str(tmp_path / "a.npz")]
    assert main(line) == 0 and np.load(tmp_path / "a.npz")["linear"].max() > 0
    assert main(["graph", str(facing), "-o", "-"]) == 0
    assert "face_camera" in capsys.readouterr().out
    assert main([*line[:3], str(tmp_path / "none.py"), *line[4:]]) == 2
    assert (
        capsys.readouterr().err.strip().endswith("none.py: no program: No such file or directory (name a Python file)")
    )


def test_a_file_is_a_module_of_its_own(facing):
    """Dataclasses look their module up, and what Raystream has switched on for its own files is not on there."""
    own = "from dataclasses import dataclass\n\n@dataclass\nclass Own:\n    number: int = 0\n\n"
    later, text = "from __future__ import annotations\n", facing.read_text()
    facing.write_text(text.replace(later, "") + own + "assert Own.__annotations__['number'] is int\n")
    assert read_program(facing) == "facing"
    facing.write_text(text + own + "assert Own.__annotations__['number'] == 'int'\n")
    assert read_program(facing) == "facing"
