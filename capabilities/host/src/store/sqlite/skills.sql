-- Skills as an operator accepted them, whole: what is in force is this, whatever becomes of the folder.
CREATE TABLE skills (
    name        TEXT PRIMARY KEY,
    digest      BLOB NOT NULL CHECK (length(digest) = 32),
    package     BLOB NOT NULL,
    accepted_at INTEGER NOT NULL
) STRICT;
