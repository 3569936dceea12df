"""What a wheel of somebody else's adds: a reader, a program, a material; a file each."""
