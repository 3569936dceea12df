"""Fixtures of the tests of file readers."""

from __future__ import annotations

import pytest

from raystream.formats import obj, ply, polygons, stl


@pytest.fixture(params=[True, False], ids=["plain", "compiled"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reader's loops interpreted, then compiled, whatever the file's size."""
    for module in (obj, ply, polygons, stl):
        monkeypatch.setattr(module, "SMALL", 10**9 if request.param else 0)


@pytest.fixture(params=["ascii", "binary_little_endian", "binary_big_endian"])
def encoding(request: pytest.FixtureRequest) -> str:
    """Of PLY."""
    return request.param
