"""Values of glTF at the edges of their ranges: the last element of a view, the least integer, half a metal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documents import SQUARE, TWO, Document

from raystream.base.errors import ViewerError
from raystream.formats import load


@pytest.mark.parametrize("spare", [0, 4])
def test_the_last_element_needs_no_room_behind_it(spare: int, tmp_path: Path) -> None:
    """3.6.2.4: offset + stride * (count - 1) + an element's size fit the view; one byte less does not."""
    doc = Document()
    rows = np.zeros((4, 5), np.float32)
    rows[:, :3] = SQUARE
    data = rows.tobytes()[: 4 * 20 - 8 + spare]  # stride 20, of which 12 are the element
    for size, right in ((len(data), True), (4 * 20 - 8 - 1, False)):
        doc.json["accessors"], doc.json["meshes"] = [], []
        view = doc.view(data[:size], stride=20)
        doc.json["accessors"].append({"bufferView": view, "componentType": 5126, "count": 4, "type": "VEC3"})
        doc.mesh({"POSITION": 0}, doc.accessor(TWO))
        path = doc.write(tmp_path)
        if right:
            np.testing.assert_array_equal(load(path).meshes[0].positions[:4], SQUARE)
        else:
            with pytest.raises(ViewerError, match="4 elements end at byte 72 of a buffer view of 71"):
                load(path)
