"""Names and numbers of the objects and materials in a picture, and how much of each pixel they cover."""
