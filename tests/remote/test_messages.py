"""Messages of a page that rendercanvas could not take: each was an exception that it logged."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from fuzzing.messages import MESSAGES, Pages

pytest.importorskip("rendercanvas.http", reason="rendercanvas is not installed")


@pytest.fixture(scope="module")
def pages() -> Iterator[Pages]:
    made = Pages()
    yield made
    made.close()


@pytest.mark.parametrize("change", [{"index": None}, {"index": [1]}, {"timestamp": 10**400}])
def test_confirmations_of_no_frame(pages: Pages, change: dict) -> None:
    pages.send(json.dumps({"type": "_framefeedback", **MESSAGES["_framefeedback"], **change}).encode())


def test_a_confirmation_without_an_index(pages: Pages) -> None:
    pages.send(b'{"type": "_framefeedback", "timestamp": 0.5}')


@pytest.mark.parametrize("button", [[1], {}, "1"])
def test_pointers_with_no_button(pages: Pages, button: object) -> None:
    pages.send(json.dumps({"type": "pointer_move", **MESSAGES["pointer_move"], "button": button}).encode())


def test_bytes(pages: Pages) -> None:
    pages.send(b"\xff\x00")
