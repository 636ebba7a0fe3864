-- A process that starts while the clock is wrong goes on from what an earlier one of its machine saw (platform/clock.ts): by the machine's start.
alter table clock add samples jsonb not null default '{}';
