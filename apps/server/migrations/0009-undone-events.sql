-- Events that take back others, events known from a statement of duplicity, and reading all receipts again. See docs/decisions/0012.
alter table document_event
  -- What it takes back: the code, and the protocol of the undone event where the file tells it.
  add column undoes int,
  add column undoes_protocol text,
  add column undone boolean not null default false,
  -- Known only because the authority refused to register it twice.
  add column stated boolean not null default false;

-- A cancellation of the document is final, and what takes back is not taken back itself.
create function can_undo(e document_event) returns boolean language sql immutable parallel safe
  return e.rank > 0 and (e.undoes is not null or e.undoes_protocol is not null);
create function can_be_undone(e document_event) returns boolean language sql immutable parallel safe
  return e.rank between 1 and 99 and e.undoes is null and e.undoes_protocol is null;
create function names_event(u document_event, e document_event) returns boolean language sql immutable parallel safe
  return can_undo(u) and can_be_undone(e) and e.protocol = u.undoes_protocol and (u.undoes is null or e.tp_evento = u.undoes);

-- nProt as the number that it is (TProt: 15 digits): of two registrations of one second the greater one is the later. Null, which stands
-- below all: a statement of duplicity that kept it to itself.
create function protocol_number(p text) returns numeric language sql immutable parallel safe
  return case when p ~ '^[0-9]+$' then p::numeric end;

-- Marks the events that others take back, from all events of each chave: the same whatever the order of arrival.
create function undo_events(p_ws int, p_company int, p_chaves text[]) returns void language plpgsql as $f$
declare
  u document_event;
begin
  if not exists (select 1 from document_event e
                  where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (p_chaves) and can_undo(e)) then
    return;
  end if;
  update document_event e set undone = false
   where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (p_chaves) and e.undone;
  update document_event e set undone = true
    from document_event x
   where x.workspace_id = p_ws and x.company_id = p_company and x.chave = any (p_chaves)
     and e.workspace_id = p_ws and e.company_id = p_company and e.chave = x.chave and names_event(x, e);
  -- Who names no event that is here takes back the last one registered until then whose protocol does not contradict.
  for u in
    select x.* from document_event x
     where x.workspace_id = p_ws and x.company_id = p_company and x.chave = any (p_chaves) and can_undo(x) and x.undoes is not null
       and not exists (select 1 from document_event e
                        where e.workspace_id = p_ws and e.company_id = p_company and e.chave = x.chave and names_event(x, e))
     order by x.registered_at, protocol_number(x.protocol) nulls first, x.tp_evento, x.sequence, x.orgao
  loop
    update document_event e set undone = true
     where (e.workspace_id, e.company_id, e.chave, e.tp_evento, e.sequence, e.orgao) = (
       select o.workspace_id, o.company_id, o.chave, o.tp_evento, o.sequence, o.orgao from document_event o
        where o.workspace_id = p_ws and o.company_id = p_company and o.chave = u.chave
          and o.tp_evento = u.undoes and can_be_undone(o) and not o.undone and o.registered_at <= u.registered_at
          and (o.protocol is null or u.undoes_protocol is null)
        -- An undo takes back what was there; what the same second brought after it, only when there is nothing else.
        order by (o.registered_at = u.registered_at and protocol_number(o.protocol) > protocol_number(u.protocol)) is true,
                 o.registered_at desc, protocol_number(o.protocol) desc nulls last, o.sequence desc, o.orgao desc limit 1);
  end loop;
end $f$;

-- Sets the status of documents from all their events: the same whatever the order of arrival.
create or replace function apply_events(p_ws int, p_company int, p_type smallint, p_chaves text[]) returns void language plpgsql as $f$
declare
  i timestamp[]; r smallint[]; s smallint[]; v int[]; a numeric[];
begin
  perform undo_events(p_ws, p_company, p_chaves);
  -- What is undone comes last: the event that undid it always stands before it. It still says who may read the document.
  with heaviest as (
    select e.chave, e.tp_evento, e.status, e.known, e.description, e.undone,
           bit_or(e.roles) over (partition by e.chave) as roles,
           row_number() over w as place,
           row_number() over (partition by e.chave, e.status is null
                              order by e.undone, e.rank desc, e.registered_at desc, protocol_number(e.protocol) desc nulls last,
                                       e.tp_evento desc, e.sequence desc, e.orgao desc) as place_of_its_kind
      from document_event e
     where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (p_chaves) and e.rank > 0
    window w as (partition by e.chave
                 order by e.undone, e.rank desc, e.registered_at desc, protocol_number(e.protocol) desc nulls last,
                          e.tp_evento desc, e.sequence desc, e.orgao desc)),
  wanted as (
    select d.id, d.roles | h.roles as roles,
           case when d.base_status in (3, 9) then d.base_status else coalesce(g.status, d.base_status) end as status,
           case when d.base_status in (3, 9) then base_event_code(d.base_status) else h.tp_evento end as event_code,
           case when d.base_status in (3, 9) or h.known then null else h.description end as event_text
      from document d
      join heaviest h on h.chave = d.chave and h.place = 1
      left join heaviest g on g.chave = d.chave and g.status is not null and g.place_of_its_kind = 1 and not g.undone
     where d.workspace_id = p_ws and d.company_id = p_company and d.type = p_type and d.chave = any (p_chaves)),
  u as (
    update document d set roles = w.roles, status = w.status, event_code = w.event_code, event_text = w.event_text
      from wanted w
     where d.workspace_id = p_ws and d.id = w.id
       and (d.roles, d.status, d.event_code, d.event_text) is distinct from (w.roles, w.status, w.event_code, w.event_text)
    returning new.issued_at, old.roles as r0, new.roles as r1, old.status as s0, new.status as s1, new.amount),
  moved as (
    select issued_at, r0 as roles, s0 as status, -1 as sign, amount from u where (r0, s0) <> (r1, s1)
    union all select issued_at, r1, s1, 1, amount from u where (r0, s0) <> (r1, s1))
  select array_agg(issued_at), array_agg(roles), array_agg(status), array_agg(sign), array_agg(amount) into i, r, s, v, a from moved;
  if i is not null then
    perform add_to_counters(p_ws, p_company, p_type, i, r, s, v, a);
  end if;
end $f$;

-- The application may not change receipts. What a newer version understands of them is the one thing that may be said anew.
create function restate_receipts(p_ws int, p_company int, p_service smallint, p_nsu bigint[], p_problem text[], p_unread boolean[])
  returns void language sql security definer set search_path = public
  as $$ update receipt r set problem = u.problem, unread = u.unread
          from unnest(p_nsu, p_problem, p_unread) u (nsu, problem, unread)
         where p_ws = current_ws() and r.workspace_id = p_ws and r.company_id = p_company and r.service = p_service and r.nsu = u.nsu
           and (r.problem, r.unread) is distinct from (u.problem, u.unread) $$;

-- A supplier once more when it has a new name. In the same order by whoever calls, so that two never wait for each other.
create function introduce_suppliers(p_ws int, p_tax_id text[], p_name text[], p_search text[]) returns void language sql
  as $$ insert into supplier (workspace_id, tax_id, name, search)
        select p_ws, n.t, n.n, n.s
          from (select distinct on (t, n) t, n, s from unnest(p_tax_id, p_name, p_search) u (t, n, s) order by t, n) n
         where not exists (select 1 from supplier f where f.workspace_id = p_ws and f.tax_id = n.t and f.name = n.n)
        on conflict do nothing $$;

drop function ingest;

-- One page of one company. Arrays of one group (r, d, e) have the same length. NSUs that were received before change nothing, unless
-- the page is read again (p_again): then its receipts are here and its rows are not.
create function ingest(
  p_ws int, p_company int, p_service smallint,
  r_nsu bigint[], r_schema text[], r_problem text[], r_unread boolean[], r_content bytea[],
  d_nsu bigint[], d_chave text[], d_number int[], d_series smallint[], d_issued timestamp[], d_offset smallint[], d_authorized timestamptz[],
  d_amount numeric[], d_roles smallint[], d_status smallint[], d_complete boolean[], d_tax_id text[], d_name text[], d_search text[],
  e_nsu bigint[], e_chave text[], e_tp int[], e_sequence smallint[], e_orgao smallint[], e_rank smallint[], e_status smallint[],
  e_summary boolean[], e_registered timestamptz[], e_happened timestamptz[], e_protocol text[], e_author text[],
  e_description text[], e_justification text[], e_known boolean[], e_roles smallint[],
  e_stated boolean[], e_undoes int[], e_undoes_protocol text[], p_again boolean
) returns table (received int, inserted int, completed int) language plpgsql as $f$
#variable_conflict use_column
declare
  v_new bigint[];
  v_inserted int := 0;
  v_completed int := 0;
  v_touched text[] := '{}';
  i timestamp[]; r smallint[]; s smallint[]; v int[]; a numeric[];
begin
  -- Against enlarge_workspace, which must see all documents or none of this page.
  perform pg_advisory_xact_lock_shared(7316010, p_ws);
  -- Two writers of one company, or one and a rebuild, would not see each other's events and documents: the second waits for the first.
  perform pg_advisory_xact_lock(7316011, p_company);
  if p_again then
    perform restate_receipts(p_ws, p_company, p_service, r_nsu, r_problem, r_unread);
    v_new := r_nsu;
  else
    with w as (
      insert into receipt (workspace_id, company_id, service, codec, nsu, schema, problem, unread, content)
      select p_ws, p_company, p_service, 0, nsu, schema, problem, unread, content
        from unnest(r_nsu, r_schema, r_problem, r_unread, r_content) u (nsu, schema, problem, unread, content)
      on conflict do nothing returning nsu)
    select array_agg(nsu) into v_new from w;
  end if;
  if v_new is null then
    return query select 0, 0, 0;
    return;
  end if;

  if cardinality(d_nsu) > 0 then
    perform introduce_suppliers(p_ws, d_tax_id, d_name, d_search);

    -- A page may hold a summary and its complete document: one row goes in, with the facts of the better and the weight of both.
    with arrived as (
      select distinct on (chave) chave, nsu, number, series, issued, off, authorized, amount, complete, tax_id, name,
             bit_or(roles) over c as roles,
             ('{1,10,2,9,3}'::smallint[])[max(array_position('{1,10,2,9,3}'::smallint[], status)) over c] as status
        from unnest(d_nsu, d_chave, d_number, d_series, d_issued, d_offset, d_authorized, d_amount, d_roles, d_status, d_complete, d_tax_id, d_name)
          u (nsu, chave, number, series, issued, off, authorized, amount, roles, status, complete, tax_id, name)
       where nsu = any (v_new)
      window c as (partition by chave)
       order by chave, complete desc, nsu),
    w as (
      insert into document as d (workspace_id, company_id, nsu, supplier_id, number, series, issued_at, issued_offset, authorized_at, amount,
                                 type, roles, status, base_status, event_code, complete, chave)
      select p_ws, p_company, b.nsu, f.id, b.number, b.series, b.issued, b.off, b.authorized, b.amount,
             p_service, b.roles, b.status, b.status, base_event_code(b.status), b.complete, b.chave
        from arrived b join supplier f on f.workspace_id = p_ws and f.tax_id = b.tax_id and f.name = b.name
      on conflict (workspace_id, chave, company_id) do update
         set nsu = excluded.nsu, supplier_id = excluded.supplier_id, number = excluded.number, series = excluded.series,
             issued_at = excluded.issued_at, issued_offset = excluded.issued_offset, authorized_at = excluded.authorized_at, amount = excluded.amount, complete = excluded.complete,
             roles = d.roles | excluded.roles,
             base_status = weightier_status(d.base_status, excluded.base_status),
             status = weightier_status(d.base_status, excluded.base_status),
             event_code = base_event_code(weightier_status(d.base_status, excluded.base_status)),
             event_text = null
       where d.type = p_service and ((excluded.complete and not d.complete) or (excluded.complete = d.complete and excluded.nsu < d.nsu))
      returning old.id as old_id, old.issued_at as i0, old.roles as r0, old.status as s0, old.amount as a0, old.complete as c0,
                new.issued_at as i1, new.roles as r1, new.status as s1, new.amount as a1, new.complete as c1),
    moved as (
      select i1 as i, r1 as r, s1 as s, 1 as v, a1 as a from w
      union all select i0, r0, s0, -1, a0 from w where old_id is not null)
    select array_agg(i), array_agg(r), array_agg(s), array_agg(v), array_agg(a),
           (select count(*) from w where old_id is null), (select count(*) from w where c1 and not c0)
      into i, r, s, v, a, v_inserted, v_completed from moved;
    if i is not null then
      perform add_to_counters(p_ws, p_company, p_service, i, r, s, v, a);
    end if;

    -- What arrived but is not the better copy may still add a role or a heavier status (a summary of a cancelled note).
    if v_inserted < cardinality(d_nsu) then
      with arrived as (
        select chave, bit_or(roles) as roles,
               ('{1,10,2,9,3}'::smallint[])[max(array_position('{1,10,2,9,3}'::smallint[], status))] as status
          from unnest(d_nsu, d_chave, d_roles, d_status) u (nsu, chave, roles, status)
         where nsu = any (v_new) group by chave),
      w as (
        update document d
           set roles = d.roles | b.roles, base_status = weightier_status(d.base_status, b.status),
               status = weightier_status(d.base_status, b.status), event_text = null,
               event_code = base_event_code(weightier_status(d.base_status, b.status))
          from arrived b
         where d.workspace_id = p_ws and d.company_id = p_company and d.type = p_service and d.chave = b.chave
           and (d.roles, d.base_status) is distinct from (d.roles | b.roles, weightier_status(d.base_status, b.status))
        returning old.roles as r0, old.status as s0, new.roles as r1, new.status as s1, new.issued_at as i, new.amount as a),
      moved as (select i, r1 as r, s1 as s, 1 as v, a from w union all select i, r0, s0, -1, a from w)
      select array_agg(i), array_agg(r), array_agg(s), array_agg(v), array_agg(a) into i, r, s, v, a from moved;
      if i is not null then
        perform add_to_counters(p_ws, p_company, p_service, i, r, s, v, a);
      end if;
    end if;
    v_touched := d_chave;
  end if;

  if cardinality(e_nsu) > 0 then
    -- Of several copies the one that proves more: registered over refused, its own registration over a statement of duplicity,
    -- complete over summary; between equals, the first NSU.
    insert into document_event as ev (workspace_id, company_id, type, chave, tp_evento, sequence, orgao, rank, status, summary,
                                      registered_at, happened_at, nsu, protocol, author, description, justification, known, roles,
                                      stated, undoes, undoes_protocol)
    select distinct on (chave, tp, seq, org)
           p_ws, p_company, p_service, chave, tp, seq, org, rank, status, summary, registered, happened, nsu, protocol, author, description,
           justification, known, roles, stated, undoes, undoes_protocol
      from unnest(e_nsu, e_chave, e_tp, e_sequence, e_orgao, e_rank, e_status, e_summary, e_registered, e_happened, e_protocol, e_author,
                  e_description, e_justification, e_known, e_roles, e_stated, e_undoes, e_undoes_protocol)
        u (nsu, chave, tp, seq, org, rank, status, summary, registered, happened, protocol, author,
           description, justification, known, roles, stated, undoes, undoes_protocol)
     where nsu = any (v_new)
     order by chave, tp, seq, org, rank = 0, stated, summary, nsu
    on conflict (workspace_id, company_id, chave, tp_evento, sequence, orgao) do update
       set rank = excluded.rank, status = excluded.status, known = excluded.known, summary = excluded.summary, nsu = excluded.nsu,
           registered_at = excluded.registered_at, happened_at = excluded.happened_at,
           protocol = excluded.protocol, author = excluded.author, description = excluded.description,
           justification = excluded.justification, roles = excluded.roles,
           stated = excluded.stated, undoes = excluded.undoes, undoes_protocol = excluded.undoes_protocol
     where (excluded.rank = 0, excluded.stated, excluded.summary, excluded.nsu) < (ev.rank = 0, ev.stated, ev.summary, ev.nsu);
    v_touched := v_touched || e_chave;
  end if;

  if exists (select 1 from document_event e where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (v_touched)) then
    perform apply_events(p_ws, p_company, p_service, v_touched);
  end if;
  return query select cardinality(v_new), v_inserted, v_completed;
end $f$;

-- As before, but it waits for nobody, and so nobody waits behind it: when somebody writes just now it is left for the next time.
create or replace function enlarge_workspace(p_ws int) returns boolean language plpgsql as $f$
begin
  if (select large from workspace where id = p_ws)
     or not exists (select 1 from count_month where workspace_id = p_ws group by type, month having sum(n) >= 20000) then
    return false;
  end if;
  if not pg_try_advisory_xact_lock(7316010, p_ws) then
    return false;
  end if;
  update workspace set large = true where id = p_ws and not large;
  if found then
    insert into count_day (workspace_id, type, day, company_id, roles, status, n)
    select workspace_id, type, issued_at::date, company_id, roles, status, count(*)::int
      from document where workspace_id = p_ws group by 1, 2, 3, 4, 5, 6;
  end if;
  return found;
end $f$;

-- What is here already, as far as the rows tell: the pairs of codes, the new weights, and which of two of one second is the later. The
-- protocols that events name stand only in the receipts, as does what was refused as a duplicate; reading the receipts again brings both.
update document_event set undoes = case type * 1000000 + tp_evento
    when 110131 then 110130 when 110193 then 110192 when 110751 then 110750 when 111502 then 111500 when 111503 then 111501
    when 400201 then 400200 when 610131 then 610130
    when 2110181 then 110180 when 2110191 then 110190 when 2110301 then 110300 when 2240131 then 240130 when 2240181 then 240180
    when 2610111 then 610110 end
 where tp_evento in (110131, 110193, 110751, 111502, 111503, 400201, 610131, 110181, 110191, 110301, 240131, 240181, 610111);
update document_event set rank = case tp_evento when 400200 then 90 when 240140 then 70 else 50 end
 where rank > 0 and (type, tp_evento) in ((0, 400200), (2, 240140), (2, 610110));
do $$ declare g record; begin
  for g in
    select workspace_id, company_id, type, array_agg(distinct chave) as chaves from document_event e
     where undoes is not null or (type, tp_evento) in ((0, 400200), (2, 240140), (2, 610110))
        or exists (select 1 from document_event o
                    where (o.workspace_id, o.company_id, o.chave, o.registered_at) = (e.workspace_id, e.company_id, e.chave, e.registered_at)
                      and o.tp_evento <> e.tp_evento)
     group by workspace_id, company_id, type
  loop
    perform apply_events(g.workspace_id, g.company_id, g.type, g.chaves);
  end loop;
end $$;
