// The order in which triangles are drawn is a table alone: the memory drawn.
