-- Why the last query with a certificate of this company got no response, for its people; null: it got one, or the certificate is proved.
alter table capture_subscription add column last_failure text;
