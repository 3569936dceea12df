"""Names of `viewer.pyrender.primitive`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.primitive import *  # noqa: F403
