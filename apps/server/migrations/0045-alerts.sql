-- Alerts: which documents look wrong, and why. docs/decisions/0043-alerts-in-the-product.md, packages/alerts.

-- How far the documents of a workspace are judged. Whoever changes what follows holds this row.
create table alert_position (
  workspace_id int primary key references workspace (id),
  version bigint not null,          -- of change_position: what changed until then is judged
  -- Older documents are judged by type, date of issue and id; null: all are.
  walked_type smallint,
  walked_at timestamp,
  walked_id bigint,
  reviewed_id bigint,               -- all that is known is judged anew from here on, because a rule was switched; null: it is
  next_at timestamptz not null default now(),
  served_at timestamptz not null default '-infinity', -- who waited longest is served next
  lease_until timestamptz
) with (fillfactor = 50);

-- What is known of a document, and the keys by which others find it; without `purchase` only number and chave.
create table alert_fact (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  at bigint not null,               -- date of issue, milliseconds
  amount bigint not null,           -- cents
  again_at timestamptz,             -- when it is to be judged again; null: when something changes
  type smallint not null,
  purchase boolean not null,
  standing boolean not null,        -- authorised and not cancelled
  company_base text collate "C" not null,
  issuer_base text collate "C" not null,
  month text collate "C" not null,
  chave text collate "C" not null,
  number_key text collate "C" not null,
  contingency_key text collate "C",
  name text collate "C" not null,   -- of the issuer, as names are compared
  -- As text, whose order of fields stays.
  facts json not null,
  past json not null,               -- what later documents of the pair look at
  items json,                       -- apart, because they are long and seldom compared
  primary key (workspace_id, document_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
) with (fillfactor = 85);
create unique index alert_fact_chave_uk on alert_fact (workspace_id, chave, company_base);
create index alert_fact_pair_ix on alert_fact (workspace_id, company_base, issuer_base, at, chave) where purchase;
create index alert_fact_learning_ix on alert_fact (workspace_id, company_base, at, chave) where purchase;
create index alert_fact_value_ix on alert_fact (workspace_id, company_base, type, month, amount) where purchase;
create index alert_fact_number_ix on alert_fact (workspace_id, number_key);
create index alert_fact_contingency_ix on alert_fact (workspace_id, contingency_key) where contingency_key is not null;
create index alert_fact_again_ix on alert_fact (workspace_id, again_at) where again_at is not null;

create table alert_citation (
  workspace_id int not null,
  document_id bigint not null,
  chave text collate "C" not null,  -- that the document names
  primary key (workspace_id, chave, document_id)
);
create index alert_citation_document_ix on alert_citation (workspace_id, document_id);

-- Under which names an issuer supplied a company base, since when; three rows for each, by pieces that a look-alike shares.
create table alert_name (
  workspace_id int not null,
  at bigint not null,
  company_base text collate "C" not null,
  issuer_base text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  chave text collate "C" not null,  -- of the first document
  primary key (workspace_id, company_base, issuer_base, name, key)
);
create index alert_name_key_ix on alert_name (workspace_id, company_base, key);
create index alert_name_issuer_ix on alert_name (workspace_id, issuer_base, company_base, at, chave);

create table alert_histogram (
  workspace_id int not null,
  type smallint not null,
  company_base text collate "C" not null,
  month text collate "C" not null,
  counts jsonb not null,            -- by bucket
  primary key (workspace_id, company_base, type, month)
) with (fillfactor = 70);

-- Of documents in which something is wrong, or of which somebody has said something.
create table alert (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  at bigint not null,
  score smallint not null,          -- hundredths
  band smallint not null,           -- 0 informativo, 1 médio, 2 alto, 3 crítico
  state text not null default 'nova' check (state in ('nova', 'em-analise', 'conhecida', 'confirmada')),
  company_base text collate "C" not null,
  issuer_base text collate "C" not null,
  chave text collate "C" not null,
  rules text[] not null,            -- of `fired`
  fired json not null,              -- as packages/alerts says it; empty: nothing is wrong any more
  text text not null,
  learning boolean not null,
  judged_at timestamptz not null default now(),
  state_by int,
  state_at timestamptz,
  stated_rules text[],              -- those that fired when it got its state
  stated_fired json,
  primary key (workspace_id, document_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
) with (fillfactor = 85);
-- In the words of the work list and of the filter of documents.
create index alert_open_ix on alert (workspace_id, score desc, at desc, document_id desc) where state <> 'conhecida' and rules <> '{}';
create index alert_chave_ix on alert (workspace_id, chave) where score >= 60 or state = 'confirmada';
create index alert_confirmed_ix on alert (workspace_id, issuer_base) where state = 'confirmada';
create index alert_pair_ix on alert (workspace_id, company_base, issuer_base);
create index alert_rules_ix on alert using gin (rules);

-- What was found before, the last twenty of a document.
create table alert_verdict (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  judged_at timestamptz not null,
  id bigint generated by default as identity,
  score smallint not null,
  band smallint not null,
  rules text[] not null,
  text text not null,
  primary key (workspace_id, document_id, id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);

-- "É conhecido."
create table alert_known (
  workspace_id int not null,
  id bigint generated by default as identity,
  company_id int not null,          -- of the document of which it was said
  document_id bigint not null,
  ceiling bigint,                   -- cents
  until timestamptz not null,
  said_by int not null,
  said_at timestamptz not null default now(),
  rule text not null,
  company_base text collate "C" not null,
  issuer_base text collate "C" not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);
create index alert_known_pair_ix on alert_known (workspace_id, company_base, issuer_base);
create index alert_known_document_ix on alert_known (workspace_id, document_id);

create table alert_setting (
  workspace_id int primary key references workspace (id),
  off text[] not null default '{}'
);

do $$ declare t text; begin
  foreach t in array array['alert_position', 'alert_fact', 'alert_citation', 'alert_name', 'alert_histogram', 'alert', 'alert_verdict', 'alert_known', 'alert_setting'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;
create policy operator on alert_position using (operating()) with check (operating());
