-- Calls that are made at times: content, erased by number or by subject.
CREATE TABLE schedules (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    subject      TEXT NOT NULL,
    plan         TEXT NOT NULL,
    next_at      INTEGER,
    last_at      INTEGER,
    last_outcome TEXT,
    missed       INTEGER NOT NULL DEFAULT 0 CHECK (missed >= 0)
) STRICT;
CREATE INDEX schedules_of ON schedules (subject);
CREATE INDEX schedules_due ON schedules (next_at) WHERE next_at IS NOT NULL;
