from types import ModuleType

from viewer import *  # noqa: F403  # the names that it lists
from viewer import __all__ as __all__
from viewer import __version__ as __version__

def inner() -> ModuleType: ...
