"""``raystream devices``: the GPUs, the features of their OpenGL, and the values of ``auto`` there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.cli.commands import emit

if TYPE_CHECKING:
    from argparse import Namespace


def devices(arguments: Namespace) -> bool:
    """``raystream devices``: the GPUs, and the values of ``auto`` there."""
    from viewer.cli.report import device_lines
    from viewer.renderer.device.tuning import load_tuning, tuning
    from viewer.stream.gl.device import devices as found
    from viewer.stream.gl.device import driver_name

    if arguments.measure is not None:
        _measure(arguments)
    listed, measured = found(), load_tuning()
    for device in listed:
        if "error" not in device:
            driver = driver_name(device["renderer"], device["version"])
            device |= {"auto": dict(tuning(driver, device["software"])), "measured": driver in measured}
            if driver in measured:
                known = measured[driver]
                told = {name: [each._asdict() for each in getattr(known, name)] for name in ("trials", "skipped")}
                device |= {"since": known.since, **told, "note": known.note}
    emit(listed, device_lines, arguments.json)
    return True


def _measure(arguments: Namespace) -> None:
    """Measure the values of ``auto`` on the driver's own device."""
    from viewer.cli.progress import TerminalProgress
    from viewer.formats.named import load
    from viewer.renderer.renderer import Renderer
    from viewer.renderer.session.trials import measure

    with TerminalProgress(arguments.json) as progress:
        progress(None, f"loading {arguments.measure}")
        renderer = Renderer(load(arguments.measure), program="path", memory="buffer")
        progress(None, "compiling and measuring")
        measure(renderer)
