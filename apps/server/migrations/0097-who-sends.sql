alter table webhook add column saved_by int;   -- the account that made or changed it last; null: none is known

-- Pauses the webhooks and switches off the answer rules with which an account has something sent, for a person who replaced a forgotten password; returns
-- which: docs/decisions/0037-api-keys.md.
create function pause_sending_of(p_ws int, p_account int) returns table (webhook text, rule text)
  language sql set search_path = public, pg_temp as $$
  with paused as (
    update webhook w set paused_at = now(), problem = 'A senha da conta que criou ou mudou este webhook por último foi recuperada.'
     where w.workspace_id = p_ws and w.saved_by = p_account and w.paused_at is null
    returning w.id, w.url),
  held as (
    update webhook_delivery d set next_at = 'infinity' from paused
     where d.workspace_id = p_ws and d.webhook_id = paused.id and d.state = 'waiting' and d.version is not null),
  switched as (
    update answer_rule r set active = false
     where r.workspace_id = p_ws and r.saved_by = p_account and r.active and r.answer in ('ciencia', 'ciencia-apos')
    returning r.name)
  select url, null from paused union all select null, name from switched
$$;
