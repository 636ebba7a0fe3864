-- First queries take turns by workspace: how many first queries the workspace was waiting for when the line was begun. The lowest goes first.
alter table capture_line add first_rank int not null default 0;
create index capture_line_first_ix on capture_line (first_rank, next_at)
  where last_success_at is null and next_at is not null and (automatic or wanted) and not paused;

alter table capture_line drop constraint capture_line_lease_for_check;
alter table capture_line add constraint capture_line_lease_for_check check (lease_for in ('first', 'due', 'copies', 'gap', 'check'));
