"""Settings of pictures in motion, and the changes of a scene since one was made: its remaining use."""

from __future__ import annotations

import numpy as np

from viewer.denoise.reprojection import MOST_MOVED, Changes
from viewer.options.declare import Affects
from viewer.options.table import part
from viewer.renderer.inputs.prepared import PreparedScene
from viewer.renderer.inputs.scene_diff import scene_changes
from viewer.renderer.inputs.settings import VIEW, Settings
from viewer.renderer.preview.scheduler import SHORT_PATHS

LIGHT = frozenset(part("light"))  # options by which light falls otherwise


def of_motion(settings: Settings) -> Settings:
    """The settings of pictures of a moving camera: through the pixels' centres, so that their surfaces stand still, and
    with paths that end soon, where chance may end them: short ones give more pixels in the same time."""
    if settings.roulette_from is None or settings.roulette != "auto":
        return settings.replace(pixel_filter="point")
    return settings.replace(pixel_filter="point", roulette=SHORT_PATHS)


def changes(before: PreparedScene, were: Settings, now: PreparedScene, settings: Settings) -> Changes | None:
    """From one picture to the next; None where they have nothing to do with each other, as in another environment."""
    differences = were.differences(settings)
    other = {name for name, affects in differences.items() if affects > Affects.MACHINE}.difference(VIEW)
    if not other <= LIGHT - {"environment"} or before.structure.levels != now.structure.levels:
        return None
    edit = scene_changes(before.scene, now.scene)
    if not edit.same or edit.geometry or edit.attributes or len(edit.moved) > MOST_MOVED:
        return None
    flat, moved = now.structure.levels == 1, []
    for number in edit.moved.tolist():
        was, is_ = before.scene.instances[number].transform, now.scene.instances[number].transform
        try:
            matrix = np.asarray(was, np.float64) @ np.linalg.inv(np.asarray(is_, np.float64))
        except np.linalg.LinAlgError:  # flattened: a point of it has been in many places
            return None
        first, end = (int(now.starts[number]), int(now.starts[number + 1])) if flat else (number, number + 1)
        moved.append((first, end, matrix))
    relit = bool(other) or edit.lights or edit.materials or edit.textures
    return Changes(moved, flat, bool(edit.posed), relit)
