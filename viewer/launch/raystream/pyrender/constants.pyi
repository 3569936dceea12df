"""Names of `viewer.pyrender.constants`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.constants import *  # noqa: F403
