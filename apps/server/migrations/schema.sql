-- The schema after all migrations, for the reader. Written by `vitest -u` of schema.test.ts; never executed.

-- tables
account (workspace_id integer not null, id integer not null, email text not null, name text not null, phone text, password_hash text not null, created_at timestamp with time zone not null default now())
capture_call (line_id integer not null, id bigint not null, at timestamp with time zone not null default now(), query text not null, nsu_before bigint not null, nsu_after bigint not null, c_stat smallint, x_motivo text, documents smallint not null default 0, bytes integer not null default 0, duration_ms integer not null default 0, error text, next_at timestamp with time zone, allowed_at timestamp with time zone)
capture_gap (line_id integer not null, from_nsu bigint not null, to_nsu bigint not null, found_at timestamp with time zone not null default now(), lost boolean not null default false)
capture_line (id integer not null, service smallint not null, cnpj text not null, last_nsu bigint not null default 0, max_nsu bigint not null default 0, next_at timestamp with time zone, allowed_at timestamp with time zone not null default '-infinity'::timestamp with time zone, lease_by uuid, lease_until timestamp with time zone, state text not null default 'waiting'::text, message text not null default ''::text, failures smallint not null default 0, last_success_at timestamp with time zone, gap_at timestamp with time zone, catch_up boolean not null default false, asked_at timestamp with time zone, automatic boolean not null default true, wanted boolean not null default false, catch_up_at timestamp with time zone not null default '-infinity'::timestamp with time zone, lease_for text)
capture_refusal (line_id integer not null, workspace_id integer not null, certificate_id integer not null, at timestamp with time zone not null default now(), rests_until timestamp with time zone not null)
capture_subscription (line_id integer not null, workspace_id integer not null, company_id integer not null, delivered_nsu bigint not null default 0, proved_at timestamp with time zone, refused text, refused_at timestamp with time zone)
certificate (workspace_id integer not null, id integer not null, company_id integer not null, holder_cnpj text not null, holder_name text not null, issuer text not null, serial_number text not null, valid_from timestamp with time zone not null, valid_to timestamp with time zone not null, certificate_pem text not null, chain_pem text[] not null, key_encrypted bytea not null, key_id text not null, uploaded_by integer not null, uploaded_at timestamp with time zone not null default now(), replaced_at timestamp with time zone, refused_at timestamp with time zone)
certificate_use (workspace_id integer not null, id bigint not null, certificate_id integer not null, at timestamp with time zone not null default now(), service text not null, purpose text not null)
circuit (address text not null, failures integer not null default 0, open_until timestamp with time zone, since timestamp with time zone, reason text)
company (workspace_id integer not null, id integer not null default nextval('company_id_seq'::regclass), public_id uuid not null default gen_random_uuid(), cnpj text not null, name text not null, search text not null, uf smallint not null, active boolean not null default true, created_at timestamp with time zone not null default now(), email text, automatic boolean not null default true, shown_nfe smallint not null default 511, shown_cte smallint not null default 511, acknowledges_since timestamp with time zone, acknowledges_by integer)
count_day (workspace_id integer not null, type smallint not null, day date not null, company_id integer not null, roles smallint not null, status smallint not null, n integer not null)
count_month (workspace_id integer not null, type smallint not null, month date not null, company_id integer not null, roles smallint not null, status smallint not null, n integer not null, amount numeric(24,2) not null)
document (workspace_id integer not null, company_id integer not null, id bigint not null default nextval('document_id_seq'::regclass), issued_at timestamp without time zone not null, created_at timestamp with time zone not null default now(), authorized_at timestamp with time zone, nsu bigint not null, supplier_id integer not null, number integer not null, event_code integer not null, type smallint not null, series smallint not null, issued_offset smallint, roles smallint not null, status smallint not null, base_status smallint not null, complete boolean not null, amount numeric(15,2) not null, event_text text, chave text not null)
document_event (workspace_id integer not null, company_id integer not null, chave text not null, tp_evento integer not null, sequence smallint not null, orgao smallint not null, type smallint not null, rank smallint not null, status smallint, summary boolean not null, registered_at timestamp with time zone not null, happened_at timestamp with time zone not null, nsu bigint not null, protocol text, author text, description text not null, justification text, known boolean not null, roles smallint not null, undoes integer, undoes_protocol text, undone boolean not null default false, stated boolean not null default false)
installation (singleton boolean not null default true, ambiente text not null, id_key bytea not null, created_at timestamp with time zone not null default now())
migration (name text not null, sha256 text not null, applied_at timestamp with time zone not null default now())
outgoing_event (workspace_id integer not null, id bigint not null, company_id integer not null, document_id bigint not null, type smallint not null, cnpj text not null, chave text not null, tp_evento integer not null, sequence smallint not null, state text not null default 'waiting'::text, message text not null default ''::text, justification text, corrections jsonb, why text not null, requested_by integer, requested_at timestamp with time zone not null default now(), next_at timestamp with time zone not null default now(), lease_by uuid, lease_until timestamp with time zone, failures smallint not null default 0, signed_xml text, sent_at timestamp with time zone, c_stat smallint, x_motivo text, protocol text, registered_at timestamp with time zone, answer_xml text, answered_at timestamp with time zone)
outgoing_event_call (workspace_id integer not null, id bigint not null, event_id bigint not null, at timestamp with time zone not null default now(), c_stat smallint, x_motivo text, error text, duration_ms integer not null default 0)
receipt (workspace_id integer not null, company_id integer not null, service smallint not null, codec smallint not null, nsu bigint not null, received_at timestamp with time zone not null default now(), schema text not null, problem text, unread boolean not null, content bytea not null)
session (token_hash bytea not null, workspace_id integer not null, account_id integer not null, created_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null)
supplier (workspace_id integer not null, id integer not null default nextval('supplier_id_seq'::regclass), tax_id text not null, name text not null, search text not null)
workspace (id integer not null, public_id uuid not null default gen_random_uuid(), name text not null, plan smallint not null, large boolean not null default false, created_at timestamp with time zone not null default now())

-- constraints
account: FOREIGN KEY (workspace_id) REFERENCES workspace(id)
account: PRIMARY KEY (workspace_id, id)
account: UNIQUE (email)
capture_call: CHECK ((query = ANY (ARRAY['distNSU'::text, 'consNSU'::text])))
capture_call: FOREIGN KEY (line_id) REFERENCES capture_line(id)
capture_call: PRIMARY KEY (line_id, id)
capture_gap: FOREIGN KEY (line_id) REFERENCES capture_line(id)
capture_gap: PRIMARY KEY (line_id, from_nsu)
capture_line: CHECK ((lease_for = ANY (ARRAY['due'::text, 'copies'::text, 'gap'::text, 'check'::text])))
capture_line: CHECK ((state = ANY (ARRAY['waiting'::text, 'blocked'::text, 'failed'::text, 'stopped'::text])))
capture_line: PRIMARY KEY (id)
capture_line: UNIQUE (service, cnpj)
capture_refusal: FOREIGN KEY (line_id) REFERENCES capture_line(id)
capture_refusal: FOREIGN KEY (workspace_id, certificate_id) REFERENCES certificate(workspace_id, id)
capture_refusal: PRIMARY KEY (line_id, workspace_id, certificate_id)
capture_subscription: FOREIGN KEY (line_id) REFERENCES capture_line(id)
capture_subscription: FOREIGN KEY (workspace_id, company_id) REFERENCES company(workspace_id, id)
capture_subscription: PRIMARY KEY (line_id, workspace_id, company_id)
certificate: FOREIGN KEY (workspace_id, company_id) REFERENCES company(workspace_id, id)
certificate: PRIMARY KEY (workspace_id, id)
certificate_use: FOREIGN KEY (workspace_id, certificate_id) REFERENCES certificate(workspace_id, id)
certificate_use: PRIMARY KEY (workspace_id, id)
circuit: PRIMARY KEY (address)
company: CHECK ((cnpj ~ '^[0-9A-Z]{12}[0-9]{2}$'::text))
company: FOREIGN KEY (workspace_id) REFERENCES workspace(id)
company: PRIMARY KEY (workspace_id, id)
company: UNIQUE (public_id)
company: UNIQUE (workspace_id, cnpj)
count_day: PRIMARY KEY (workspace_id, type, day, company_id, roles, status)
count_month: PRIMARY KEY (workspace_id, type, month, company_id, roles, status)
document: CHECK ((length(chave) = 44))
document: PRIMARY KEY (workspace_id, id)
document_event: PRIMARY KEY (workspace_id, company_id, chave, tp_evento, sequence, orgao)
installation: CHECK (singleton)
installation: PRIMARY KEY (singleton)
migration: PRIMARY KEY (name)
outgoing_event: CHECK ((state = ANY (ARRAY['waiting'::text, 'sending'::text, 'registered'::text, 'rejected'::text])))
outgoing_event: FOREIGN KEY (workspace_id, company_id) REFERENCES company(workspace_id, id)
outgoing_event: PRIMARY KEY (workspace_id, id)
outgoing_event_call: FOREIGN KEY (workspace_id, event_id) REFERENCES outgoing_event(workspace_id, id)
outgoing_event_call: PRIMARY KEY (workspace_id, id)
receipt: PRIMARY KEY (workspace_id, company_id, service, nsu)
session: FOREIGN KEY (workspace_id, account_id) REFERENCES account(workspace_id, id) ON DELETE CASCADE
session: PRIMARY KEY (token_hash)
supplier: PRIMARY KEY (workspace_id, id)
supplier: UNIQUE (workspace_id, tax_id, name)
workspace: PRIMARY KEY (id)
workspace: UNIQUE (public_id)

-- indexes
CREATE INDEX capture_line_catch_up_ix ON public.capture_line USING btree (id) WHERE catch_up
CREATE INDEX capture_line_gap_ix ON public.capture_line USING btree (gap_at) WHERE (gap_at IS NOT NULL)
CREATE INDEX capture_line_held_ix ON public.capture_line USING btree (lease_until) WHERE (lease_until IS NOT NULL)
CREATE INDEX capture_line_next_ix ON public.capture_line USING btree (next_at) WHERE ((next_at IS NOT NULL) AND (automatic OR wanted))
CREATE INDEX capture_subscription_company_ix ON public.capture_subscription USING btree (workspace_id, company_id)
CREATE INDEX certificate_base_ix ON public.certificate USING btree (workspace_id, "left"(holder_cnpj, 8), valid_to) WHERE (replaced_at IS NULL)
CREATE INDEX certificate_use_ix ON public.certificate_use USING btree (workspace_id, certificate_id, at)
CREATE INDEX document_created_ix ON public.document USING btree (workspace_id, created_at)
CREATE INDEX document_list_company_ix ON public.document USING btree (workspace_id, company_id, type, issued_at, id) INCLUDE (roles, status, number)
CREATE INDEX document_list_ix ON public.document USING btree (workspace_id, type, issued_at, id) INCLUDE (roles, status, number, company_id, supplier_id)
CREATE INDEX document_number_ix ON public.document USING btree (workspace_id, number)
CREATE INDEX document_rare_ix ON public.document USING btree (workspace_id, type, status, issued_at, id) INCLUDE (roles, company_id) WHERE (status <> ALL (ARRAY[2, 8]))
CREATE INDEX document_supplier_ix ON public.document USING btree (workspace_id, supplier_id, type, issued_at, id) INCLUDE (roles, status, company_id)
CREATE INDEX outgoing_event_author_ix ON public.outgoing_event USING btree (cnpj, chave) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text]))
CREATE INDEX outgoing_event_blocked_ix ON public.outgoing_event USING btree (cnpj, type) WHERE ((state = ANY (ARRAY['waiting'::text, 'sending'::text])) AND (c_stat = ANY (ARRAY[656, 678])))
CREATE INDEX outgoing_event_call_ix ON public.outgoing_event_call USING btree (workspace_id, event_id)
CREATE INDEX outgoing_event_chave_ix ON public.outgoing_event USING btree (chave, workspace_id, company_id)
CREATE INDEX outgoing_event_document_ix ON public.outgoing_event USING btree (workspace_id, document_id)
CREATE INDEX outgoing_event_due_ix ON public.outgoing_event USING btree (((requested_by IS NULL)), next_at, id) WHERE (state = ANY (ARRAY['waiting'::text, 'sending'::text]))
CREATE INDEX outgoing_event_lease_ix ON public.outgoing_event USING btree (cnpj, type) WHERE (lease_until IS NOT NULL)
CREATE INDEX outgoing_event_refused_ix ON public.outgoing_event USING btree (workspace_id, company_id) WHERE ((state = 'rejected'::text) AND (requested_by IS NULL))
CREATE INDEX receipt_unread_ix ON public.receipt USING btree (workspace_id, company_id, service) WHERE unread
CREATE INDEX session_account_ix ON public.session USING btree (workspace_id, account_id)
CREATE INDEX supplier_search_ix ON public.supplier USING btree (workspace_id, search, id)
CREATE UNIQUE INDEX account_email_key ON public.account USING btree (email)
CREATE UNIQUE INDEX account_pkey ON public.account USING btree (workspace_id, id)
CREATE UNIQUE INDEX capture_call_pkey ON public.capture_call USING btree (line_id, id)
CREATE UNIQUE INDEX capture_gap_pkey ON public.capture_gap USING btree (line_id, from_nsu)
CREATE UNIQUE INDEX capture_line_pkey ON public.capture_line USING btree (id)
CREATE UNIQUE INDEX capture_line_service_cnpj_key ON public.capture_line USING btree (service, cnpj)
CREATE UNIQUE INDEX capture_refusal_pkey ON public.capture_refusal USING btree (line_id, workspace_id, certificate_id)
CREATE UNIQUE INDEX capture_subscription_pkey ON public.capture_subscription USING btree (line_id, workspace_id, company_id)
CREATE UNIQUE INDEX certificate_current_uk ON public.certificate USING btree (workspace_id, company_id) WHERE (replaced_at IS NULL)
CREATE UNIQUE INDEX certificate_pkey ON public.certificate USING btree (workspace_id, id)
CREATE UNIQUE INDEX certificate_use_pkey ON public.certificate_use USING btree (workspace_id, id)
CREATE UNIQUE INDEX circuit_pkey ON public.circuit USING btree (address)
CREATE UNIQUE INDEX company_pkey ON public.company USING btree (workspace_id, id)
CREATE UNIQUE INDEX company_public_id_key ON public.company USING btree (public_id)
CREATE UNIQUE INDEX company_workspace_id_cnpj_key ON public.company USING btree (workspace_id, cnpj)
CREATE UNIQUE INDEX count_day_pkey ON public.count_day USING btree (workspace_id, type, day, company_id, roles, status)
CREATE UNIQUE INDEX count_month_pkey ON public.count_month USING btree (workspace_id, type, month, company_id, roles, status)
CREATE UNIQUE INDEX document_chave_uk ON public.document USING btree (workspace_id, chave, company_id)
CREATE UNIQUE INDEX document_event_pkey ON public.document_event USING btree (workspace_id, company_id, chave, tp_evento, sequence, orgao)
CREATE UNIQUE INDEX document_pkey ON public.document USING btree (workspace_id, id)
CREATE UNIQUE INDEX installation_pkey ON public.installation USING btree (singleton)
CREATE UNIQUE INDEX migration_pkey ON public.migration USING btree (name)
CREATE UNIQUE INDEX outgoing_event_call_pkey ON public.outgoing_event_call USING btree (workspace_id, id)
CREATE UNIQUE INDEX outgoing_event_pkey ON public.outgoing_event USING btree (workspace_id, id)
CREATE UNIQUE INDEX outgoing_event_uk ON public.outgoing_event USING btree (workspace_id, company_id, chave, tp_evento, sequence) WHERE (state <> 'rejected'::text)
CREATE UNIQUE INDEX receipt_pkey ON public.receipt USING btree (workspace_id, company_id, service, nsu)
CREATE UNIQUE INDEX session_pkey ON public.session USING btree (token_hash)
CREATE UNIQUE INDEX supplier_pkey ON public.supplier USING btree (workspace_id, id)
CREATE UNIQUE INDEX supplier_workspace_id_tax_id_name_key ON public.supplier USING btree (workspace_id, tax_id, name)
CREATE UNIQUE INDEX workspace_pkey ON public.workspace USING btree (id)
CREATE UNIQUE INDEX workspace_public_id_key ON public.workspace USING btree (public_id)

-- policies
account: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
capture_call: using ((capturing() OR (EXISTS ( SELECT 1
   FROM capture_subscription s
  WHERE ((s.line_id = capture_call.line_id) AND (s.workspace_id = current_ws())))))) with check (capturing())
capture_gap: using ((capturing() OR (EXISTS ( SELECT 1
   FROM capture_subscription s
  WHERE ((s.line_id = capture_gap.line_id) AND (s.workspace_id = current_ws())))))) with check (capturing())
capture_line: using ((capturing() OR (EXISTS ( SELECT 1
   FROM capture_subscription s
  WHERE ((s.line_id = capture_line.id) AND (s.workspace_id = current_ws())))))) with check (capturing())
capture_refusal: using (((workspace_id = current_ws()) OR capturing())) with check (((workspace_id = current_ws()) OR capturing()))
capture_subscription: using (((workspace_id = current_ws()) OR capturing())) with check (((workspace_id = current_ws()) OR capturing()))
certificate: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
certificate_use: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
circuit: using (true) with check (true)
company: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
count_day: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
count_month: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
document: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
document_event: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
outgoing_event: using (((workspace_id = current_ws()) OR capturing())) with check (((workspace_id = current_ws()) OR capturing()))
outgoing_event_call: using (((workspace_id = current_ws()) OR capturing())) with check (((workspace_id = current_ws()) OR capturing()))
receipt: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
session: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
supplier: using ((workspace_id = current_ws())) with check ((workspace_id = current_ws()))
workspace: using ((id = current_ws())) with check ((id = current_ws()))

-- functions
account_for_login(p_email text) returns TABLE(workspace_id integer, workspace_public_id uuid, account_id integer, password_hash text) security definer
add_to_counters(p_ws integer, p_company integer, p_type smallint, p_issued timestamp without time zone[], p_roles smallint[], p_status smallint[], p_sign integer[], p_amount numeric[]) returns void
apply_events(p_ws integer, p_company integer, p_type smallint, p_chaves text[]) returns void
base_event_code(s smallint) returns integer
can_be_undone(e document_event) returns boolean
can_undo(e document_event) returns boolean
capturing() returns boolean
certificates_sealed_otherwise(p_key_id text) returns boolean security definer
current_ws() returns integer
enlarge_workspace(p_ws integer) returns boolean
ingest(p_ws integer, p_company integer, p_service smallint, r_nsu bigint[], r_schema text[], r_problem text[], r_unread boolean[], r_content bytea[], d_nsu bigint[], d_chave text[], d_number integer[], d_series smallint[], d_issued timestamp without time zone[], d_offset smallint[], d_authorized timestamp with time zone[], d_amount numeric[], d_roles smallint[], d_status smallint[], d_complete boolean[], d_tax_id text[], d_name text[], d_search text[], e_nsu bigint[], e_chave text[], e_tp integer[], e_sequence smallint[], e_orgao smallint[], e_rank smallint[], e_status smallint[], e_summary boolean[], e_registered timestamp with time zone[], e_happened timestamp with time zone[], e_protocol text[], e_author text[], e_description text[], e_justification text[], e_known boolean[], e_roles smallint[], e_stated boolean[], e_undoes integer[], e_undoes_protocol text[], p_again boolean) returns TABLE(received integer, inserted integer, completed integer)
introduce_suppliers(p_ws integer, p_tax_id text[], p_name text[], p_search text[]) returns void
month_of(t timestamp without time zone) returns date
names_event(u document_event, e document_event) returns boolean
protocol_number(p text) returns numeric
restate_receipts(p_ws integer, p_company integer, p_service smallint, p_nsu bigint[], p_problem text[], p_unread boolean[]) returns void security definer
session_for_token(p_token_hash bytea) returns TABLE(workspace_id integer, workspace_public_id uuid, account_id integer) security definer
undo_events(p_ws integer, p_company integer, p_chaves text[]) returns void
weightier_status(a smallint, b smallint) returns smallint
