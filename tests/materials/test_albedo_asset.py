"""The file of albedos is what its tool makes."""

from __future__ import annotations

import albedo as tool
import numpy as np

from raystream.materials.principled import arrays


def test_the_file_holds_what_the_tool_computes():
    """One entry of each array, by loops that are not compiled, of fewer samples: 4e-3 is their error."""
    found = arrays()
    cosine, alpha, ratio = tool.cosine_axis(), tool.alpha_axis(), tool.ratio_axis()
    fine, rough = tool.cosine_axis(tool.FINE), tool.alpha_axis(tool.FINE)
    row, column, slice_, samples = 20, 12, 26, 24
    reflected, _ = tool.ggx(fine[30:31], rough[40:41], np.zeros(0), samples)
    made = {"reflection": (reflected[0, 0], found["reflection"][40, 30])}
    _, (rise, crossing, crossing_rise) = tool.ggx(
        cosine[column : column + 1], alpha[row : row + 1], ratio[slice_ : slice_ + 1], samples
    )
    made["rise"] = rise[0, 0, 0], found["rise"][slice_, row, column]
    made["crossing"] = crossing[0, 0, 0], found["crossing"][slice_, row, column]
    made["crossing_rise"] = crossing_rise[0, 0, 0], found["crossing_rise"][slice_ - tool.INDICES, row, column]
    made["sheen"] = tool.sheen(fine[30:31], rough[40:41], samples)[0, 0], 8 * found["sheen"][40, 30]
    axes = np.linspace(0, 1, tool.STRENGTHS)[5:6], np.linspace(0, 1, tool.AZIMUTHS)[3:4]
    turned = tool.anisotropic(*axes, tool.alpha_axis(tool.TURNED)[4:5], tool.cosine_axis(tool.TURNED)[5:6], samples)
    made["anisotropy"] = turned[0, 0, 0, 0], found["anisotropy"][5, 3, 4, 5] - 0.5
    assert set(made) == set(found)
    for name, (now, kept) in made.items():
        assert abs(now - kept) < 4e-3, (name, now, kept)
