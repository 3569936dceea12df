"""Names of `viewer.pyrender.scene`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.scene import *  # noqa: F403
