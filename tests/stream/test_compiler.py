"""Programs that are begun, asked for and handed to moderngl, their binaries on disk, and calls resolved: same bits."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from raystream.base import cache_folder
from raystream.base.errors import ShaderError
from raystream.stream.compile.source import Source
from raystream.stream.gl.compiler import Batch, Binaries
from raystream.stream.gl.device import Device
from raystream.stream.gl.draw import Shader, square, tiles_source

SIZE = (16, 8)
WAVES = "uniform float rate;\nout vec4 sum;\nvoid main() { sum = sin(gl_FragCoord * rate) / (1.0 + gl_FragCoord.x); }"


def source(text: str = WAVES) -> Source:
    made = Source.begin()
    made.add(text, "waves")
    return made


def drawn(device: Device, shader: Shader) -> NDArray[np.float32]:
    """(H, W, 4) of a fragment program over a texture."""
    drawing, texture = square(device, shader), device.context.texture(SIZE, 4, dtype="f4")
    shader.set("rate", 0.37)
    target = device.context.framebuffer([texture])
    target.use()
    device.context.disable(moderngl.DEPTH_TEST | moderngl.BLEND | moderngl.CULL_FACE)
    drawing.render()
    found = np.frombuffer(texture.read(), np.float32).reshape(*SIZE[::-1], 4).copy()
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv(cache_folder.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def fresh(device: Device, folder: Path) -> Callable[[], Device]:
    """Devices as of new processes, with binaries."""

    def make() -> Device:
        made = Device(device.context, binaries=True)
        if made.compiler.binaries is None:
            pytest.skip("the driver has no program binaries")
        return made

    return make


def test_binaries_give_the_same_bits(fresh: Callable[[], Device], folder: Path) -> None:
    first, second, without = fresh(), fresh(), fresh()
    without.compiler.binaries = None
    pictures = [drawn(each, Shader(each, source())) for each in (first, second, without)]
    assert [each.compiler.loaded for each in (first, second, without)] == [0, 1, 0]
    assert len(list(folder.iterdir())) == 1 and pictures[0].any()
    np.testing.assert_array_equal(pictures[1], pictures[0])
    np.testing.assert_array_equal(pictures[2], pictures[0])


def _damaged(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


def _refused(content: bytes) -> bytes:
    """As no driver's, with its checksum right."""
    inner = content.partition(b"\n")[2][:4] + bytes(range(256))
    return hashlib.sha256(inner).hexdigest().encode() + b"\n" + inner


def _unknown(content: bytes) -> bytes:
    """In a format that the driver does not know."""
    inner = b"\xff\xff\xff\x7f" + content.partition(b"\n")[2][4:]
    return hashlib.sha256(inner).hexdigest().encode() + b"\n" + inner


@pytest.mark.parametrize(
    "spoil",
    [_damaged, lambda content: content[: len(content) // 2], lambda _: b"", _refused, _unknown],
    ids=["damaged", "truncated", "empty", "refused", "unknown"],
)
def test_what_is_of_no_use_is_replaced(
    fresh: Callable[[], Device], folder: Path, spoil: Callable[[bytes], bytes]
) -> None:
    first, second, third = fresh(), fresh(), fresh()
    picture = drawn(first, Shader(first, source()))
    (path,) = folder.iterdir()
    good = path.read_bytes()
    path.write_bytes(spoil(good))
    np.testing.assert_array_equal(drawn(second, Shader(second, source())), picture)
    assert second.compiler.loaded == 0 and list(folder.iterdir()) == [path]
    assert second.context.error == "GL_NO_ERROR"
    np.testing.assert_array_equal(drawn(third, Shader(third, source())), picture)
    assert third.compiler.loaded == 1


def test_another_driver_or_source_has_its_own(fresh: Callable[[], Device], folder: Path) -> None:
    first, second = fresh(), fresh()
    Shader(first, source())
    assert second.compiler.binaries is not None
    second.compiler.binaries = Binaries(second.compiler.binaries.driver + ".1")
    Shader(second, source())
    Shader(first, source(WAVES.replace("1.0", "2.0")))
    assert first.compiler.loaded == second.compiler.loaded == 0 and len(list(folder.iterdir())) == 3


def test_transform_feedback(fresh: Callable[[], Device], folder: Path) -> None:
    """Its outputs are in the binary, in their order; another order is another program."""
    vertex, geometry = (
        source("in float corner;\nout float at;\nvoid main() { at = corner; }"),
        source(
            "layout(points) in;\nlayout(points, max_vertices = 2) out;\nin float at[];\nout float twice, half_;\n"
            "void main() { twice = 2.0 * at[0]; half_ = 0.5 * at[0]; if (at[0] > 1.0) EmitVertex(); }"
        ),
    )
    found = []
    for outputs in (("twice", "half_"), ("twice", "half_"), ("half_", "twice")):
        device = fresh()
        program = device.feedback_program(vertex, geometry, outputs)
        values = device.context.buffer(np.arange(5, dtype=np.float32))
        room = device.context.buffer(reserve=40)
        array = device.context.vertex_array(program, [(values, "1f4", "corner")])
        query = device.context.query(primitives=True)
        with query:
            array.transform(room, moderngl.POINTS)
        assert query.primitives == 3
        found.append((device.compiler.loaded, np.frombuffer(room.read(24), np.float32).tolist()))
    assert found == [(0, [4, 1, 6, 1.5, 8, 2]), (1, [4, 1, 6, 1.5, 8, 2]), (0, [1, 4, 1.5, 6, 2, 8])]
    assert len(list(folder.iterdir())) == 2


def test_used_last_stays_longest(folder: Path) -> None:
    kept = Binaries("a driver", max_bytes=5000)
    for number in range(4):
        kept.store(kept.name(str(number)), 7, bytes(1000))
        os.utime(folder / kept.name(str(number)), (number, number))
    assert kept.find(kept.name("0")) == (7, bytes(1000))  # used just now
    (folder / "left by a killed writer.program").write_bytes(bytes(500))
    os.utime(folder / "left by a killed writer.program", (1, 1))
    (folder / "a loop.o").write_bytes(bytes(9000))  # of another cache
    other = Binaries("another driver", max_bytes=3500)
    other.store(other.name("4"), 7, bytes(1000))
    assert {path.name for path in folder.iterdir()} == {
        "a loop.o",
        *(kept.name(number) for number in ("0", "3")),
        other.name("4"),
    }
    for number in range(5, 9):  # few bytes since: the whole is not looked at
        other.store(other.name(str(number)), 7, bytes(1000))
    assert len(list(folder.iterdir())) == 8


# -- in the driver's threads -------------------------------------------------------------------------------------------


def test_nothing_waits_for_what_is_not_complete(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler, asked, late = device.compiler, [], {"polls": 3}
    status = compiler.status

    def complete(program: int) -> bool:
        late["polls"] -= 1
        return late["polls"] < 0

    monkeypatch.setattr(compiler, "complete", complete)
    monkeypatch.setattr(compiler, "status", lambda program: asked.append(program) or status(program))
    with device.deferred() as batch:
        shaders = [Shader(device, source()), Shader(device, source(WAVES.replace("sin", "cos")))]
        for shader in shaders:
            shader.set("rate", 0.25)  # is set as soon as there is a program
    compiled, steps = device.compiled, batch.steps()
    assert [next(steps) for _ in range(2)] == [0.0, 0.0] and len(compiler.pending) == 2
    assert next(steps) < 1 and compiler.busy and not asked and device.compiled == compiled
    assert list(steps) == [] or not compiler.busy
    assert len(asked) == 2 and not compiler.pending and not batch and device.compiled == compiled + 2
    assert [shader.program["rate"].value for shader in shaders] == [0.25, 0.25]
    assert not np.array_equal(*(drawn(device, shader) for shader in shaders))


def test_a_shader_that_is_drawn_before_is_waited_for(device: Device) -> None:
    with device.deferred() as batch:
        shader, unused = Shader(device, source()), Shader(device, source())
    assert len(batch) == 2 and drawn(device, shader).any()
    batch.release()
    assert not batch and not device.compiler.pending
    assert set(unused.program) == set(shader.program)  # all the same, when it is asked for


def test_faults_are_told_by_file_and_every_time(device: Device) -> None:
    bad = source("out vec4 sum;\nvoid main() { sum = vec4(nonesuch); }")
    with device.deferred() as batch:
        good, shader = Shader(device, source()), Shader(device, bad)
    for ask in (batch.finish, lambda: shader.program, lambda: Shader(device, bad)):
        with pytest.raises(ShaderError, match="nonesuch") as raised:
            ask()
        assert "waves" in raised.value.where and raised.value.log
    assert not device.compiler.pending and drawn(device, good).any()
    with pytest.raises(ShaderError, match="GLSL"):  # each compiles, and they do not link
        Shader(device, source("uniform vec4 depth;\nout vec4 sum;\nvoid main() { sum = depth; }"))
    assert device.context.error == "GL_NO_ERROR"


def test_a_context_of_others_compiles_by_moderngl(device: Device) -> None:
    """Without the functions in between, at once and with the same faults."""
    context: Any = device.context.mglo._context.context
    plain = Device(moderngl.create_context(context=context))
    assert plain.compiler.prelinked is None and drawn(plain, Shader(plain, source())).any()
    with plain.deferred() as batch:
        shader = Shader(plain, source())
    assert list(batch.steps()) == [0.0] and not batch and shader.program
    with pytest.raises(ShaderError, match="nonesuch"):
        Shader(plain, source("void main() { nonesuch(); }"))
    assert list(Batch().steps()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals between processes")
def test_a_program_is_made_whole_before_an_interrupt(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a program was compiled crashed in moderngl, which calls Python in between and ignores what that
    raised."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be inherited as ignored
    compile_, made = device.context.program, list[Any]()

    def interrupted(**stages: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        made.append(compile_(**stages))
        return made[-1]

    monkeypatch.setattr(device.context, "program", interrupted, raising=False)
    try:
        with pytest.raises(KeyboardInterrupt):
            device.program(tiles_source(), source("out vec4 color;\nvoid main() { color = vec4(1.0); }"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(made) == 1
    made[0].release()


ROOT = Path(__file__).resolve().parents[2]


def test_a_folder_that_cannot_be_written(
    fresh: Callable[[], Device], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache_folder.FOLDER, str(tmp_path / "file" / "cache"))
    device = fresh()
    assert drawn(device, Shader(device, source())).any() and device.compiler.loaded == 0


WRITER = """
import sys
from raystream.stream.gl.compiler import Binaries
binaries, content = Binaries("one driver", max_bytes=30000), bytes([int(sys.argv[1])]) * 10000
for number in range(200):
    name = binaries.name(str(number % 5))
    binaries._bytes_since_sweep = 1 << 30
    binaries.store(name, 1, content)
    form, found = binaries.find(name) or (1, content)
    assert form == 1 and len(found) == 10000 and len(set(found)) == 1
"""


def test_two_processes_at_once(folder: Path) -> None:
    """What one of them reads is whole, whichever has written it, and swept or not."""
    both = [subprocess.Popen([sys.executable, "-c", WRITER, str(k)], cwd=ROOT, stderr=subprocess.PIPE) for k in (1, 2)]
    for each in both:
        assert each.communicate(timeout=600)[1] == b"" and each.returncode == 0
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 30000
