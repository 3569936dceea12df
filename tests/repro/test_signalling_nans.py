"""NaNs that signal, as damaged binary files hold them, made NumPy warn where they were converted to float64."""

from __future__ import annotations

import struct

import numpy as np

from raystream.formats import load
from raystream.scene.mesh import Mesh
from tests.formats.documents import Document

# From bits: where NumPy converts it, it is quiet.
SIGNALS = np.array([0x7F800001, 0, 0, 0x3F800000, 0, 0, 0, 0x3F800000, 0], np.uint32)
PLY = "ply\nformat binary_little_endian 1.0\nelement vertex 3\n%s\nelement face 1\n"
FACE = "property list uchar int vertex_index\nend_header\n"


def test_meshes_and_every_binary_format(tmp_path) -> None:
    """The fixture of all tests makes NumPy raise where it would warn."""
    data = SIGNALS.tobytes()
    mesh = Mesh(SIGNALS.view(np.float32).reshape(3, 3), [[0, 1, 2]])
    assert np.isnan(mesh.positions[0, 0]) and mesh.positions.astype(np.float64)[1, 0] == 1
    doc = Document()
    points = doc.accessor(SIGNALS.view(np.float32).reshape(3, 3))
    assert data in doc.data  # bit by bit
    doc.mesh({"POSITION": points, "COLOR_0": points})
    doc.json["nodes"] = [{"mesh": 0, "scale": [2, 1, 1]}]
    doc.write(tmp_path, "a.gltf")
    (tmp_path / "a.stl").write_bytes(bytes(80) + struct.pack("<I", 1) + bytes(12) + data + bytes(2))
    names = [f"property float {name}" for name in ("x", "y", "z", "red", "green", "blue", "nx", "ny", "nz")]
    rows = b"".join(data[12 * k : 12 * k + 12] * 3 for k in range(3))
    (tmp_path / "a.ply").write_bytes((PLY % "\n".join(names) + FACE).encode() + rows + struct.pack("<B3i", 3, 0, 1, 2))
    for ending in ("gltf", "stl", "ply"):
        scene = load(tmp_path / f"a.{ending}")
        (corners,) = scene.flatten().corners()
        assert np.isnan(corners[0, 0]) and corners[1:].tolist() == [[2 if ending == "gltf" else 1, 0, 0], [0, 1, 0]]
        assert "1 vertex is not finite" in "".join(scene.warnings)
