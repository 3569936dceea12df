"""The command ``raystream``, also as ``python -m raystream``."""

from typing import NoReturn


def entry() -> NoReturn:
    """Run the command, and exit with its status."""
    from raystream.base.interrupts import end_by_signals

    end_by_signals()
    from raystream.base.start import begin

    begin()
    from raystream.cli.main import entry as run

    run()


if __name__ == "__main__":
    entry()
