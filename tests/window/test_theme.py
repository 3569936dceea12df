"""The panels' lengths, colours and numbers: by how far a window is free of panels, and how figures are written."""

from __future__ import annotations

import pytest

pytest.importorskip("imgui_bundle", reason="imgui-bundle is not installed")

from raystream.window.panels import theme, widgets  # imports imgui


@pytest.mark.parametrize(
    ("left", "right", "wide", "expected"),
    [
        (False, False, 100.0, (0.0, 100.0)),
        (True, False, 530.0, (310.0, 530.0)),
        (True, False, 529.0, (0.0, 529.0)),
        (False, True, 630.0, (0.0, 220.0)),
        (False, True, 629.0, (0.0, 629.0)),
        (True, True, 940.0, (310.0, 530.0)),
        (True, True, 939.0, (0.0, 939.0)),
        (True, True, 1280.0, (310.0, 870.0)),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_what_panels_leave_free(panel_stage, left, right, wide, expected, scale) -> None:
    panel_stage.view.area.scale = scale
    panel_stage.turn(1)
    assert theme.free(left, right, scale * wide) == tuple(scale * end for end in expected)
    panel_stage.turn(1, size=(int(scale * wide), 400))
    assert theme.free(left, right) == tuple(scale * end for end in expected)
    assert theme.narrow(scale * wide) == (wide < 530)


def test_colours_are_legible() -> None:
    """At least 4.5 to 1 against the ground (WCAG 2.1), in the same hue; bright ones stay as they are."""

    def luminance(rgb: list[float]) -> float:
        red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    ground = luminance(list(theme.GROUND))
    for rgb in ((255, 255, 255), (100, 200, 50), (0, 255, 0)):
        found = theme.legible(rgb)
        assert [found.x, found.y, found.z, found.w] == pytest.approx([*(part / 255 for part in rgb), 1.0])
    for rgb in ((0, 0, 0), (255, 0, 0), (0, 0, 255), (10, 20, 30), (90, 90, 90)):
        found = theme.legible(rgb)
        now = [found.x, found.y, found.z]
        contrast = (luminance(now) + 0.05) / (ground + 0.05)
        assert 4.5 <= contrast < 6.0, rgb
        lighter = [(part / 255 - 1) * 0.9**n + 1 for n in range(1, 40) for part in rgb]  # a tenth of what is missing
        assert any(now == pytest.approx(lighter[k : k + 3], abs=1e-6) for k in range(0, len(lighter), 3)), rgb
    assert theme._luminance([0.0, 0.0, 0.0]) == 0.0 and theme._luminance([1.0, 1.0, 1.0]) == pytest.approx(1.0)
    assert theme._luminance([0.04, 0.0, 0.0]) == pytest.approx(0.2126 * 0.04 / 12.92)
    assert theme._luminance([0.0, 0.5, 0.0]) == pytest.approx(0.7152 * 0.21404, rel=1e-4)


@pytest.mark.parametrize(
    ("kind", "number", "expected"),
    [
        ("grouped", 999, "999"),
        ("grouped", 1000, "1 000"),
        ("grouped", 1.6, "2"),
        ("rate", 9999.4, "9999 samples/s"),
        ("rate", 10000, "0.01 M samples/s"),
        ("rate", 2_345_678, "2.35 M samples/s"),
        ("duration", 59.94, "59.9 s"),
        ("duration", 60, "1:00 min"),
        ("duration", 3599, "59:59 min"),
        ("duration", 7384, "2:03:04 h"),
        ("noise", float("inf"), "unknown"),
        ("noise", 0.0, "none"),
        ("noise", 0.01234, "1.23 %"),
        ("noise", 1e-9, "1e-07 %"),
        ("memory", 1023, "1023 B"),
        ("memory", 1024, "1.0 KiB"),
        ("memory", (1 << 30) - 1, "1024.0 MiB"),
        ("memory", 1 << 30, "1.0 GiB"),
    ],
)
def test_figures(kind, number, expected) -> None:
    assert getattr(widgets, kind)(number) == expected
