"""Every option's declaration, whole, as text: what page and help do not tell of it, too."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from raystream.options.commands import COMPARE, DATASET, DOCTOR, GRAPH, MEASURE, REMOTE, THUMBNAIL
from raystream.options.table import OPTIONS, SYNONYMS
from raystream.options.values import PhotonFilter
from raystream.renderer.inputs.settings import NAMES, VIEW, registered
from tests.texts import hold

HERE = Path(__file__).parent


def test_declarations(request: pytest.FixtureRequest) -> None:
    lines = []
    of = (
        ("", OPTIONS),
        ("of view --remote", REMOTE),
        ("of diff", COMPARE),
        ("of devices", MEASURE),
        ("of graph", GRAPH),
        ("of dataset", DATASET),
        ("of doctor", DOCTOR),
        ("of thumbnail", THUMBNAIL),
    )
    for title, known in of:
        lines.append(f"# options {title}".rstrip())
        for name, found in known.items():
            lines.append(name)
            lines.append(f"    affects: {found.affects.name}")
            for part in (found.value, found.help, found.scope):
                for field in fields(part):
                    value = getattr(part, field.name)
                    if field.name == "read":
                        value = value.__name__
                    elif field.name == "text" or (value == field.default and field.name != "default"):
                        continue
                    at = f"{type(part).__name__.lower()}.{field.name}"
                    lines.append(f"    {at}: {value!r}" if isinstance(value, str) else f"    {at}: {value}")
    lines.append("# as programs register them")
    lines += [f"{name}: {registered()[name].expected()}" for name in ("program", "layers")]
    lines += [f"{name}: {', '.join(known)}" for name, known in (("settings", NAMES), ("of the view", VIEW))]
    lines += [f"{name}: {', '.join(words)}" for name, words in SYNONYMS.items()]
    hold(HERE / "declared.txt", lines, request.config)


@pytest.mark.parametrize(
    ("made", "text", "slope", "exponent", "integral"),
    [
        (PhotonFilter(), "constant", 0.0, 0, 1.0),
        (PhotonFilter("cone"), "cone=1.1", 1 / 1.1, 1, 1 - 2 / (3 * 1.1)),  # Jensen 2001, section 7.2.1
        (PhotonFilter("cone", 2.0), "cone=2", 0.5, 1, 2 / 3),
        (PhotonFilter("epanechnikov"), "epanechnikov", 1.0, 2, 0.5),
    ],
)
def test_photon_filters(made: PhotonFilter, text: str, slope: float, exponent: int, integral: float) -> None:
    """The integral is that of the weight over the disc, summed here over rings of it."""
    assert (str(made), made.slope, made.exponent) == (text, slope, exponent)
    assert made.integral == pytest.approx(integral)
    rings = [(k + 0.5) / 1000 for k in range(1000)]
    assert made.integral == pytest.approx(sum(2 * r * (1 - slope * r**exponent) for r in rings) / 1000, abs=1e-5)
