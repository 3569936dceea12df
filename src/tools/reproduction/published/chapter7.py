"""D, chapter 7: growth of speed a year."""

from __future__ import annotations

# Figure 7.1: factor a year, and the year from which it holds; relative to 1980.
PROCESSOR = ((1980, 1.35), (1986, 1.55))
MEMORY = ((1980, 1.07),)
LAST = 2000
