"""Colours of pictures that are stored in other primaries, as linear sRGB (IEC 61966-2-1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raystream.base.errors import ViewerError

Matrix = NDArray[np.float64]

# x and y of red, green, blue and white (ITU-R BT.709).
SRGB = (0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290)
_XYZ = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)  # of pictures in CIE XYZ, whose colours are of no white
_TOLERANCE = 2e-3  # files write the primaries with two to four digits
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])


def srgb_from(chromaticities: Sequence[float], where: str) -> Matrix | None:
    """(3, 3): linear sRGB of colours with these primaries and white, each x and y; None where they are sRGB's.

    White becomes white (Bradford's adaptation; K. M. Lam, 1985). Raises ViewerError for primaries without an area.
    """
    if np.allclose(chromaticities, SRGB, atol=_TOLERANCE):
        return None
    if np.allclose(chromaticities[:6], _XYZ, atol=_TOLERANCE):
        return xyz_to_srgb()
    xyz = _xyz_matrix(chromaticities)
    if xyz is None:
        shown = ", ".join(f"{value:g}" for value in chromaticities)
        raise ViewerError(where, f"has primaries that are no colours: {shown}", "save it in sRGB's")
    cone_responses = [_BRADFORD @ _white(space) for space in (chromaticities, SRGB)]
    adapted = np.linalg.inv(_BRADFORD) @ np.diag(cone_responses[1] / cone_responses[0]) @ _BRADFORD
    return xyz_to_srgb() @ adapted @ xyz


def xyz_to_srgb() -> Matrix:
    """(3, 3): linear sRGB of CIE XYZ."""
    xyz = _xyz_matrix(SRGB)
    assert xyz is not None
    return np.asarray(np.linalg.inv(xyz), np.float64)


def luminance_weights(chromaticities: Sequence[float]) -> tuple[float, float, float]:
    """Shares of red, green and blue in Y; sRGB's for primaries without an area."""
    xyz = _xyz_matrix(chromaticities)
    red, green, blue = (_xyz_matrix(SRGB) if xyz is None else xyz)[1]  # type: ignore[index]
    return float(red), float(green), float(blue)


def _xyz_matrix(chromaticities: Sequence[float]) -> Matrix | None:
    """(3, 3): CIE XYZ of colours, 1 of Y for white; None for primaries without an area, or none above Y = 0."""
    x, y = np.reshape(np.asarray(chromaticities[:6], np.float64), (3, 2)).T
    primaries = np.stack([x, y, 1 - x - y])
    white_y = chromaticities[7]
    if not np.isfinite(chromaticities).all() or white_y <= 0 or abs(np.linalg.det(primaries)) < 1e-6:
        return None
    xyz = primaries * np.linalg.solve(primaries, _white(chromaticities))
    return xyz if (xyz[1] > 0).all() or xyz[1].sum() > 0 else None


def _white(chromaticities: Sequence[float]) -> NDArray[np.float64]:
    x, y = chromaticities[6:8]
    return np.array([x / y, 1.0, (1 - x - y) / y])
