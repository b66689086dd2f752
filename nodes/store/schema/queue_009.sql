-- No fork is given up as poison any more: what was is tried again, or expires.
UPDATE forks SET state = 'queued' WHERE state = 'poison';
