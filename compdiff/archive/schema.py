"""The tables of an index, as the steps that made them. In: a version. Out: SQL that SQLite and PostgreSQL both take.

A new archive takes all steps, an older one those it lacks, so that both end the same. A step is never changed once
it was released: what it made stands in archives.
"""

STEPS: tuple[tuple[str, ...], ...] = (
    # 1: runs, what they share, and tags.
    (
        """CREATE TABLE shapes (id TEXT PRIMARY KEY, size BIGINT NOT NULL, parts TEXT NOT NULL)""",
        """CREATE TABLE environments (
            id TEXT PRIMARY KEY,
            device_name TEXT NOT NULL, torch TEXT NOT NULL, triton TEXT NOT NULL, cuda TEXT NOT NULL,
            driver TEXT NOT NULL, python TEXT NOT NULL, host TEXT NOT NULL)""",
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY,
            record TEXT NOT NULL, record_size BIGINT NOT NULL, bytes BIGINT NOT NULL,
            shape TEXT NOT NULL REFERENCES shapes (id),
            environment TEXT NOT NULL REFERENCES environments (id),
            created TEXT NOT NULL, added TEXT NOT NULL,
            case_name TEXT NOT NULL, param_set TEXT NOT NULL, params TEXT NOT NULL, dtype TEXT NOT NULL,
            options TEXT NOT NULL, basis TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL,
            commit_id TEXT NOT NULL, branch TEXT NOT NULL, dirty INTEGER NOT NULL,
            left_op_calls BIGINT NOT NULL, left_launches BIGINT NOT NULL, left_kernels BIGINT NOT NULL,
            left_ns BIGINT, left_low_ns BIGINT, left_high_ns BIGINT, left_samples BIGINT, left_peak_bytes BIGINT,
            right_op_calls BIGINT NOT NULL, right_launches BIGINT NOT NULL, right_kernels BIGINT NOT NULL,
            right_ns BIGINT, right_low_ns BIGINT, right_high_ns BIGINT, right_samples BIGINT, right_peak_bytes BIGINT,
            rules TEXT NOT NULL, unexplained BIGINT NOT NULL, graph_breaks BIGINT NOT NULL,
            recompiles BIGINT NOT NULL, compile_ns BIGINT, numerics_within INTEGER, failure TEXT NOT NULL,
            analysed_by TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0)""",
        "CREATE INDEX runs_by_age ON runs (created)",
        "CREATE INDEX runs_by_case ON runs (case_name, created)",
        "CREATE INDEX runs_by_shape ON runs (shape)",
        """CREATE TABLE tags (
            name TEXT NOT NULL, run TEXT NOT NULL REFERENCES runs (id), PRIMARY KEY (name, run))""",
        "CREATE INDEX tags_by_run ON tags (run)",
    ),
    # 2: who pinned a run, why and when.
    (
        "ALTER TABLE runs ADD COLUMN pinned_by TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN pinned_why TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN pinned_at TEXT NOT NULL DEFAULT ''",
    ),
    # 3: settings, which runs share; small records in the row itself. SQLite takes any name of a type.
    (
        "ALTER TABLE runs ADD COLUMN setting TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN record_data BYTEA",
    ),
)
VERSION = len(STEPS)
# What the index says of itself: `schema`, and `blobs`, the URL of those that are not in the archive's folder.
FACTS_TABLE = "archive"
CREATE_FACTS = "CREATE TABLE archive (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
TABLES = frozenset({FACTS_TABLE, "shapes", "environments", "runs", "tags"})
INDEXES = frozenset({"runs_by_age", "runs_by_case", "runs_by_shape", "tags_by_run"})
