"""``python -m viewer`` is the command ``raystream``."""

from viewer.base.start import modules

if __name__ == "__main__":
    modules.begin()
    from viewer.cli.main import entry

    entry()
