import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import pg from 'pg'
import type { Account } from './site.ts'

/**
 * Gives an account companies as an accounting office has them, after one that was registered with a certificate: captures in every state,
 * certificates that end, end soon and last, and one name longer than any. No worker may be running.
 */
export async function fillOffice(databaseUrl: string, { email }: Pick<Account, 'email'>, count: number): Promise<void> {
  const owner = new pg.Client({ connectionString: databaseUrl })
  await owner.connect()
  try {
    const { rows } = await owner.query<{ workspace_id: number }>('select workspace_id from account where email = $1', [
      email,
    ])
    const workspaceId = rows[0]!.workspace_id
    const cnpjs = Array.from({ length: count }, (_, index) => {
      const first12 = `${String(20_000_000 + index * 13).padStart(8, '0')}0001`
      return first12 + cnpjCheckDigits(first12)
    })
    await owner.query('begin')
    await owner.query(companies, [workspaceId, cnpjs])
    await owner.query(lines, [workspaceId])
    await owner.query(subscriptions, [workspaceId])
    await owner.query(certificates, [workspaceId])
    await owner.query('commit')
    await owner.query('analyze')
  } finally {
    await owner.end()
  }
}

const companies = `
  insert into company (workspace_id, cnpj, name, search, uf, archived_at, automatic)
  select $1, cnpj, name, translate(lower(name), 'âéí', 'aei'), 35, case when n % 50 = 7 then now() end, n % 27 <> 12
    from unnest($2::text[]) with ordinality as c (cnpj, n)
   cross join lateral (select case when n = 3 then 'COOPERATIVA AGROINDUSTRIAL DOS PRODUTORES DE LEITE, CAFÉ E DERIVADOS DO ALTO PARANAÍBA E TRIÂNGULO MINEIRO LIMITADA'
                                   else 'CLIENTE ' || lpad(n::text, 4, '0') || ' COMERCIO LTDA' end as name) as named`

// By the place of the company: most wait for their hour, some have each trouble.
const lines = `
  insert into capture_line (service, cnpj, last_nsu, max_nsu, next_at, allowed_at, state, message, last_success_at)
  select service, cnpj, 1200, 1200,
         case when state = 'stopped' then null else now() + interval '20 minutes' + n % 30 * interval '1 minute' end,
         now() + interval '20 minutes', state,
         case state when 'blocked' then 'A SEFAZ bloqueou as consultas deste CNPJ por uma hora: outro sistema consultou com este certificado. Nenhum documento foi pulado.'
                    when 'stopped' then 'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.'
                    when 'failed' then 'O serviço da SEFAZ está fora do ar. Tentamos de novo sozinhos. (Serviço Paralisado Momentaneamente)'
                    else 'Em dia. A última consulta trouxe 3 documentos novos.' end,
         case when n % 23 = 5 then null else now() - n % 90 * interval '1 minute' end
    from (select *, row_number() over (order by id) as n from company where workspace_id = $1) c
   cross join (values (0::smallint), (2::smallint)) as s (service)
   cross join lateral (select case when n % 31 = 4 then 'stopped' when n % 37 = 6 and service = 0 then 'blocked'
                                   when n % 41 = 8 then 'failed' else 'waiting' end as state) as t
      on conflict do nothing`

const subscriptions = `
  insert into capture_subscription (line_id, workspace_id, company_id, delivered_nsu, proved_at)
  select l.id, c.workspace_id, c.id, l.last_nsu, now()
    from company c join capture_line l on l.cnpj = c.cnpj
   where c.workspace_id = $1
      on conflict do nothing`

// Copies of the one that was uploaded; nothing is signed with them.
const certificates = `
  insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to,
                           certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by)
  select k.workspace_id, c.id, c.cnpj, c.name, k.issuer, k.serial_number, now() - interval '1 year',
         case when c.n % 31 = 4 then now() - c.n % 9 * interval '1 day' - interval '1 hour'
              when c.n % 17 = 9 then now() + c.n % 29 * interval '1 day' else now() + (40 + c.n % 300) * interval '1 day' end,
         k.certificate_pem, k.chain_pem, k.key_encrypted, k.key_id, k.uploaded_by
    from (select *, row_number() over (order by id) as n from company where workspace_id = $1) c
    join (select * from certificate where workspace_id = $1 and replaced_at is null order by id limit 1) k on true
   where c.n % 43 <> 11 and not exists (select 1 from certificate o where o.company_id = c.id and o.workspace_id = $1)`
