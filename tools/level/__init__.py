"""What a level of our own in the format of Quake III is made of: faces, the chapel, lightmaps, textures."""
