-- Milliseconds that files of the batch took which could not be used: after a minute the rest is handed back.
alter table certificate_batch add column failed_ms int not null default 0;
