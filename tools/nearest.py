"""The test files nearest to a source, of all: ``python tools/nearest.py PATH [COUNT]`` prints them.

Texts are alike by the words that they share and few tests have: the cosine between both texts' words, each weighted by
the logarithms of its count and of its rarity (G. Salton and C. Buckley, Term-weighting approaches in automatic text
retrieval, 1988). To the likeness of the source itself comes a part of that of its users, which are the modules that
import it, or name the shader, and the shaders that include it; and a little for a test of the mirrored folder, of its
name or of a module's that names the shader, that imports or names it, and that catches a fault of tools/mutate.toml in
it or beside it.

Of the faults of that list, each by the others, four files so chosen hold one that is named to catch it for 73 % of
those in shaders and 81 % of those in modules; four in the order of covering.py for 52 % and 73 %.
"""

from __future__ import annotations

import math
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from covering import (
    ROOT,
    TESTS,
    all_shaders,
    all_sources,
    counted_words,
    imports_of,
    mirror_of,
    module_name,
    names_in,
    test_files,
)
from numpy.typing import NDArray

LIST = Path(__file__).with_name("mutate.toml")
USERS, BESIDE, CAUGHT = 0.3, 0.05, 0.2  # weights beside the source's own cosine
Scores = NDArray[np.float64]


def nearest(path: Path, count: int) -> list[Path]:
    """So many test files, the likeliest to notice a fault in a source first."""
    tests = _tests()
    scores = _cosines(path) + _beside(path)
    if users := _users(path):
        scores = scores + USERS * np.max([_cosines(user) for user in users], axis=0)
    order = np.argsort(-scores, kind="stable")[:count]
    return [tests[k] for k in order.tolist()]


@cache
def _tests() -> tuple[Path, ...]:
    return tuple(sorted(test_files(TESTS)))


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[A-Za-z]\w\w+", text))


@cache
def _weights() -> dict[str, Scores]:
    """For each word of any test its weight in every one, of vectors of length 1; times its rarity for a source's."""
    counts = [counted_words(test) for test in _tests()]
    spread = Counter(word for of_test in counts for word in of_test if len(word) > 2)
    rarity = {word: math.log(len(counts) / number) for word, number in spread.items()}
    weights = {word: np.zeros(len(counts)) for word in spread}
    for k, of_test in enumerate(counts):
        own = {word: (1.0 + math.log(n)) * rarity[word] for word, n in of_test.items() if len(word) > 2}
        length = math.sqrt(sum(value * value for value in own.values())) or 1.0
        for word, value in own.items():
            weights[word][k] = value / length
    _rarity.update(rarity)
    return weights


_rarity: dict[str, float] = {}


@cache
def _cosines(path: Path) -> Scores:
    """(tests,): how alike each test is to a source."""
    weights = _weights()
    of_source = {
        word: (1.0 + math.log(n)) * _rarity[word]
        for word, n in _words(path.read_text(encoding="utf-8")).items()
        if word in weights
    }
    length = math.sqrt(sum(value * value for value in of_source.values())) or 1.0
    total = np.zeros(len(_tests()))
    for word, value in of_source.items():
        total += value / length * weights[word]
    return total


def _beside(path: Path) -> Scores:
    """(tests,): what counts beside words."""
    mirror, module = mirror_of(path), module_name(path)
    naming = [each for each in _users(path) if each.suffix == ".py"] if path.suffix == ".glsl" else []
    stems = [path.stem.split("_"), *(each.stem.split("_") for each in naming)]
    caught, around = _catching().get(path, set()), _catching().get(path.parent, set())
    scores = np.zeros(len(_tests()))
    for k, test in enumerate(_tests()):
        names = set(test.stem.split("_")) | {word.removesuffix("s") for word in test.stem.split("_")}
        refers = module in imports_of(test) or path.stem in names_in(test)
        mirrored = mirror is not None and test.is_relative_to(mirror)
        alike = [sum(word in names for word in stem) / len(stem) for stem in stems]
        scores[k] = BESIDE * (mirrored + refers + alike[0] + max(alike[1:], default=0.0))
        scores[k] += CAUGHT * (test in caught) + BESIDE * (test in around)
    return scores


def _users(path: Path) -> list[Path]:
    if path.suffix == ".glsl":
        return [each for each in (*all_sources(), *all_shaders()) if path.stem in names_in(each) and each != path]
    module = module_name(path)
    return [each for each in all_sources() if module in imports_of(each) and each != path]


@cache
def _catching() -> dict[Path, set[Path]]:
    """Of each source, and of each folder, the tests that catch a fault of the list in it."""
    catching: dict[Path, set[Path]] = {}
    for entry in tomllib.loads(LIST.read_text("utf-8"))["fault"]:
        tests = {ROOT / test.split("::")[0] for test in entry["tests"]}
        for path in (ROOT / entry["file"], (ROOT / entry["file"]).parent):
            catching.setdefault(path, set()).update(tests)
    return catching


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or not Path(sys.argv[1]).is_file():
        sys.exit(__doc__)
    tests = nearest(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if sys.argv[2:] else 4)
    print(*(test.relative_to(ROOT).as_posix() for test in tests), sep="\n")
