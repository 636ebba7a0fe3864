-- Answers above a value need two people, and rules suggest answers: docs/decisions/0048-two-people.md.

-- Without a row nothing needs a second person.
create table answer_setting (
  workspace_id int primary key references workspace (id),
  two_from numeric(15, 2),          -- reais, from which an answer needs a second person; null: none does
  saved_by int not null,            -- author_name
  saved_at timestamptz not null default now()
);

-- Of notes to which a rule suggests an answer that a person has to give.
create table answer_suggestion (
  workspace_id int not null,
  document_id bigint not null,
  company_id int not null,
  rule_id bigint not null,
  tp_evento int not null,
  primary key (workspace_id, document_id),
  foreign key (workspace_id, company_id) references company (workspace_id, id)
);

do $$ declare t text; begin
  foreach t in array array['answer_setting', 'answer_suggestion'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;

alter table answer_rule drop constraint answer_rule_answer_check;
alter table answer_rule add check (answer in ('ciencia', 'ciencia-apos', 'perguntar', 'sugerir-confirmacao', 'preparar-desconhecimento'));

-- `asked`: a person wants it, and it waits for a second one. Nothing claims such a row.
alter table outgoing_event drop constraint outgoing_event_state_check;
alter table outgoing_event add constraint outgoing_event_state_check check (state in ('asked', 'waiting', 'sending', 'registered', 'rejected'));
alter table outgoing_event add column approved_by int, add column approved_at timestamptz;
create index outgoing_event_asked_ix on outgoing_event (workspace_id, requested_at) where state = 'asked';

-- Settings of rules that look at more than a document: null, as packages/alerts has them.
alter table alert_setting add column approval_limit bigint, add column groups json;
