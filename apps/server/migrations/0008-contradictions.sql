-- What an authority that contradicts itself leaves behind.

-- A response passed over these positions without bringing them. What is found empty there (lost) was never a document of ours.
alter table capture_gap add passed boolean not null default false;

-- The first position that the response passed over without bringing it; up to nsu_after.
alter table capture_call add passed_from bigint;
-- Documents of the response for positions that hold other bytes already.
alter table capture_call add conflicts smallint not null default 0;

-- How far the authority says it is, beyond what its earlier responses make likely: one query for that position proves it.
alter table capture_line add doubted_nsu bigint;
-- Documents that came for positions that held other bytes already, and when the last of them came.
alter table capture_line add conflicts int not null default 0;
alter table capture_line add conflict_at timestamptz;
