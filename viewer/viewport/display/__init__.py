"""The picture on the screen: texture, exposure, photons."""
