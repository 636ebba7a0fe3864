-- What changed names its company, so that who may see some companies only is kept to them without a look at the documents: a policy that
-- looks into another table cannot be had where tables are distributed. Changes of before, and of the version before, have none.
alter table document_change add column company_id int;
