"""``raystream dataset``: annotated pictures by a recipe, by one process, by several or by a cluster."""
