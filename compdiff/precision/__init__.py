"""Why outputs differ from eager mode's. In: the outcome of one run for each switch. Out: a verdict."""
