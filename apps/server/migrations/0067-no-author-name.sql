-- The name of an author is a part of the statements that ask for it: apps/server/platform/authors.ts.
drop function author_name(int, int);
