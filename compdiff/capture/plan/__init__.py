"""compdiff: plans of a case for a GPU that is not there. `session` is where to start reading."""
