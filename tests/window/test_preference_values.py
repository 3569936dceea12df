"""Values in the settings' file: those that are taken, and one line for each thing that can be wrong with it."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from raystream.base.errors import ViewerError
from raystream.viewport import preferences as module
from raystream.viewport.preferences import READERS, Preferences
from tests.window.conftest import written

BROKEN = [
    (b"exposure = \n", "line 1", "is no TOML"),
    (b"a = 1\nb = 2\nexposure == 3\n", "line 3", "is no TOML"),
    (b"a = 1\nexposure = [1,\n", "line 2", "is no TOML"),
    (b"exposure = [1,", "line 1", "is no TOML"),
    (b"exposure = 1\nexposure = 2\n", "line 2", "is no TOML"),
    (b"a = " + b"9" * 5000, "", "is no TOML"),
    (b"a = 1\nb = '\xff'\n", "line 2", "is not UTF-8"),
    (b"a = " + b"[" * 100_000, "", ""),
    (b"\n\nexposure = 'much'\n", "line 3", 'exposure = "much" (expected auto or a number of stops from -32 to 32)'),
    (b"exposure = nan", "line 1", "exposure = nan"),
    (b"speed = 0", "line 1", "speed = 0 (expected a factor"),
    (b"size = [1, 2, 3]", "line 1", "size = [1, 2, 3] (expected [WIDTH, HEIGHT]"),
    (b"a = 1\nkeys = 5", "line 2", "table of keys"),
    (b"a = 1\n[keys]\nhelp = 5", "line 2", "table of keys"),
    (b"[keys.help]\nb = 5", "line 1", "table of keys"),
]


@pytest.mark.parametrize("data, line, words", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_is_one_line_and_is_never_lost(path, data: bytes, line: str, words: str) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(ViewerError) as error:
        Preferences.load(path)
    text = str(error.value)
    assert text.startswith(f"{path}: ") and line in text and words in text
    assert "\n" not in text and len(text) < len(str(path)) + 300
    fallback = Preferences(path=path, statistics=True)  # what the window goes on with
    try:
        tomllib.loads(data.decode())
        valid = len(data) < module.MAX_FILE_BYTES
    except (ValueError, RecursionError):
        valid = False
    if valid:  # only a value is wrong: the rest can be saved, and it stays as it is
        fallback.save()
        kept = path.read_bytes().replace(b"statistics = true\n", b"")
        assert kept.split() == data.split()  # a blank line before a table may be new
    else:
        with pytest.raises(ViewerError):
            fallback.save()
        assert path.read_bytes() == data


@pytest.mark.parametrize("levels", [150, 400])
def test_more_levels_than_can_be_saved(path, levels: int) -> None:
    nested = "[" * levels + "]" * levels
    with pytest.raises(ViewerError, match=r"recent|nested too deeply"):
        Preferences.load(written(path, f"recent = {nested}\n"))
    text = f"other = {nested}\n"
    with pytest.raises(ViewerError, match="nested too deeply"):
        Preferences(path=written(path, text), panels=True).save()
    assert path.read_text() == text


def test_places_that_hold_no_file(tmp_path, path) -> None:
    for wrong in (tmp_path, Path(os.devnull)):
        with pytest.raises(ViewerError, match="is no file"):
            Preferences.load(wrong)
        with pytest.raises(ViewerError, match="is no file"):
            Preferences(path=wrong, panels=True).save()
    (tmp_path / "plain").write_text("")
    with pytest.raises(ViewerError, match="cannot be"):
        Preferences(path=tmp_path / "plain" / "settings.toml", panels=True).save()


@pytest.mark.parametrize(
    "line",
    [
        *("size = [32769, 5]", "size = [5, 32769]", "size = [5, 0]", "size = [5]", "size = [5.0, 5]", "size = '5x5'"),
        *("size = [5, true]", "samples = 0", "samples = 65537", "samples = 1.0", "samples = true", "samples = '4'"),
        *("noise = -0.001", "noise = 1.001", "noise = true", "noise = 'little'", "noise = nan"),
        *("speed = 0.99e-4", "speed = 10_000.1", "exposure = 32.1", "exposure = -32.1", "exposure = '1'"),
        *(
            "mode = 1",
            "exposure = true",
            "mode = 'swim'",
            "hint = 0",
            "full_screen = 'yes'",
            "tonemap = ''",
            "recent = [['a']]",
        ),
        *("recent = {a = 'b'}", "keys = ['a']", "keys = {a = ['b', 3]}", "keys = {a = true}"),
    ],
)
def test_values_that_are_refused(path, line: str) -> None:
    with pytest.raises(ViewerError) as error:
        Preferences.load(written(path, f"panels = true\n{line}\n"))
    name = line.partition(" ")[0]
    text = str(error.value)
    assert text.startswith((f"{path}: line 2: {name} = ", f"{path}: line 2: [{name}] ")) and READERS[name][1] in text


def test_a_file_may_be_as_long_as_this(path) -> None:
    path.parent.mkdir()
    for more, taken in ((0, True), (1, False)):
        path.write_bytes(b"panels = true\n".ljust(module.MAX_FILE_BYTES + more, b"#"))
        if taken:
            assert Preferences.load(path).panels
        else:
            with pytest.raises(ViewerError, match="is larger than 262144 bytes"):
                Preferences.load(path)
