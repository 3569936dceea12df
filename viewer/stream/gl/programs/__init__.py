"""Compiling and linking programs: in the driver's threads, once for a driver and a source, and handed to moderngl."""
