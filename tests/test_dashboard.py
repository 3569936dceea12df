"""The dashboard of ``tools/house.py``: its counts, of a small house and of this one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import house
import pytest

ROOT = Path(__file__).resolve().parents[1]
SMALL = {
    "viewer/__init__.py": '"""Not counted among lines."""\n',
    "viewer/a/one.py": """
'''What stands
here, of no use.'''


class Ray:
    '''A walk.'''


class _Own:
    pass
""",
    "viewer/a/two.py": """
'''Made anew.'''
from raystream.a.one import Ray


class Far(Ray):
    pass


class Farther(Far):
    pass
""",
    "viewer/pyrender/four.py": "def of_another(a: int, b, c, d, e, f, g, h): ...\n",
    "viewer/a/names.py": """
def search(given, depth):
    found = [each for each in given]
    made = depth
    return made, found, given


def glance(given):
    found = given
    return found
""",
    "shaders/a.glsl": "vec3 way;  // along\nfloat own_way;\n#ifdef HAVE_A\n#endif  // HAVE_A\n  #if defined(HAVE_B)\n",
    "viewer/b/three.py": """
class Ray:
    def call(self, a: int, b, c, d, e, f, g, h=1): ...


def loop(a, b, c, d, e, f, g, h): ...
"""
    + 910 * "\n",
    "README.md": "# A page\n\nThree words here. And four words there:\n\n- An item.\n\n```sh\nnot this one\n```\n",
}


@pytest.fixture(scope="module", autouse=True)
def _forgotten() -> Iterator[None]:
    """Parsed modules take 150 MiB."""
    yield
    house.trees.cache_clear()


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in SMALL.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(house, "ROOT", tmp_path)
    house.trees.cache_clear()
    yield
    house.trees.cache_clear()


@pytest.mark.usefixtures("small")
def test_a_small_house(capsys: pytest.CaptureFixture[str]) -> None:
    assert house.main(["--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["modules"] == 5 and found["modules under 60 lines"] == 4
    assert found["modules of 900 lines and more"] == ["viewer/b/three.py"]
    assert found["chains of more than two classes"] == ["Farther < Far < Ray"]
    assert found["class names in several modules"] == ["Ray"]
    assert found["functions of more than 7 parameters"] == 1
    words = {"what ...": 1, "so many": 0, "walk": 1, "under way": 0, "anew": 1, "of no use": 1}
    assert found["words in docstrings"] == words and found["words in docstrings, together"] == 4
    assert found["mean sentence of pages, words"] == 3.0
    assert found["functions"] == 5 and found["functions that store home words"] == 1
    assert found["lines of shaders with home words"] == 1 and found["lines of shaders that ask HAVE_"] == 2
    assert house.main(["--names"]) == 0
    listed = capsys.readouterr().out.split("\n")
    assert listed == ["viewer/a/names.py:2 search: given", "shaders/a.glsl:1: way", ""]
    assert house.main(["--words"]) == 0
    assert "viewer/a/one.py:3: of no use\n" in capsys.readouterr().out
    assert house.main([]) == 0
    assert "functions of more than 7 parameters: 1\n" in capsys.readouterr().out


def test_this_house() -> None:
    """Counts that do not grow again."""
    found = house.figures()
    assert found["modules of 900 lines and more"] == []
    assert found["modules under 60 lines"] <= 30
    assert found["functions of more than 7 parameters"] <= 15
    assert found["words in docstrings, together"] <= 20
    assert found["functions that store home words"] <= 0.01 * found["functions"]
    assert found["lines of shaders with home words"] == 0
    assert found["lines of shaders that ask HAVE_"] <= 58
    assert found["longest mean of a page, words"] <= 20
