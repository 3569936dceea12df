"""A material whose texture is not in the file was drawn white, with a remark, instead of being refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raystream.base.errors import ViewerError
from raystream.formats import load


@pytest.mark.parametrize("key", ["normalTexture", "emissiveTexture"])
def test_it_is_refused(key: str, tmp_path: Path) -> None:
    material = {key: {"index": 9}, "emissiveFactor": [1, 1, 1]}
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps({"asset": {"version": "2.0"}, "materials": [material]}))
    with pytest.raises(ViewerError, match=rf"materials\[0\].{key}.index: names texture 9 of 0"):
        load(path)
