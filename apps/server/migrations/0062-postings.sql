-- Which documents have a term: docs/decisions/0055-postings.md.

drop function documents_with_terms(int[], int[]);
drop table content_index, content_term;
-- Codes and GTINs are terms.
drop index product_bare_ix;
drop index product_gtin_ix;
alter sequence content_term_id_seq rename to product_id_seq;

-- Documents that are found together.
create table content_segment (
  workspace_id int not null,
  id int generated always as identity,
  size int not null,
  first_month date not null,
  last_month date not null,
  first_id bigint not null,
  last_id bigint not null,
  buckets smallint not null,        -- 2^n
  ids bytea not null,               -- of the documents, in order: a document's place is its number among them
  dropped bytea,                    -- a bit for each place: read anew since, or gone
  primary key (workspace_id, id)
);
-- Their terms, those of a bucket in order, each with the places of its documents (apps/server/documents/search/postings.ts).
create table content_posting (
  workspace_id int not null,
  segment_id int not null,
  bucket smallint not null,
  value bytea not null,
  primary key (workspace_id, segment_id, bucket)
);
alter table content_segment alter ids set storage external;
alter table content_posting alter value set storage external;
do $$ declare t text; begin
  foreach t in array array['content_segment', 'content_posting'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;

-- All documents are read again, what changes first. A turn that is under way ends without writing its position.
update content_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
