-- A CT-e that replaces, complements or annuls another one is found from that one too. Null for others, and for what is here until `rebuild`.

alter table document
  add column tp_cte smallint,  -- tpCTe: 1 complemento, 2 anulação, 3 substituição; 5 and 6 simplificado, the latter de substituição
  add column corrects text;    -- the chave in infCteSub, infCteComp or infCteAnu, of several complemented the first
create index document_corrects_ix on document (workspace_id, corrects) where corrects is not null;
