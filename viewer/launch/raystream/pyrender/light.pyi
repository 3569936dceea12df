"""Names of `viewer.pyrender.light`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.light import *  # noqa: F403
