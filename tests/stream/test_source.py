"""GLSL text that knows where its lines came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from raystream.base.errors import ShaderError
from raystream.stream.compile.source import Source

FILES = {
    "main.glsl": '// head\n#include "lib/a.glsl"\n#include "lib/b.glsl"\nint main_thing;\n',
    "lib/a.glsl": '#include "lib/common.glsl"\nint a;\n',
    "lib/b.glsl": '  #  include "lib/common.glsl"  // once is enough\nint b;\n',
    "lib/common.glsl": "int common;\n",
    "commented.glsl": '// #include "gone.glsl"\n/* #include "gone.glsl"\n#include "gone.glsl"\n*/ int x; /**/\n'
    '/* // */ #include "lib/common.glsl"\nint y; // */ /*\n#include "lib/a.glsl"\n',
    "circle.glsl": '#include "circle.glsl"\nint once;\n',
    "lost.glsl": '\n#include "nested.glsl"\n',
    "nested.glsl": '\n\n#include "missing.glsl"\n',
    "folder.glsl": '#include "lib"\n',
}


def read(name: str) -> str:
    if name == "lib":
        raise IsADirectoryError(name)
    try:
        return FILES[name]
    except KeyError:
        raise FileNotFoundError(name) from None


def source(*names: str) -> Source:
    out = Source(read)
    out.add("#version 330 core", "version")
    for name in names:
        out.include(name)
    return out


def test_includes_go_in_once_and_lines_know_their_origin():
    made = source("main.glsl", "lib/common.glsl")
    assert made.text.splitlines() == [
        "#version 330 core",
        "// head",
        "int common;",
        "int a;",
        "int b;",
        "int main_thing;",
    ]
    assert [str(origin) for _, origin in made.lines] == [
        "version", "main.glsl:1", "lib/common.glsl:1", "lib/a.glsl:2", "lib/b.glsl:2", "main.glsl:4",
    ]  # fmt: skip
    assert made.files == ["main.glsl", "lib/a.glsl", "lib/common.glsl", "lib/b.glsl"]


def test_includes_in_comments_are_not_includes():
    made = source("commented.glsl")
    assert made.files == ["commented.glsl", "lib/common.glsl", "lib/a.glsl"]
    assert 'gone.glsl"' in made.text  # comments themselves are kept, so that line numbers are the file's


def test_missing_files_are_named_with_the_line_that_asks():
    with pytest.raises(ShaderError, match=r'nested\.glsl:3: include "missing\.glsl" not found'):
        source("lost.glsl")
    with pytest.raises(ShaderError, match=r'folder\.glsl:1: include "lib" not found'):
        source("folder.glsl")
    near = Source(read)
    near.add("#version 330 core", "version")
    with pytest.raises(ShaderError, match=r"lib/farr\.glsl: shader file not found \(did you mean 'lib/far\.glsl'\?\)"):
        near.include("lib/farr.glsl")
    with pytest.raises(ShaderError, match=r"nowhere\.glsl: shader file not found"):
        source("nowhere.glsl")


# Line 4 of the flat text is line 2 of lib/a.glsl. The header is moderngl's.
HEADER = "GLSL Compiler failed\n\nfragment_shader\n===============\n"
LOGS = {
    "Mesa": "0:2(1): warning: extension unused\n0:4(5): error: `q' undeclared\n0:6(1): error: syntax error\n",
    "NVIDIA": '0(2) : warning C7022: unused\n0(4) : error C1503: undefined variable "q"\n0(6) : error C0000: syntax\n',
    "glslang": "WARNING: 0:2: '' : unused\nERROR: 0:4: 'q' : undeclared identifier\nERROR: 0:6: '' : syntax error\n",
    "Apple": "ERROR: 0:4: Use of undeclared identifier 'q'\nERROR: 0:6: syntax\n",
}


@pytest.mark.parametrize("driver", LOGS)
@pytest.mark.parametrize("header", ["", HEADER])
def test_compile_errors_are_mapped(driver, header):
    made = source("main.glsl")
    error = made.error("GLSL", header + LOGS[driver] + "\0")
    assert error.where == "lib/a.glsl:2"
    assert "q" in error.what and "`int a;`" in error.what
    assert "\n" not in str(error)
    lines = error.log.splitlines()
    assert lines.count("    int a;") == 1 and "    int main_thing;" in lines
    assert any(line.startswith("lib/a.glsl:2: ") for line in lines)
    assert any(line.startswith("main.glsl:4: ") for line in lines)


def test_errors_of_the_linker_have_no_line():
    error = source("main.glsl").error("GLSL", "GLSL Linker failed\n\nerror: unresolved reference to function `walk'\n")
    assert error.where == "GLSL" and error.what == "unresolved reference to function `walk'"
    assert source().error("GLSL", "").what == "no message"


def test_the_drivers_own_error_points_at_the_file(device, shader_folder: Path):
    (shader_folder / "lib" / "broken.glsl").write_text(
        "// a head\n\nfloat half_of(float x) {\n    return x * hlaf;\n}\n"
    )
    (shader_folder / "uses_broken.glsl").write_text('#include "lib/broken.glsl"\nvoid main() { half_of(1.0); }\n')
    fragment, vertex = Source(), Source()
    for made in (fragment, vertex):
        made.add("#version 330 core", "version")
    fragment.include("uses_broken.glsl")
    vertex.add("void main() { gl_Position = vec4(0.0); }", "vertex")
    with pytest.raises(ShaderError) as caught:
        device.program(vertex, fragment)
    assert caught.value.where == "lib/broken.glsl:4"
    assert "hlaf" in caught.value.what and "`return x * hlaf;`" in caught.value.what
    assert "lib/broken.glsl:4:" in caught.value.log


def test_parts_of_what_a_scene_has(monkeypatch):
    text = '#ifdef HAVE_A\na;\n#ifdef HAVE_B\nb;\n#else\nno b;\n#endif\n#else\n#include "gone.glsl"\n#endif\n'
    text += "#ifndef HAVE_A\nnot a;\n#endif\n#if GLSL\n#ifdef OTHER\nkept;\n#else\n#endif\n#endif\nend;\n"
    monkeypatch.setitem(FILES, "parts.glsl", text)
    made = Source(read, features={"A"})
    made.include("parts.glsl")
    kept = ["#if GLSL", "#ifdef OTHER", "kept;", "#else", "#endif", "#endif"]
    assert [line for line, _ in made.lines] == ["a;", "no b;", *kept, "end;"]
    assert made.lines[0][1].line == 2
