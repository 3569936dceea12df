"""Triangles and points drawn into streams: rasterised hits, visibility buffers, scattered writes."""
