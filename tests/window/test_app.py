"""The window, by real events of an X server: keys, mouse, sizes, files, and how long it takes to answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

