-- What the verification of the complete document found ('proved', or what does not agree; apps/server/documents/proof.ts).
-- Null for a summary, and for what was not verified: npm run admin -- rebuild verifies again.
alter table document add column proof text;
