"""A glTF file of 714 bytes became 5.6 million triangles: zeros of accessors without a buffer view were free."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raystream.base.errors import ViewerError
from raystream.formats import files, load


def bare(folder: Path, count: int) -> Path:
    """A triangle list of so many vertices, none of which the file holds."""
    document = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "type": "VEC3", "count": count}],
    }
    path = folder / "scene.gltf"
    path.write_text(json.dumps(document).ljust(714))
    return path


def test_they_count_by_what_the_file_holds(tmp_path) -> None:
    path = bare(tmp_path, 16_800_000)
    assert path.stat().st_size == 714
    with pytest.raises(ViewerError, match="expands to far more data than it holds"):
        load(path)


def test_to_the_element(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(files, "_EMPTY_BYTES", 12 * 10_002 - 16 * 714)  # the file itself counts 16 times
    assert load(bare(tmp_path, 10_002)).triangle_count == 3334
    with pytest.raises(ViewerError, match="expands to"):
        load(bare(tmp_path, 10_003))
