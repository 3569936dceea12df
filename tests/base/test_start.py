"""A command's start: bytecode where Python keeps none, garbage, and modules that a first picture does without."""

from __future__ import annotations

import gc
import ntpath
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from raystream.base.start import bytecode, modules

ROOT = Path(__file__).resolve().parents[2]
# Prints the modules below a folder that are compiled from their source, and a value of one of them.
SCRIPT = """
import sys
from raystream.base.start import bytecode
folder, compiled = sys.argv[1], []
sys.path.insert(0, folder)
bytecode.keep(folder)
sys.addaudithook(lambda event, given: event == "compile" and compiled.append(str(given[1])))
import package.part, outside
print([each[len(folder):] for each in compiled if each.startswith(folder)], package.part.VALUE)
"""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with a package, and a module beside it."""
    package = tmp_path / "kept" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "part.py").write_text("VALUE = 1\n")
    (tmp_path / "kept" / "outside.py").write_text("VALUE = 2\n")
    return tmp_path / "kept"


def compiled(folder: Path, cache: Path) -> str:
    environment = {**os.environ, "RAYSTREAM_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def test_bytecode_is_kept_apart_from_the_sources(sources: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert compiled(sources, cache) == "['/package/__init__.py', '/package/part.py', '/outside.py'] 1"
    assert compiled(sources, cache) == "[] 1"
    assert not list(sources.rglob("__pycache__")) and len(list(cache.iterdir())) == 3


def test_a_source_that_has_changed_is_compiled_anew(sources: Path, tmp_path: Path) -> None:
    cache, part = tmp_path / "cache", sources / "package" / "part.py"
    compiled(sources, cache)
    part.write_text("VALUE = 3\n")
    os.utime(part, ns=(part.stat().st_atime_ns, part.stat().st_mtime_ns + 1))
    assert compiled(sources, cache) == "['/package/part.py'] 3"


def test_damaged_bytecode_is_as_good_as_none(sources: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    compiled(sources, cache)
    for path in cache.iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    assert compiled(sources, cache).endswith("'/outside.py'] 1")
    assert compiled(sources, cache) == "[] 1"


def test_folders_on_other_drives_are_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path_hooks", [])
    bytecode.keep("C:\\raystream\\viewer")
    (hook,) = sys.path_hooks
    monkeypatch.setattr(bytecode, "os", SimpleNamespace(path=ntpath))
    for other in ("D:\\elsewhere", "C:\\raystream", "C:\\raystream\\viewer2"):
        with pytest.raises(ImportError, match="not below"):
            hook(other)


def test_one_copy_s_bytecode_is_not_another_s(sources: Path, tmp_path: Path) -> None:
    """Of the same names, sizes and times, elsewhere: two checkouts share a cache."""
    cache, other = tmp_path / "cache", tmp_path / "other"
    compiled(sources, cache)
    (other / "package").mkdir(parents=True)
    for name, text in {
        "package/__init__.py": "",
        "package/part.py": "VALUE = 5\n",
        "outside.py": "VALUE = 2\n",
    }.items():
        (other / name).write_text(text)
        found = (sources / name).stat()
        os.utime(other / name, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert compiled(other, cache).endswith(" 5")


def test_what_modules_hold_is_no_garbage() -> None:
    script = "import gc\nfrom raystream.base.start.modules import begin, loaded\nbegin()\nassert not gc.isenabled()\n"
    script += "loaded()\nassert gc.isenabled() and gc.get_freeze_count() > 1000"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0
    assert gc.isenabled() and modules.VARIABLES


def test_what_a_first_picture_does_without() -> None:
    """Each takes longer to load than a picture of few triangles takes."""
    script = "import sys\nfrom raystream.renderer.renderer import Renderer\n"
    script += "Renderer('cornell').render((8, 8), spp=1).png('auto', 'agx')\n"
    names = ("llvmlite", "numba", "numpy.ma", "numpy.random", "asyncio", "ssl", "multiprocessing")
    script += f"print(*(name for name in {names} if name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
