-- Documents whose IBS and CBS somebody looks at: those of the month without the groups or with some of them, and notas de crédito and débito.

create index content_reform_ix on content (workspace_id, month, company_id) include (reform, document_id) where reform < 3 and month >= '2026-01-01';
create index content_reform_some_ix on content (workspace_id, document_id) where reform in (1, 2);
create index alert_fact_notes_ix on alert_fact (workspace_id, at, document_id) where (facts -> 'nfe' ->> 'finNFe') in ('5', '6');
