"""Keys as browsers name them, and as the table of actions does."""

from __future__ import annotations

import pytest

from raystream.viewport.host import key_text, modifier_bits


@pytest.mark.parametrize(
    ("key", "modifiers", "text"),
    [
        ("w", (), "W"),
        ("W", ("Shift",), "Shift+W"),
        ("s", ("Control",), "Ctrl+S"),
        (" ", (), "Space"),
        ("ArrowLeft", ("Meta", "Alt"), "Alt+Super+Left"),
        ("Shift", ("Shift",), "Shift"),
        ("Shift", (), "Shift"),
        ("Control", ("Control", "Shift"), "Ctrl"),
        ("?", ("Shift",), "?"),
        ("+", ("Shift",), "+"),
        ("[", (), "["),
        ("F12", ("Control",), "Ctrl+F12"),
        ("Escape", (), "Esc"),
        ("Dead", (), ""),
        ("AltGraph", (), ""),
        ("", ("Shift",), ""),
    ],
)
def test_key_texts(key: str, modifiers: tuple[str, ...], text: str) -> None:
    assert key_text(key, modifiers) == text


def test_modifiers() -> None:
    """The bits of a drag: Shift pans, Control rolls."""
    assert modifier_bits(()) == 0 and modifier_bits(("Shift", "Control", "CapsLock")) == 0x3
