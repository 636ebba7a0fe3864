-- What changed names its company, so that who may see some companies only is kept to them without a look at the documents: a policy that
-- looks into another table cannot be had where tables are distributed. `migrate` makes the policy anew.
alter table document_change add column company_id int;
update document_change c set company_id = d.company_id from document d where d.workspace_id = c.workspace_id and d.id = c.document_id;
drop policy if exists companies on document_change;
