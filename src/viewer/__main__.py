"""``python -m viewer`` is the command ``raystream``."""

from viewer.cli.main import entry

if __name__ == "__main__":
    entry()
