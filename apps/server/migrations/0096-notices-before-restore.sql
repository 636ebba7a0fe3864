-- The last mail and the last delivery to a webhook when the restore was found, as of the calls: what came after it may leave, whatever the clock said.
-- Null where a process of an earlier release found it: then it is what looks earlier than the restore.
alter table restore add column last_mail_id bigint;
alter table restore add column last_delivery_id bigint;
