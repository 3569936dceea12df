"""Names of `viewer.pyrender.material`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.material import *  # noqa: F403
