"""Values of glTF at the edges of their ranges: the last element of a view, the least integer, half a metal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from documents import COMPONENTS, SQUARE, TWO, Document

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


@pytest.mark.parametrize("kind", [np.int8, np.int16])
def test_the_least_normalised_integer_is_minus_one(kind: type[np.signedinteger], tmp_path: Path) -> None:
    """3.11: max(c / 127, -1), so that -128 is -1 as -127 is."""
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    doc = Document()
    corners = np.array([[least, 0, 0], [most, 0, 0], [least + 1, most, 0]], kind)
    size = corners.itemsize * 3
    stride = -(-size // 4) * 4
    doc.mesh({"POSITION": doc.accessor(corners, stride, normalized=True)})
    assert doc.json["accessors"][0]["componentType"] == COMPONENTS[corners.dtype.str[1:]]
    found = load(doc.write(tmp_path)).meshes[0].positions
    np.testing.assert_array_equal(found, np.float32([[-1, 0, 0], [1, 0, 0], [-1, 1, 0]]))
