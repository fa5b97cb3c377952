-- Tools of others: what each provider's tools were when they were accepted, and what differs since.
CREATE TABLE providers (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    name        TEXT NOT NULL,
    -- What the provider was when its tools were accepted: another program or place is another one.
    connection  BLOB NOT NULL CHECK (length(connection) = 32),
    UNIQUE (kind, name)
) STRICT;
CREATE TABLE definitions (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    provider    INTEGER NOT NULL REFERENCES providers (number),
    native      TEXT NOT NULL,
    accepted    TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    -- What the provider said last, while that is something else.
    seen        TEXT,
    -- Accepted from another program or place.
    moved       INTEGER NOT NULL DEFAULT 0 CHECK (moved IN (0, 1)),
    UNIQUE (provider, native)
) STRICT;
