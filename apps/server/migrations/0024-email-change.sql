-- The e-mail that an account will have when the link in the letter to it is opened, and until when that may happen; null: no change was asked for.
alter table account add column new_email text check (octet_length(new_email) <= 320);
alter table account add column new_email_until timestamptz;
alter table mail_link drop constraint mail_link_purpose_check;
alter table mail_link add constraint mail_link_purpose_check check (purpose in ('password', 'email', 'new-email'));
