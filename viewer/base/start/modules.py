"""A command's start: quicker loading of hundreds of modules."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from raystream.base.interrupts import UNWAITED
from raystream.base.start import methods
from raystream.base.start.isolation import isolate

# What libraries read as they load, where the user has not set it.
VARIABLES = {
    # Threads of NumPy's linear algebra, which is of three by three here: each is started with NumPy and spins for as
    # long as that takes to load, and after every product.
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Open Image Denoise's hwloc writes to stderr where a container has no /sys; 2: no message at all.
    "HWLOC_HIDE_ERRORS": "2",
}


class _Start:
    """Of this process."""

    methods: methods.Methods | None = None


def begin() -> None:
    """Before the modules of a command are loaded. No garbage is looked for until `loaded`: they leave none."""
    gc.disable()
    isolate()
    _Start.methods = methods.begin()
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    if sys.dont_write_bytecode:
        from raystream.base.start import bytecode

        bytecode.keep(str(Path(__file__).resolve().parents[2]))


def loaded() -> None:
    """Freezes the loaded modules' objects and turns garbage collection on."""
    if _Start.methods is not None:
        _Start.methods.keep()
    gc.freeze()
    gc.enable()


def load_beside(module: str, then: Callable[[], None] | None = None) -> threading.Thread:
    """A thread that loads a module, and calls ``then``. Errors of loading are raised again where it is imported."""

    def load() -> None:
        with suppress(Exception):
            import_module(module)
        if then is not None:
            then()

    loading = threading.Thread(target=load, name=UNWAITED, daemon=True)
    loading.start()
    return loading
