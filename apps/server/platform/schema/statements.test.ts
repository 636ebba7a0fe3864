import { expect, test } from 'vitest'
import { statementsOf } from './statements.ts'

test('statements end where no text, name, comment or body of a function goes on', () => {
  const text = `-- First; of all.
create table a (b text default 'it''s; -- so'); -- after; it
create function "x;y"() returns int language sql as $$ select $1 - 1; select 'x;' $$;
do $body$ begin perform 1 - 2; execute '$$;$$'; end $body$;
;`
  expect(statementsOf(text)).toEqual([
    "create table a (b text default 'it''s; -- so')",
    `create function "x;y"() returns int language sql as $$ select $1 - 1; select 'x;' $$`,
    "do $body$ begin perform 1 - 2; execute '$$;$$'; end $body$",
  ])
})
