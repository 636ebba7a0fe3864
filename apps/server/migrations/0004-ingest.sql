-- The only writers of document, document_event and the counters. Whatever else ever writes to document must hand its
-- differences to add_to_counters in the same transaction.

-- Each element is one document leaving (-1) or entering (+1) a place of the counters.
create function add_to_counters(p_ws int, p_company int, p_type smallint,
                                p_issued timestamp[], p_roles smallint[], p_status smallint[], p_sign int[], p_amount numeric[])
returns void language plpgsql as $f$
begin
  insert into count_month as c (workspace_id, type, month, company_id, roles, status, n, amount)
  select p_ws, p_type, month_of(i), p_company, r, s, sum(v)::int, sum(v * a)
    from unnest(p_issued, p_roles, p_status, p_sign, p_amount) u (i, r, s, v, a)
   group by month_of(i), r, s having sum(v) <> 0 or sum(v * a) <> 0 order by 3, r, s
  on conflict (workspace_id, type, month, company_id, roles, status)
    do update set n = c.n + excluded.n, amount = c.amount + excluded.amount;
  if (select large from workspace where id = p_ws) then
    insert into count_day as c (workspace_id, type, day, company_id, roles, status, n)
    select p_ws, p_type, i::date, p_company, r, s, sum(v)::int
      from unnest(p_issued, p_roles, p_status, p_sign) u (i, r, s, v)
     group by i::date, r, s having sum(v) <> 0 order by 3, r, s
    on conflict (workspace_id, type, day, company_id, roles, status) do update set n = c.n + excluded.n;
  end if;
end $f$;

-- Sets the status of documents from all their events: the same whatever the order of arrival.
create function apply_events(p_ws int, p_company int, p_type smallint, p_chaves text[]) returns void language plpgsql as $f$
declare
  i timestamp[]; r smallint[]; s smallint[]; v int[]; a numeric[];
begin
  with heaviest as (
    select e.chave, e.tp_evento, e.status, e.known, e.description,
           bit_or(e.roles) over (partition by e.chave) as roles,
           row_number() over w as place, row_number() over (partition by e.chave, e.status is null order by e.rank desc, e.registered_at desc, e.tp_evento desc, e.sequence desc, e.orgao desc) as place_of_its_kind
      from document_event e
     where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (p_chaves) and e.rank > 0
    window w as (partition by e.chave order by e.rank desc, e.registered_at desc, e.tp_evento desc, e.sequence desc, e.orgao desc)),
  wanted as (
    select d.id, d.roles | h.roles as roles,
           case when d.base_status in (3, 9) then d.base_status else coalesce(g.status, d.base_status) end as status,
           case when d.base_status in (3, 9) then base_event_code(d.base_status) else h.tp_evento end as event_code,
           case when d.base_status in (3, 9) or h.known then null else h.description end as event_text
      from document d
      join heaviest h on h.chave = d.chave and h.place = 1
      left join heaviest g on g.chave = d.chave and g.status is not null and g.place_of_its_kind = 1
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

-- One page of one company. Arrays of one group (r, d, e) have the same length. NSUs that were received before change nothing.
create function ingest(
  p_ws int, p_company int, p_service smallint,
  r_nsu bigint[], r_schema text[], r_problem text[], r_unread boolean[], r_content bytea[],
  d_nsu bigint[], d_chave text[], d_number int[], d_series smallint[], d_issued timestamp[], d_offset smallint[], d_authorized timestamptz[],
  d_amount numeric[], d_roles smallint[], d_status smallint[], d_complete boolean[], d_tax_id text[], d_name text[], d_search text[],
  e_nsu bigint[], e_chave text[], e_tp int[], e_sequence smallint[], e_orgao smallint[], e_rank smallint[], e_status smallint[],
  e_summary boolean[], e_registered timestamptz[], e_happened timestamptz[], e_protocol text[], e_author text[],
  e_description text[], e_justification text[], e_known boolean[], e_roles smallint[]
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
  with w as (
    insert into receipt (workspace_id, company_id, service, codec, nsu, schema, problem, unread, content)
    select p_ws, p_company, p_service, 0, nsu, schema, problem, unread, content
      from unnest(r_nsu, r_schema, r_problem, r_unread, r_content) u (nsu, schema, problem, unread, content)
    on conflict do nothing returning nsu)
  select array_agg(nsu) into v_new from w;
  if v_new is null then
    return query select 0, 0, 0;
    return;
  end if;

  if cardinality(d_nsu) > 0 then
    insert into supplier (workspace_id, tax_id, name, search)
    select p_ws, n.t, n.n, n.s
      from (select distinct on (t, n) t, n, s from unnest(d_tax_id, d_name, d_search) u (t, n, s) order by t, n) n
     where not exists (select 1 from supplier f where f.workspace_id = p_ws and f.tax_id = n.t and f.name = n.n)
    on conflict do nothing;

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
    -- The complete event wins over its summary; between equals, the first NSU.
    insert into document_event as ev (workspace_id, company_id, type, chave, tp_evento, sequence, orgao, rank, status, summary,
                                      registered_at, happened_at, nsu, protocol, author, description, justification, known, roles)
    select distinct on (chave, tp, seq, org)
           p_ws, p_company, p_service, chave, tp, seq, org, rank, status, summary, registered, happened, nsu, protocol, author, description, justification, known, roles
      from unnest(e_nsu, e_chave, e_tp, e_sequence, e_orgao, e_rank, e_status, e_summary, e_registered, e_happened, e_protocol, e_author, e_description, e_justification, e_known, e_roles)
        u (nsu, chave, tp, seq, org, rank, status, summary, registered, happened, protocol, author, description, justification, known, roles)
     where nsu = any (v_new)
     order by chave, tp, seq, org, summary, nsu
    on conflict (workspace_id, company_id, chave, tp_evento, sequence, orgao) do update
       set rank = excluded.rank, status = excluded.status, known = excluded.known, summary = excluded.summary, nsu = excluded.nsu, registered_at = excluded.registered_at, happened_at = excluded.happened_at,
           protocol = excluded.protocol, author = excluded.author, description = excluded.description,
           justification = excluded.justification, roles = excluded.roles
     where (excluded.summary, excluded.nsu) < (ev.summary, ev.nsu);
    v_touched := v_touched || e_chave;
  end if;

  if exists (select 1 from document_event e where e.workspace_id = p_ws and e.company_id = p_company and e.chave = any (v_touched)) then
    perform apply_events(p_ws, p_company, p_service, v_touched);
  end if;
  return query select cardinality(v_new), v_inserted, v_completed;
end $f$;

-- Begins to keep day counters for a workspace with large months; before that a page deep inside a month would cost too much.
create function enlarge_workspace(p_ws int) returns boolean language plpgsql as $f$
begin
  if (select large from workspace where id = p_ws)
     or not exists (select 1 from count_month where workspace_id = p_ws group by type, month having sum(n) >= 20000) then
    return false;
  end if;
  perform pg_advisory_xact_lock(7316010, p_ws);
  update workspace set large = true where id = p_ws and not large;
  if found then
    insert into count_day (workspace_id, type, day, company_id, roles, status, n)
    select workspace_id, type, issued_at::date, company_id, roles, status, count(*)::int
      from document where workspace_id = p_ws group by 1, 2, 3, 4, 5, 6;
  end if;
  return found;
end $f$;

do $$ declare t text; begin
  foreach t in array array['receipt', 'supplier', 'document', 'document_event', 'count_month', 'count_day'] loop
    execute format('alter table %I enable row level security', t);
    execute format('create policy tenant on %I using (workspace_id = current_ws()) with check (workspace_id = current_ws())', t);
  end loop;
end $$;
