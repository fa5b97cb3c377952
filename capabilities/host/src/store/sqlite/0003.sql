-- What channels took in: content, there until it is old enough or an operator erases it.
CREATE TABLE inbox (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    subject TEXT NOT NULL,
    channel TEXT NOT NULL,
    kind    TEXT NOT NULL,
    session TEXT NOT NULL,
    turn    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    -- The number and hash of its record in the log.
    receipt TEXT NOT NULL,
    message TEXT NOT NULL
) STRICT;
CREATE INDEX inbox_of ON inbox (subject, seq);
CREATE INDEX inbox_at ON inbox (at);

-- How much of it there is, counted as it comes and goes.
CREATE TABLE inbox_held (
    subject TEXT PRIMARY KEY,
    entries INTEGER NOT NULL CHECK (entries >= 0),
    bytes   INTEGER NOT NULL CHECK (bytes >= 0)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER inbox_comes AFTER INSERT ON inbox BEGIN
    INSERT INTO inbox_held (subject, entries, bytes) VALUES (new.subject, 1, octet_length(new.message))
    ON CONFLICT (subject) DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER inbox_goes AFTER DELETE ON inbox BEGIN
    UPDATE inbox_held SET entries = entries - 1, bytes = bytes - octet_length(old.message) WHERE subject = old.subject;
END;

-- What each channel has seen, by hashes: never content.
CREATE TABLE channel_seen (
    channel TEXT NOT NULL,
    id      BLOB NOT NULL CHECK (length(id) = 32),
    -- Until then it is refused, and known without fail; then it is known for as long as there is room.
    window  INTEGER NOT NULL,
    keep    INTEGER NOT NULL CHECK (keep >= window),
    PRIMARY KEY (channel, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_seen_keep ON channel_seen (keep);
