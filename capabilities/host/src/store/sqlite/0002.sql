-- A person can put another call in a pending one's place; a denial has a reason; an approval knows what its subject would
-- repeat and what its question stood on. What waits from before goes on waiting: it repeats nothing, and gets no grant.
CREATE TABLE approvals_2 (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
    status       TEXT NOT NULL
                 CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'consumed', 'superseded')),
    subject      TEXT NOT NULL,
    summary      TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    -- Everything that a caller wrote, and what it binds to: there until the approval is final, and erased then.
    content      TEXT,
    digest       BLOB CHECK (digest IS NULL OR length(digest) = 32),
    repeated     BLOB CHECK (repeated IS NULL OR length(repeated) = 32),
    ground       BLOB CHECK (ground IS NULL OR length(ground) = 96),
    -- The rest is there once it is answered or final.
    answered_by  TEXT,
    reason       TEXT CHECK (reason IS NULL OR status = 'denied'),
    note         TEXT CHECK (note IS NULL OR status = 'denied'),
    successor    TEXT CHECK (successor IS NULL OR status = 'superseded'),
    refused_with TEXT CHECK (refused_with IS NULL OR status = 'superseded'),
    finished_at  INTEGER,
    CHECK ((status IN ('pending', 'approved')) = (content IS NOT NULL)),
    CHECK ((content IS NULL) = (digest IS NULL)),
    CHECK ((content IS NULL) = (repeated IS NULL)),
    CHECK ((content IS NULL) = (ground IS NULL)),
    CHECK ((content IS NULL) = (finished_at IS NOT NULL)),
    CHECK ((status = 'superseded') = ((successor IS NULL) <> (refused_with IS NULL)))
) STRICT;
INSERT INTO approvals_2 (seq, id, status, subject, summary, created_at, expires_at, content, digest, repeated, ground,
                         answered_by, note, finished_at)
SELECT seq, id, status, subject, summary, created_at, expires_at, content, digest,
       iif(content IS NULL, NULL, randomblob(32)), iif(content IS NULL, NULL, zeroblob(96)),
       answered_by, note, finished_at
FROM approvals;
DROP TABLE approvals;
ALTER TABLE approvals_2 RENAME TO approvals;
CREATE INDEX approvals_open ON approvals (subject, status);
CREATE INDEX approvals_due ON approvals (expires_at) WHERE finished_at IS NULL;
CREATE INDEX approvals_finished ON approvals (finished_at) WHERE finished_at IS NOT NULL;

-- How often people said no to one call of one subject: by a keyed hash, and never by content.
CREATE TABLE denials (
    repeated   BLOB PRIMARY KEY CHECK (length(repeated) = 32),
    subject    TEXT NOT NULL,
    capability TEXT NOT NULL,
    version    INTEGER NOT NULL,
    denials    INTEGER NOT NULL CHECK (denials > 0),
    last_at    INTEGER NOT NULL,
    until      INTEGER NOT NULL
) STRICT;
CREATE INDEX denials_until ON denials (until);

-- Calls that were approved and used: content, there only while an operator's setting retains it.
CREATE TABLE retained (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    approval   TEXT NOT NULL,
    subject    TEXT NOT NULL,
    capability TEXT NOT NULL,
    version    INTEGER NOT NULL,
    arguments  TEXT NOT NULL,
    target     TEXT,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX retained_of ON retained (capability, subject, version, seq);
CREATE INDEX retained_at ON retained (at);

-- Standing answers: how often each was used. A row answers nothing: the executor that gave it remembers what it covers.
CREATE TABLE grants (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
    description  TEXT NOT NULL,
    -- What it is about: erased when it ends.
    target       TEXT,
    expires_at   INTEGER NOT NULL,
    max_uses     INTEGER NOT NULL CHECK (max_uses > 0),
    used         INTEGER NOT NULL DEFAULT 0 CHECK (used BETWEEN 0 AND max_uses),
    last_used_at INTEGER,
    ended        TEXT,
    ended_at     INTEGER,
    CHECK ((ended IS NULL) = (ended_at IS NULL)),
    CHECK (ended IS NULL OR target IS NULL)
) STRICT;
CREATE INDEX grants_ended ON grants (ended_at) WHERE ended_at IS NOT NULL;

-- Operators' acts stand in the same journal, and cannot be taken for the subject's own entries, nor the other way round.
ALTER TABLE journal ADD COLUMN author TEXT NOT NULL DEFAULT 'subject' CHECK (author IN ('subject', 'operator'));
