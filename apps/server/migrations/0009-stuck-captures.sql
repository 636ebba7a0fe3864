-- Since when a capture line is in trouble, whatever kind of trouble; null: it is not.
alter table capture_line add trouble_since timestamptz;
update capture_line set trouble_since = now() where state <> 'waiting';
