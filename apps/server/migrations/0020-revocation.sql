-- Whether the issuer of a certificate took it back (apps/server/companies/revocation.ts).
alter table certificate
  -- When that was last looked for, and when it was last found out.
  add column revocation_tried_at timestamptz,
  add column revocation_checked_at timestamptz,
  -- By the lists of its issuer and of the authorities above. Null: it is not known to be revoked.
  add column revoked_at timestamptz,
  -- Why the last look found nothing out; null when it did.
  add column revocation_problem text;
