"""Names and numbers of what a picture shows, and how much of each pixel they cover."""
