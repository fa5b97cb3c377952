-- Who made a schedule, beyond its subject: the slot of its agent, and what brought the session. Of those that are there already
-- neither is known; they were judged as made in no slot, and by a schedule.
ALTER TABLE schedules ADD COLUMN slot TEXT;
ALTER TABLE schedules ADD COLUMN origin TEXT NOT NULL DEFAULT 'schedule';
