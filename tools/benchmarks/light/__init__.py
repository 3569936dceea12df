"""Light transport: paths, lights, materials, samplers, photons, motion blur."""
