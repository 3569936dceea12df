"""The package ``raystream`` of a checkout, where editable installations find it: the folder ``viewer/``."""

import os

__path__ = [os.path.join(os.path.abspath(__file__).rsplit(os.sep, 4)[0], "viewer")]
__file__ = os.path.join(__path__[0], "__init__.py")
with open(__file__, "rb") as _source:
    exec(compile(_source.read(), __file__, "exec"))
