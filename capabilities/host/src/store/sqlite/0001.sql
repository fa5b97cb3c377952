-- One row: the number of the last migration.
CREATE TABLE schema_version (
    only    INTEGER PRIMARY KEY CHECK (only = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO schema_version (only, version) VALUES (1, 0);

-- What waits for a person, and for a day what became of it.
CREATE TABLE approvals (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
    status      TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'consumed')),
    subject     TEXT NOT NULL,
    summary     TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    -- Everything that a caller wrote, and what it binds to: there until the approval is final, and erased then.
    content     TEXT,
    digest      BLOB CHECK (digest IS NULL OR length(digest) = 32),
    -- The rest is there once it is answered or final.
    answered_by TEXT,
    note        TEXT CHECK (note IS NULL OR status = 'denied'),
    finished_at INTEGER,
    CHECK ((status IN ('pending', 'approved')) = (content IS NOT NULL)),
    CHECK ((content IS NULL) = (digest IS NULL)),
    CHECK ((content IS NULL) = (finished_at IS NOT NULL))
) STRICT;
CREATE INDEX approvals_open ON approvals (subject, status);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE finished_at IS NULL;
CREATE INDEX approvals_finished ON approvals (finished_at) WHERE finished_at IS NOT NULL;

-- Invocations per session, turn and capability.
CREATE TABLE turns (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    session    TEXT NOT NULL,
    turn       INTEGER NOT NULL,
    capability TEXT NOT NULL,
    version    INTEGER NOT NULL,
    used       INTEGER NOT NULL CHECK (used > 0),
    UNIQUE (session, turn, capability, version)
) STRICT;

-- Each subject's own entries: untrusted text, in order, never changed.
CREATE TABLE journal (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    subject TEXT NOT NULL,
    session TEXT NOT NULL,
    turn    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    text    TEXT NOT NULL
) STRICT;
CREATE INDEX journal_subject ON journal (subject, seq);
CREATE INDEX journal_turn ON journal (session, turn);
CREATE TRIGGER journal_is_append_only BEFORE UPDATE ON journal
BEGIN
    SELECT RAISE(ABORT, 'a journal is append-only');
END;
