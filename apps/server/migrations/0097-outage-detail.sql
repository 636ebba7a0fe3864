-- The technical reason of the last failed call, such as OpenSSL's; null: none, or the authority said itself that it serves nobody.
alter table circuit add column detail text;
