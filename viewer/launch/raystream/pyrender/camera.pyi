"""Names of `viewer.pyrender.camera`: for checkers of types. At run time that module has this name, too."""

from viewer.pyrender.camera import *  # noqa: F403
