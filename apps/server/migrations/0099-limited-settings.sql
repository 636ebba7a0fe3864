-- Any login may set these settings. The one of people who see some companies only gets nothing by them.
create or replace function capturing() returns boolean language sql stable parallel safe
  return coalesce(current_setting('app.capture', true), '') = 'on' and session_user <> 'vigia_limited';
create or replace function operating() returns boolean language sql stable parallel safe
  return coalesce(current_setting('app.operator', true), '') = 'on' and session_user <> 'vigia_limited';
