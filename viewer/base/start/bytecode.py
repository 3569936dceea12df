"""Bytecode of the package's modules in the user's cache folder, where Python is told to keep none beside them.

``PYTHONDONTWRITEBYTECODE`` is usual in containers, and keeps folders of sources clean. But every process then compiles
every module, which takes longer than all that the modules do until a first picture is there.
"""

from __future__ import annotations

import marshal
import os
import sys
from functools import cache
from importlib.machinery import FileFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from types import CodeType
from typing import Any

from raystream.base import cache_folder


@cache
def _places() -> list[Path]:
    return cache_folder.folders("bytecode")


class _Loader(SourceFileLoader):
    """Takes a module's bytecode from the cache where its source has not changed since."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code."""
        path = self.get_filename(fullname)
        if os.path.exists(cache_from_source(path)):
            return super().get_code(fullname)
        source = os.stat(path)
        made_from = f"{MAGIC_NUMBER.hex()} {source.st_mtime_ns} {source.st_size} {path}\n".encode()
        places, file = _places(), f"{fullname}.{sys.implementation.cache_tag}.code"
        for _, content in cache_folder.find(places, file):
            if content.startswith(made_from):
                cached: CodeType = marshal.loads(content[len(made_from) :])
                return cached
        code: CodeType = self.source_to_code(self.get_data(path), path)
        cache_folder.keep(places, file, made_from + marshal.dumps(code))
        return code


def keep(folder: str) -> None:
    """Have the bytecode of modules below a folder kept, of those that are imported from now on."""
    hook = FileFinder.path_hook((_Loader, [".py"]))

    def below(path: str) -> Any:
        if not os.path.join(os.path.abspath(path), "").startswith(os.path.join(folder, "")):
            raise ImportError(f"{path}: not below {folder}", path=path)
        return hook(path)

    sys.path_hooks.insert(0, below)
    for path in [entry for entry in sys.path_importer_cache if entry.startswith(folder)]:
        del sys.path_importer_cache[path]
