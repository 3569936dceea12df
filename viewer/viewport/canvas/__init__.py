"""A session behind whatever shows bitmaps and reports events as rendercanvas does: a notebook's widget, a browser."""
