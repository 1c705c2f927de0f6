"""One case as eager and compiled in several modes: `rungs` says which, `build` makes the Ladder of their runs."""
