-- Room in a page serves updates that change no index, and of these rows hardly any are updated so: docs/decisions/0074-bytes-of-a-document.md.
alter table alert_fact set (fillfactor = 100);
alter table alert set (fillfactor = 100);
alter table document set (fillfactor = 100);
alter table freight set (fillfactor = 95);
alter table content_sum set (fillfactor = 95);
