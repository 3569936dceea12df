"""Names of `viewer.pyrender.node`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.node import *  # noqa: F403
