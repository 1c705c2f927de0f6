"""Whether a run is what it was. In: runs, a lock, a baseline, limits. Out: results that a build passes or fails by.

`structure` and `lock` are free of noise; `times` is statistics; `check` brings them together; the other modules write.
"""
