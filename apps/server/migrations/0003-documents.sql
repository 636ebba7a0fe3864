-- Every docZip exactly as it arrived, whatever it holds. Rows are only ever added; all the rest of this file can be rebuilt from them.
create table receipt (
  workspace_id int not null,
  company_id int not null,
  service smallint not null,        -- 0 NF-e, 2 CT-e, as TipoDFe
  codec smallint not null,          -- 0: the gzip stream as received
  nsu bigint not null,
  received_at timestamptz not null default now(),
  schema text not null,
  problem text,                     -- why it could not be read, or what is odd in it
  unread boolean not null,          -- nothing of it is in the projection
  content bytea not null,
  primary key (workspace_id, company_id, service, nsu)
);
-- The bytes are compressed already.
alter table receipt alter content set storage external;
create index receipt_unread_ix on receipt (workspace_id, company_id, service) where unread;

create sequence supplier_id_seq as int cache 20;
create table supplier (
  workspace_id int not null,
  id int not null default nextval('supplier_id_seq'),
  tax_id text collate "C" not null,
  name text not null,
  search text collate "C" not null,
  primary key (workspace_id, id),
  unique (workspace_id, tax_id, name)
);
create index supplier_search_ix on supplier (workspace_id, search, id);

create sequence document_id_seq cache 50;
create table document (
  workspace_id int not null,
  company_id int not null,
  id bigint not null default nextval('document_id_seq'),
  -- Date and time as printed on the document, in its own offset: what people filter by.
  issued_at timestamp not null,
  created_at timestamptz not null default now(),
  authorized_at timestamptz,        -- deadlines of events count from here
  nsu bigint not null,              -- of the receipt that holds the best bytes of it
  supplier_id int not null,
  number int not null,
  event_code int not null,
  type smallint not null,           -- 0 NF-e, 2 CT-e
  series smallint not null,
  issued_offset smallint,           -- minutes east of UTC; null when the layout had no offset
  roles smallint not null,          -- bit 1 << participation code
  status smallint not null,
  base_status smallint not null,    -- what the documents alone say, before events
  complete boolean not null,
  amount numeric(15, 2) not null,
  event_text text,                  -- words of an event code that our table does not know
  chave text collate "C" not null check (length(chave) = 44),
  primary key (workspace_id, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02, fillfactor = 95);
create unique index document_chave_uk on document (workspace_id, chave, company_id);
create index document_list_ix on document (workspace_id, type, issued_at, id) include (roles, status, number, company_id, supplier_id);
create index document_list_company_ix on document (workspace_id, company_id, type, issued_at, id) include (roles, status, number);
-- Statuses other than the common ones (authorised, ciência) are rare; without this a filter on one reads the whole month.
create index document_rare_ix on document (workspace_id, type, status, issued_at, id) include (roles, company_id) where status not in (2, 8);
create index document_supplier_ix on document (workspace_id, supplier_id, type, issued_at, id) include (roles, status, company_id);
create index document_number_ix on document (workspace_id, number);
create index document_created_ix on document (workspace_id, created_at);

-- Events by chave, not by document: they may arrive before it.
create table document_event (
  workspace_id int not null,
  company_id int not null,
  chave text collate "C" not null,
  tp_evento int not null,
  sequence smallint not null,
  orgao smallint not null,
  type smallint not null,
  rank smallint not null,           -- weight in the displayed status, see docs/decisions
  status smallint,                  -- status it gives, when it gives one
  summary boolean not null,
  registered_at timestamptz not null,
  happened_at timestamptz not null,
  nsu bigint not null,
  protocol text,
  author text,
  description text not null,
  justification text,
  known boolean not null,           -- our table has words for tp_evento
  roles smallint not null,          -- roles that it gives the company, which the document may not name
  primary key (workspace_id, company_id, chave, tp_evento, sequence, orgao)
);

create table count_month (
  workspace_id int not null, type smallint not null, month date not null, company_id int not null,
  roles smallint not null, status smallint not null, n int not null, amount numeric(24, 2) not null,
  primary key (workspace_id, type, month, company_id, roles, status)
) with (fillfactor = 80);
create table count_day (
  workspace_id int not null, type smallint not null, day date not null, company_id int not null,
  roles smallint not null, status smallint not null, n int not null,
  primary key (workspace_id, type, day, company_id, roles, status)
) with (fillfactor = 80);

create function month_of(t timestamp) returns date language sql immutable parallel safe
  return date_trunc('month', t)::date;

-- Cancelled and denied win over authorised, which wins over a bare summary: order of arrival must not matter.
create function weightier_status(a smallint, b smallint) returns smallint language sql immutable parallel safe
  return case when array_position('{1,10,2,9,3}'::smallint[], a) >= array_position('{1,10,2,9,3}'::smallint[], b) then a else b end;

-- The event code shown when no event says more.
create function base_event_code(s smallint) returns int language sql immutable parallel safe
  return case s when 2 then 100 when 3 then 110111 when 9 then 302 else 0 end;
