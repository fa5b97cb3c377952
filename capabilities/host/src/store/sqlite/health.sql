-- How tools have been doing: counts and last outcomes, by names and numbers of ours. No word of a provider's is in it.
CREATE TABLE health (
    tool     TEXT PRIMARY KEY,
    worked   INTEGER NOT NULL CHECK (worked >= 0),
    failed   INTEGER NOT NULL CHECK (failed >= 0),
    in_a_row INTEGER NOT NULL CHECK (in_a_row >= 0),
    last     TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
