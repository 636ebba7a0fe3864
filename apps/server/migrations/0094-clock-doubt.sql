-- By how many milliseconds a process saw the clock set, while the pauses have not followed yet: who goes on when that process has ended knows of it.
alter table clock add column doubted_ms bigint not null default 0;
