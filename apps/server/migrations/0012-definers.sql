-- Nothing temporary stands before what a function with the rights of the owner means.
alter function account_for_login set search_path = public, pg_temp;
alter function session_for_token set search_path = public, pg_temp;
alter function recovery_for_token set search_path = public, pg_temp;
alter function workspace_for_public_id set search_path = public, pg_temp;
alter function forget_old_access set search_path = public, pg_temp;
alter function certificates_sealed_otherwise set search_path = public, pg_temp;
alter function restate_receipts set search_path = public, pg_temp;
