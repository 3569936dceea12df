"""The command ``raystream``, under a name of its own: other distributions have packages called ``viewer``, too."""

from __future__ import annotations

import sys
from typing import NoReturn

OWN = "give raystream an environment of its own: python -m venv"


def entry() -> NoReturn:
    """Run the command; where ``viewer`` is somebody else's, say whose in one line, and end with 2."""
    try:
        import viewer

        if getattr(viewer, "__distribution__", "") == "raystream":
            from viewer.cli.main import entry as run

            run()
        where, why = getattr(viewer, "__file__", None) or next(iter(viewer.__path__)), "is another package 'viewer'"
    except ImportError as error:
        if (error.name or "").split(".")[0] != "viewer":
            raise  # something that raystream needs is missing
        where, why = "viewer", f"is another package, or broken: {error}"
    where = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in where)
    print(f"raystream: error: {where}: {why}, found before raystream's own ({OWN})", file=sys.stderr)
    sys.exit(2)
