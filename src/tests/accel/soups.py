"""Triangles for tests: random ones of every awkward kind, and those of a PLY file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

KINDS = ["random", "tiny", "huge", "slivers", "coplanar", "flat", "lattice", "far away"]


def soup(kind: str, rng: np.random.Generator, count: int = 24) -> np.ndarray:
    """(count, 3, 3) float32 random triangles of one of the KINDS."""
    base = rng.uniform(-1, 1, (count, 1, 3))
    if kind == "tiny":
        corners = base + 1e-3 * rng.normal(size=(count, 3, 3))
    elif kind == "huge":
        corners = rng.uniform(-1e6, 1e6, (count, 3, 3)) * rng.uniform(0, 1, (count, 1, 1)) ** 4
    elif kind == "slivers":
        corners = rng.uniform(-1, 1, (count, 3, 3))
        corners[:, 2] = 0.3 * corners[:, 0] + 0.7 * corners[:, 1] + 1e-5 * rng.normal(size=(count, 3))
    elif kind == "coplanar":
        corners = rng.uniform(-1, 1, (count, 3, 3))
        corners[..., 2] = 0.3 * corners[..., 0] - 0.4 * corners[..., 1]
    elif kind == "flat":
        corners = rng.uniform(-1, 1, (count, 3, 3))
        corners[..., 1] = 0.25
    elif kind == "lattice":  # corners, edges and whole triangles on a lattice
        corners = rng.integers(0, 9, (count, 3, 3)) / 8
    elif kind == "far away":
        corners = 1000 + rng.uniform(-1, 1, (count, 3, 3))
    else:
        corners = rng.uniform(-1, 1, (count, 3, 3))
    return corners.astype(np.float32)


def read_ply(path: Path) -> np.ndarray:
    """(T, 3, 3) float32 of a PLY whose vertices begin with float x, y, z, and whose faces are triangles alone."""
    data = path.read_bytes()
    head, body = data.split(b"end_header\n", 1)
    counts = {line.split()[1]: int(line.split()[2]) for line in head.splitlines() if line.startswith(b"element")}
    vertices, faces = counts[b"vertex"], counts[b"face"]
    if b"format ascii" in head:
        rows = [row.split() for row in body.splitlines()]
        points = np.array([row[:3] for row in rows[:vertices]], np.float32)
        return points[np.array([row[1:4] for row in rows[vertices : vertices + faces]], np.int64)]
    assert head.count(b"property float") == 3
    points = np.frombuffer(body, "<f4", 3 * vertices).reshape(-1, 3)
    face = np.frombuffer(body, np.dtype([("n", "u1"), ("v", "<i4", 3)]), faces, 12 * vertices)
    return points[face["v"]]
