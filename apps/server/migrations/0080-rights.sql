-- What the rights in a database that is distributed over several servers were given by: docs/decisions/0076-trouble-on-a-cluster.md.
alter table installation add rights text;
