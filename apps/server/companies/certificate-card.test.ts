import { beforeEach, expect, test } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { useDatabase } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { insertAccount, insertCompany, newWorkspace } from '../platform/testing.ts'
import { readCertificateCard } from './certificate-card.ts'

const [matriz, filial, stranger] = ['12ABC34501DE35', '12ABC345000269', '44555666000181']
const { db, url } = await useDatabase()
let workspaceId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(db)
})

const card = (companyId: number) => readCertificateCard({ db }, workspaceId, companyId)

const addCompany = async (cnpj: string) => (await insertCompany(db, workspaceId, { cnpj })).id

async function addCertificate(companyId: number, holder: string, validTo: string, uploadedBy = 7): Promise<number> {
  const { id } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db
      .insertInto('certificate')
      .values({
        workspace_id: workspaceId,
        company_id: companyId,
        holder_cnpj: holder,
        holder_name: `TITULAR ${holder}`,
        issuer: 'AC Teste',
        serial_number: '1',
        valid_from: '2020-01-01T00:00:00Z',
        valid_to: validTo,
        certificate_pem: 'x',
        chain_pem: [],
        key_encrypted: Buffer.from('x'),
        key_id: 'x',
        uploaded_by: uploadedBy,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  return id
}

test('a company without a certificate has no card', async () => {
  await addCertificate(await addCompany(stranger), stranger, '2077-01-01')
  expect(await card(await addCompany(matriz))).toBeNull()
})

test('the card names holder, validity and who uploaded it', async () => {
  const companyId = await addCompany(matriz)
  await addCertificate(companyId, matriz, '2077-03-09T12:00:00Z', (await insertAccount(db, workspaceId)).id)
  expect(await card(companyId)).toEqual({
    titular: `TITULAR ${matriz}`,
    cnpj: matriz,
    emissor: 'AC Teste',
    validoDe: new Date('2020-01-01T00:00:00Z'),
    validoAte: new Date('2077-03-09T12:00:00Z'),
    deOutraEmpresa: false,
    enviadoPor: 'Ana Souza',
    enviadoEm: expect.any(Date),
    usos: [],
  })
})

test('the card is that of the certificate that speaks for the company, whosever it is', async () => {
  const [one, other] = [await addCompany(matriz), await addCompany(filial)]
  await addCertificate(other, filial, '2001-01-01')
  expect(await card(one)).toMatchObject({
    cnpj: filial,
    deOutraEmpresa: true,
    enviadoPor: 'Alguém que não tem mais conta',
  })
  await addCertificate(one, matriz, '2077-01-01')
  expect(await card(one)).toMatchObject({ cnpj: matriz, deOutraEmpresa: false })
  expect(await card(other)).toMatchObject({ cnpj: matriz, deOutraEmpresa: true })
})

test('the newest twenty uses of that certificate are told, and no other', async () => {
  const companyId = await addCompany(matriz)
  const other = await addCertificate(await addCompany(filial), filial, '2050-01-01')
  const used = await addCertificate(companyId, matriz, '2077-01-01')
  await execute(
    url,
    `insert into certificate_use (workspace_id, certificate_id, at, service, purpose)
     select ${workspaceId}, case when i % 2 = 0 then ${used} else ${other} end, '2026-01-01'::timestamptz + i * interval '1 hour', 'NFeDistribuicaoDFe', i::text
       from generate_series(1, 60) i
     returning 1`,
  )
  const { usos } = (await card(companyId))!
  expect(usos[0]!.servico).toBe('Consulta de NF-e na SEFAZ')
  expect(usos.map(({ finalidade }) => Number(finalidade))).toEqual(Array.from({ length: 20 }, (_, n) => 60 - 2 * n))
})
