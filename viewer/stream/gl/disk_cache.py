"""Mesa's folder of compiled shaders, looked at before a context opens.

Mesa maps a sparse file there into memory (``src/util/disk_cache_os.c``, `disk_cache_mmap_cache_index`). Where a disk is
full, writing to it ends the process by SIGBUS.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

DISABLED = ("MESA_SHADER_CACHE_DISABLE", "MESA_GLSL_CACHE_DISABLE")  # of today's Mesa, and of that before 22
FOLDERS = ("MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "XDG_CACHE_HOME")
NAME, INDEX = "mesa_shader_cache", "index"
ROOM = 2 << 20  # bytes: the index has 1.25 MiB
FULL = (errno.ENOSPC, errno.EDQUOT)


def check_room() -> str:
    """Switch the cache off for this process where its disk is full, and say so in a remark; else empty. Blocks of an
    index that is there are reserved, so that a disk that becomes full later does no harm either."""
    if not sys.platform.startswith("linux") or any(_is_set(name) for name in DISABLED):
        return ""
    for folder in _folders():
        if not _has_room(folder):
            for name in DISABLED:
                os.environ[name] = "true"
            return f"{folder}: no space left, so that shaders are compiled anew every time (make room on that disk)"
    return ""


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true", "yes", "y", "t")


def _folders() -> Iterator[Path]:
    """Where Mesa's versions look: by the first variable that is set, else at home by ``HOME`` or the user's entry."""
    configured = next((os.environ[name] for name in FOLDERS if os.environ.get(name)), "")
    if configured:
        yield Path(configured) / NAME
        return
    import pwd

    homes = {os.environ.get("HOME", "")}
    with suppress(KeyError):
        homes.add(pwd.getpwuid(os.getuid()).pw_dir)
    yield from (Path(home) / ".cache" / NAME for home in sorted(homes) if home)


def _has_room(folder: Path) -> bool:
    """Whether the index's blocks are there, or there is room for them."""
    index = folder / INDEX
    try:
        with open(index, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, os.path.getsize(index)))
        return True
    except OSError as error:
        if error.errno in FULL:
            return False
    existing = next((parent for parent in (folder, *folder.parents) if parent.exists()), None)
    try:
        filesystem = os.statvfs(existing) if existing is not None else None
    except OSError:
        return True  # what cannot be looked at Mesa does not use
    return filesystem is None or filesystem.f_bavail * filesystem.f_frsize >= ROOM
