"""One picture on its way to convergence."""
