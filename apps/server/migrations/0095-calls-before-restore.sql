-- The last call of the ledger when the restore was found: what came after it is told by the order of the calls, because the clock may have been set between.
-- Null where a process of an earlier release found it: then it is the last call of a line that looks earlier than the restore.
alter table restore add column last_call_id bigint;
