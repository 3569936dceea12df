"""``python -m viewer`` is the command ``raystream``."""

if __name__ == "__main__":
    from viewer.base.interrupts import end_by_signals

    end_by_signals()
    from viewer.base.start import modules

    modules.begin()
    from viewer.cli.main import entry

    entry()
