"""``raystream check-shaders``: the programs of every machine and fusion, and of all that is drawn beside."""
