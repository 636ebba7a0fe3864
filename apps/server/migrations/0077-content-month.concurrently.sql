-- What is inside the documents of one month is asked for by the sheet of IBS and CBS.
create index concurrently content_month_ix on content (workspace_id, month);
