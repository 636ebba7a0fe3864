-- Lines that were answered before have an index of their own, as first queries have: a claim that looks for one of them does not pass over
-- thousands of first queries.
drop index capture_line_next_ix;
create index capture_line_due_ix on capture_line (next_at)
  where last_success_at is not null and next_at is not null and (automatic or wanted) and not paused;
