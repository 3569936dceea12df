"""The settings' file: its place, what comes back, what stays as it was, and how it is written."""

from __future__ import annotations

import os
import stat
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.viewport.keymap import ACTIONS, Keymap
from raystream.viewport.preferences import MAX_RECENT, READERS, Preferences, settings_path
from tests.window.conftest import written

HAND_WRITTEN = """\
# mine
exposure = 0.5   # a dim screen
theme = "dark"

recent = [  # the last ones
    "a.glb",
    "b [old].ply",
]
note = \"\"\"
exposure = 9
[keys]
\"\"\"

[keys]
# next to the left hand
"camera.focus" = "Ctrl+F"

[extra.deep]
when = 2024-02-29
"""


# Where


def test_the_file_s_place(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("RAYSTREAM_SETTINGS", str(tmp_path / "x.toml"))
    assert settings_path() == tmp_path / "x.toml" == Preferences().path
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAYSTREAM_SETTINGS", "~/y.toml")
    if os.name == "posix":
        assert settings_path() == tmp_path / "y.toml"
    for nothing in ("", "  "):
        monkeypatch.setenv("RAYSTREAM_SETTINGS", nothing)
        assert settings_path().name == "settings.toml" and settings_path().parent.name == "raystream"


# There and back

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
keys = st.one_of(names, st.lists(names, max_size=3))
anything = st.builds(
    Preferences,
    size=st.tuples(st.integers(1, 32768), st.integers(1, 32768)),
    full_screen=st.booleans(),
    panels=st.booleans(),
    statistics=st.booleans(),
    exposure=st.floats(-32, 32),
    tonemap=names,
    mode=st.sampled_from(["orbit", "fly"]),
    speed=st.floats(1e-4, 1e4),
    recent=st.lists(names, max_size=MAX_RECENT, unique=True),
    keys=st.dictionaries(st.one_of(st.sampled_from([a.name for a in ACTIONS]), names), keys, max_size=4),
)


@profile(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(anything, anything)
def test_over_another_one_too(tmp_path, first: Preferences, second: Preferences) -> None:
    path = tmp_path / "s.toml"
    path.unlink(missing_ok=True)
    first.save(path)
    settings = Preferences.load(path)
    assert settings == first and settings.unknown == []
    for name in READERS:
        setattr(settings, name, getattr(second, name))
    settings.save()
    assert Preferences.load(path) == second


# What a person wrote stays


def test_only_the_changed_lines_change(path) -> None:
    settings = Preferences.load(written(path, HAND_WRITTEN))
    assert settings.exposure == 0.5 and settings.recent == ["a.glb", "b [old].ply"]
    assert settings.keys == {"camera.focus": "Ctrl+F"}
    assert Keymap(settings.keys).text("camera.focus") == "Ctrl+F"
    settings.exposure, settings.panels = -1.0, True
    settings.remember("c.obj")
    settings.save()
    before, after = HAND_WRITTEN.splitlines(), path.read_text().splitlines()
    gone = [line for line in before if line not in after]
    assert gone == [
        "exposure = 0.5   # a dim screen",
        "recent = [  # the last ones",
        '    "a.glb",',
        '    "b [old].ply",',
        "]",
    ]
    new = [line for line in after if line not in before]
    assert new == ["exposure = -1.0   # a dim screen", 'recent = ["c.obj", "a.glb", "b [old].ply"]', "panels = true"]
    assert after.index("panels = true") < after.index("# next to the left hand") - 1
    back = Preferences.load(path)
    assert back == settings
    assert tomllib.loads(path.read_text())["extra"]["deep"] == tomllib.loads(HAND_WRITTEN)["extra"]["deep"]


def test_unchanged_settings_are_not_written(path) -> None:
    settings = Preferences.load(written(path, HAND_WRITTEN))
    os.utime(path, (1, 1))
    settings.save()
    assert path.stat().st_mtime == 1


def test_settings_whose_file_was_removed_meanwhile_are_all_written(path) -> None:
    settings = Preferences.load(written(path, "panels = true\nspeed = 2.0\n"))
    path.unlink()
    settings.statistics = True
    settings.save()
    assert Preferences.load(path) == settings and (settings.panels, settings.speed) == (True, 2.0)


def test_what_another_window_wrote_meanwhile_stays(path) -> None:
    written(path, "exposure = 1.0\n")
    one, two = Preferences.load(path), Preferences.load(path)
    one.statistics = True
    one.save()
    two.exposure = 3.0
    two.save()
    assert Preferences.load(path) == Preferences(exposure=3.0, statistics=True)
    two.statistics = True
    two.save()
    two.statistics = False
    two.save()
    one.save()  # it has nothing new to tell
    assert Preferences.load(path) == Preferences(exposure=3.0)


@pytest.mark.parametrize(
    "text",
    [
        'keys = { "help" = "F1" }\nexposure = 1.0\n',
        'keys."help" = "F1"\n',
        '"exposure" = 1.0\n[keys]\nhelp = "F1"\n',
        "recent = [\n" + '"a",\n' * 300 + "]\n[keys]\nhelp = 'F1'\n",
        "[other]\nx = [{ a = 1e400, b = nan }, 1979-05-27T07:32:00Z, 07:32:00]\n[keys]\nhelp = 'F1'\n",
    ],
)
def test_unusual_spellings_keep_their_values(path, text: str) -> None:
    settings = Preferences.load(written(path, text))
    settings.exposure = 2.0
    settings.keys = {**settings.keys, "camera.focus": ["F7", "F8"]}
    settings.save()
    back = Preferences.load(path)
    assert back.exposure == 2.0 and back.keys == {"help": "F1", "camera.focus": ["F7", "F8"]}
    other = tomllib.loads(text).get("other")
    assert repr(tomllib.loads(path.read_text()).get("other")) == repr(other)


def test_comments_within_a_table_stay_as_its_keys_change(path) -> None:
    table = '[keys]  # of this keyboard\n# flight\n"fly.up" = "R"  # not E\nhelp = "F1"\n# the end\n'
    settings = Preferences.load(written(path, table))
    settings.keys = {"fly.up": "T", "pause": ["P", "Space"]}
    settings.save()
    assert path.read_text() == (
        '[keys]  # of this keyboard\n# flight\n"fly.up" = "T"  # not E\n# the end\npause = ["P", "Space"]\n'
    )


def test_a_value_of_very_many_lines_takes_no_longer(path) -> None:
    settings = Preferences.load(written(path, "recent = [\n" + '"a",\n' * 3_000 + "]\n"))
    settings.panels = True
    began = time.process_time()
    settings.save()
    assert time.process_time() - began < 10  # seconds; 0.5 where time grows with the lines, not with their square
    assert Preferences.load(path) == Preferences(panels=True, recent=["a"])


def test_unknown_keys_are_reported_and_kept(path) -> None:
    settings = Preferences.load(written(path, "# a\nexposur = 2\n\n[fonts]\nbig = true\n"))
    assert settings.unknown == [
        f"{path}: line 2: 'exposur' is unknown (did you mean 'exposure'?)",
        f"{path}: line 4: 'fonts' is unknown",
    ]
    settings.panels = True
    settings.save()
    assert path.read_text() == "# a\nexposur = 2\npanels = true\n\n[fonts]\nbig = true\n"


def test_recent_files(path) -> None:
    settings = Preferences.load(path)
    for k in range(15):
        settings.remember(f"/models/{k}.glb")
    settings.remember(Path("/models/9.glb"))
    assert settings.recent[:3] == [str(Path("/models/9.glb")), "/models/14.glb", "/models/13.glb"]
    assert len(settings.recent) == len(set(settings.recent)) == MAX_RECENT == 10
    settings.remember("/models/\udcff.glb")  # a name that is not UTF-8
    settings.save()
    assert Preferences.load(path).recent == settings.recent and "\udcff" not in "".join(settings.recent)


# How it is written


def test_a_failing_write_leaves_the_old_file(path, monkeypatch) -> None:
    settings = Preferences.load(written(path, "exposure = 1.0\n"))
    settings.exposure = 2.0

    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(ViewerError, match="cannot be written: No space left on device"):
            settings.save()
    assert path.read_text() == "exposure = 1.0\n" and os.listdir(path.parent) == [path.name]
    settings.save()  # it was not taken for saved
    assert path.read_text() == "exposure = 2.0\n" and os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="links and modes as POSIX has them")
def test_a_link_stays_a_link_and_the_mode_stays(tmp_path, path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("exposure = 1.0\n")
    real.chmod(0o640)
    path.parent.mkdir()
    path.symlink_to(real)
    settings = Preferences.load(path)
    settings.exposure = 2.0
    settings.save()
    assert path.is_symlink() and real.read_text() == "exposure = 2.0\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_windows_line_ends_and_a_byte_order_mark_are_read(path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xef\xbb\xbfexposure = 1.0\r\npanels = false\r\n")
    assert Preferences.load(path) == Preferences(exposure=1.0, panels=False)
