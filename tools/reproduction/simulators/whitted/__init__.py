"""The thesis's ray tracer on the processor and by OpenCL: one structure, one set of arrays, several back ends."""
