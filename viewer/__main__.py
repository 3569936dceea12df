"""``python -m viewer`` is the command ``raystream``."""

if __name__ == "__main__":
    from viewer.base.start import stopping

    stopping.begin()
    from viewer.base.start import modules

    modules.begin()
    from viewer.cli.main import entry

    entry()
