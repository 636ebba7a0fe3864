-- What is inside documents: docs/decisions/0050-what-is-inside.md. apps/server/contents reads it from the receipts, which say it all again.

-- How far the documents of a workspace are read, as in `alert_position`.
create table content_position (
  workspace_id int primary key references workspace (id),
  version bigint not null,
  walked_type smallint,
  walked_at timestamp,
  walked_id bigint,
  next_at timestamptz not null default now(),
  served_at timestamptz not null default '-infinity',
  lease_until timestamptz
) with (fillfactor = 50);

-- Words of items and of what documents name; products share their ids.
create sequence content_term_id_seq as int cache 100;
create table content_term (
  workspace_id int not null,
  id int not null default nextval('content_term_id_seq'),
  -- A word as searches compare it; `ncm:`, `cfop:`, `placa:`, `pedido:`, `lote:` and `mes:` before what is of that kind.
  text text collate "C" not null,
  primary key (workspace_id, id)
);
create unique index content_term_text_uk on content_term (workspace_id, text);

-- What suppliers sell, as their notes call it.
create table product (
  workspace_id int not null,
  id int not null default nextval('content_term_id_seq'),
  issuer text collate "C" not null, -- CNPJ or CPF
  code text not null,
  name text not null,
  ncm text collate "C" not null,
  unit text not null,
  gtin text collate "C",
  bare text collate "C" not null,   -- the code as searches compare it
  primary key (workspace_id, id)
);
create index product_issuer_ix on product (workspace_id, issuer, bare);
create index product_bare_ix on product (workspace_id, bare);
create index product_gtin_ix on product (workspace_id, gtin) where gtin is not null;

create table content (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  -- Cents, as the document says them; null: it says none.
  ibs bigint,
  cbs bigint,
  -- As what it is counted in `content_sum`; null: in none.
  month date,
  side smallint,                    -- 0 received, 1 issued, 2 freight that the company pays
  version smallint not null,        -- by which it was read: older ones are read again
  -- IBS and CBS: 0 none and need not (Simples, MEI, before 2026), 1 none, 2 some items, 3 all.
  reform smallint not null,
  findings int not null,            -- what does not fit of them, a bit for each code
  products int[] not null,          -- in the order of `value`
  value bytea not null,             -- packed by apps/server/contents/packing.ts
  primary key (workspace_id, document_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
alter table content alter value set storage external;
create index content_findings_ix on content (workspace_id, company_id, month) where findings <> 0;

-- By which documents are found: their products and terms, one of them their month. Row-level security keeps comparisons of arrays from leading through
-- an index: this table has no rows of companies to tell apart, and the function names the workspace of the transaction itself.
create table content_index (
  workspace_id int not null,
  document_id bigint not null,
  terms int[] not null,
  primary key (workspace_id, document_id)
);
create index content_index_ix on content_index using gin (terms);
create function documents_with_terms(p_terms int[], p_months int[]) returns setof bigint
  language sql stable security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as
  'select c.document_id from content_index c where c.terms && p_terms and (p_months is null or c.terms && p_months) and c.workspace_id = current_ws()';

-- What could not be read: tried again. The rest of the product works without it.
create table content_unread (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  again_at timestamptz not null,
  primary key (workspace_id, document_id)
);

-- Sums by month, in cents: of documents that stand (not cancelled, denied or replaced).
create table content_sum (
  workspace_id int not null,
  company_id int not null,
  month date not null,
  side smallint not null,
  -- 0 issuer (of those issued: recipient) by CNPJ or CPF, 1 CFOP, 2 NCM, 3 UF of the other side, 4 lane of a CT-e (`SP-PR`).
  -- What a document has beside its items stands under '' of 1 and 2, so that every kind sums up to the documents.
  kind smallint not null,
  documents int not null,
  key text collate "C" not null,
  value bigint not null,
  icms bigint not null, st bigint not null, ipi bigint not null, pis bigint not null, cofins bigint not null,
  ibs bigint not null, cbs bigint not null, "is" bigint not null, fcp bigint not null,
  primary key (workspace_id, side, kind, month, company_id, key)
) with (fillfactor = 80);
create table product_sum (
  workspace_id int not null,
  product_id int not null,
  company_id int not null,
  month date not null,
  side smallint not null,
  documents int not null,
  value bigint not null,            -- vProd less vDesc
  quantity numeric not null,        -- in the unit of the product
  primary key (workspace_id, product_id, side, month, company_id)
) with (fillfactor = 80);

-- Parcels of what is to be paid (cobr/dup).
create table installment (
  workspace_id int not null,
  document_id bigint not null,
  place smallint not null,
  company_id int not null,
  due_on date not null,
  amount bigint not null,           -- cents
  number text not null,
  issuer text collate "C" not null, -- CNPJ or CPF
  standing boolean not null,        -- the document is not cancelled, denied or replaced
  paid_at timestamptz,              -- a person says so
  paid_by int,
  primary key (workspace_id, document_id, place),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);
create index installment_due_ix on installment (workspace_id, due_on, document_id, place);

do $$ declare t text; begin
  foreach t in array array['content_position', 'content_term', 'product', 'content', 'content_index', 'content_unread', 'content_sum', 'product_sum', 'installment'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;
-- The worker looks after all workspaces.
create policy operator on content_position using (operating()) with check (operating());
