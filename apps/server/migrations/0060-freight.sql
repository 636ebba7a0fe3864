-- The audit of freight: docs/decisions/0053-freight-audit.md. apps/server/contents reads and judges, apps/server/freight keeps what people say.

-- What an NF-e says of its freight; null: not read, or no NF-e.
alter table content add column mod_frete smallint, add column tp_nf smallint, add column recipient text collate "C"; -- CNPJ or CPF

-- CT-e that a company pays, or receives while somebody else pays.
create table freight (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  at bigint not null,                 -- of its issue, milliseconds
  value bigint not null,              -- vTPrest, cents
  cargo bigint,                       -- vCarga, cents
  kilos float8,
  utc_offset smallint not null,       -- of its issue, minutes
  tp_cte smallint not null,
  tp_serv smallint not null,
  cites int not null,                 -- documents, CT-e of the way before among them
  standing boolean not null,          -- neither cancelled, denied nor replaced
  pays boolean not null,              -- the company is the tomador
  receives boolean not null,          -- it is the recipient
  due boolean not null,               -- to be judged
  -- What others are compared with.
  compared boolean not null generated always as (standing and pays and tp_serv = 0 and tp_cte in (0, 5)) stored,
  chave text collate "C" not null,
  carrier text collate "C" not null,  -- CNPJ or CPF
  payer text collate "C",
  lane text collate "C" not null,     -- SP-SC
  way text collate "C" not null,      -- its cities by IBGE code
  from_name text,
  to_name text,
  notes text[] not null,              -- chaves of the NF-e that it carries
  primary key (workspace_id, document_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
) with (fillfactor = 80, autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
create index freight_lane_ix on freight (workspace_id, company_id, lane, at, chave) where compared;
create index freight_way_ix on freight (workspace_id, company_id, way, at, chave) where compared;
create index freight_due_ix on freight (workspace_id, document_id) where due;

-- Which CT-e cite a note.
create table freight_citation (
  workspace_id int not null,
  chave text collate "C" not null,
  document_id bigint not null,
  primary key (workspace_id, chave, document_id)
);

-- What does not fit in a bill, as @vigia/freight says it.
create table freight_finding (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  issued_at timestamp not null,       -- as `document`
  told_at timestamptz not null,       -- before it nothing is told: a note may come after its CT-e
  value bigint not null,              -- of the bill, cents
  code text collate "C" not null,
  sentence text not null,
  documents text[] not null,          -- chaves
  primary key (workspace_id, document_id, code),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
) with (fillfactor = 90);
create index freight_finding_list_ix on freight_finding (workspace_id, issued_at, document_id, code) include (company_id, value);

-- Findings that a person looked at and found right. It holds while the finding says the same.
create table freight_mark (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  said_by int not null,
  said_at timestamptz not null default now(),
  code text collate "C" not null,
  sentence text not null,
  primary key (workspace_id, document_id, code),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);

do $$ declare t text; begin
  foreach t in array array['freight', 'freight_citation', 'freight_finding', 'freight_mark'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;

-- What is here was read without this: all is read again, what changes first. A turn that is under way ends without writing its position.
update content_position set walked_type = 0, walked_at = '-infinity', walked_id = 0, next_at = now(), lease_until = null;
