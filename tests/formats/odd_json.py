"""JSON documents in which any member may be anything, for hypothesis."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from raystream.base.errors import ViewerError
from raystream.formats import load
from raystream.scene.scene import Scene

Way = tuple[str | int, ...]  # keys and indices from a document to one of its members

VALUES = (
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.integers(-3, 9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.just([]),
    st.just({}),
    st.lists(st.integers(-2, 9), max_size=5),
)


def members(value: Any, way: Way = ()) -> list[Way]:
    """The ways to every member of a document."""
    found = [way] if way else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        found += members(child, (*way, key))
    return found


def changes(document: Any, *more: st.SearchStrategy, part: Way = ()) -> st.SearchStrategy[list[tuple[Way, Any]]]:
    """One to three members of a document, or of a ``part`` of it, each with a value of `VALUES` or ``more``."""
    for step in part:
        document = document[step]
    ways = st.sampled_from([(*part, *way) for way in members(document)])
    return st.lists(st.tuples(ways, st.one_of(*VALUES, *more)), min_size=1, max_size=3)


def load_changed(document: Any, changed: list[tuple[Way, Any]], use: Callable[[Scene], Any]) -> None:
    """Load a glTF document with these members changed and use its scene; or have it refused in one line."""
    document = deepcopy(document)
    for way, value in changed:
        place = document
        try:
            for step in way[:-1]:
                place = place[step]
            place[way[-1]] = deepcopy(value)  # a later change may go into it
        except (TypeError, KeyError, IndexError):  # an earlier change took it away
            continue
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.gltf"
        path.write_text(json.dumps(document))
        try:
            use(load(path))
        except ViewerError as error:
            assert "\n" not in str(error)
