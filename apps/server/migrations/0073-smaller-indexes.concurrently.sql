-- Without the chave, which only breaks ties: docs/decisions/0074-bytes-of-a-document.md.
create index concurrently alert_fact_pair_at_ix on alert_fact (workspace_id, company_base, issuer_base, at) where purchase;
drop index concurrently if exists alert_fact_pair_ix;
create index concurrently alert_fact_learning_at_ix on alert_fact (workspace_id, company_base, at) where purchase;
drop index concurrently if exists alert_fact_learning_ix;
create index concurrently installment_day_ix on installment (workspace_id, due_on);
drop index concurrently if exists installment_due_ix;
