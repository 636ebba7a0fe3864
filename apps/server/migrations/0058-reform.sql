-- IBS and CBS as people ask for them (apps/server/reform, and the lists): few documents of 2026 have findings or lack the groups.

create index content_reform_ix on content (workspace_id, month, company_id) include (reform, side, document_id)
  where reform < 3 and month >= '2026-01-01';
create index content_reform_some_ix on content (workspace_id, document_id) where reform in (1, 2);
-- Notas de crédito (5) and de débito (6).
create index alert_fact_notes_ix on alert_fact (workspace_id, document_id) where (facts -> 'nfe' ->> 'finNFe') in ('5', '6');
