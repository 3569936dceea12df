"""``python -m viewer`` is the command ``raystream``."""

from viewer.cli import entry

if __name__ == "__main__":
    entry()
