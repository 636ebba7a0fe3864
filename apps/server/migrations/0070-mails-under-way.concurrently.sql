-- How many mails of each workspace leave at this moment is asked before each claim.
create index concurrently mail_held_ix on mail (lease_until) where state = 'waiting' and lease_until is not null;
