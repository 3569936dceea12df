"""NumPy's values for options ended as NumPy's own exceptions (`ortho=np.eye(4)`, arrays without dimensions), where all
else gets one line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import raystream
from raystream.base.errors import ViewerError
from raystream.options.table import OPTIONS, check

VALUES: list[Any] = [
    np.eye(4),
    np.zeros((0, 3)),
    np.array(7),
    np.array(0.5),
    np.array("path"),
    np.array(["path", "cast"]),
    np.array([True, False]),
    np.array(None),
    np.array([1, "a", None], object),
    np.array(np.nan),
    np.complex128(1j),
    np.datetime64("2026-01-01"),
    np.float32(2),
]


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.scope.taker != "command"])
def test_a_value_is_taken_or_refused_in_one_line(name: str) -> None:
    for value in VALUES:
        try:
            check(name, value)
        except ViewerError as error:
            assert "\n" not in str(error)


def test_an_array_of_one_is_its_number() -> None:
    assert check("spp", np.array(3)) == 3
    assert check("ortho", np.array(2.0)) == 2.0
    assert check("program", np.array("cast")) == "cast"
    assert check("environment", np.array("sky")) == check("environment", "sky")


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("options", [{"stats": np.eye(2)}, {"resume": np.eye(2)}, {"ortho": np.eye(4)}], ids=str)
def test_a_picture_is_refused_in_one_line(options: dict[str, Any]) -> None:
    with pytest.raises(ViewerError, match=f"^{next(iter(options))}=.*expected"):
        raystream.render("cornell", size=4, spp=1, **options)
