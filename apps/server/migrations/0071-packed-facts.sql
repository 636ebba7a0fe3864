-- What is known of a document in a small form (docs/decisions/0063-packed-facts.md), where past is null: then facts has only what queries look at,
-- and items is null too. Where past is there a program that does not know packed wrote the row last.
alter table alert_fact add column packed bytea;
alter table alert_fact alter column past drop not null;
