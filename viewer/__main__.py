"""``python -m viewer`` is the command ``raystream``."""

from viewer.base import startup

if __name__ == "__main__":
    startup.begin()
    from viewer.cli.main import entry

    entry()
