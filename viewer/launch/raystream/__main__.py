"""``python -m raystream``, and the command ``raystream``."""

from __future__ import annotations

import sys
from typing import NoReturn

from raystream import inner


def entry() -> NoReturn:
    """Run the command; where ``viewer`` is somebody else's, say whose in one line, and end with 2."""
    try:
        inner()
    except ImportError as error:
        if error.name != "viewer":
            raise  # something that raystream needs is missing
        print(f"raystream: error: {error}", file=sys.stderr)
        sys.exit(2)
    from viewer.base.interrupts import end_by_signals

    end_by_signals()
    from viewer.base.start.modules import begin

    begin()
    from viewer.cli.main import entry as run

    run()


if __name__ == "__main__":
    entry()
