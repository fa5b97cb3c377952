-- What subjects keep under keys: content, erased by subject. `session` is empty in the scope of the subject itself.
CREATE TABLE state (
    subject TEXT NOT NULL,
    scope   TEXT NOT NULL CHECK (scope IN ('core', 'session')),
    session TEXT NOT NULL CHECK ((scope = 'core') = (session = '')),
    key     TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 64),
    value   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (subject, scope, session, key)
) STRICT;
CREATE INDEX state_at ON state (at) WHERE scope = 'session';

-- What a person has to look at: content, erased when it is closed. What is left says that there was something.
CREATE TABLE reviews (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    subject   TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN ('package_trust', 'dependency')),
    about     TEXT,
    reason    TEXT,
    at        INTEGER NOT NULL,
    closed_at INTEGER,
    CHECK ((closed_at IS NULL) = (about IS NOT NULL)),
    CHECK ((closed_at IS NULL) = (reason IS NOT NULL))
) STRICT;
CREATE INDEX reviews_open ON reviews (subject) WHERE closed_at IS NULL;
