import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { arrive, evento, nfeProc } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { manifestationRoutes } from './routes.ts'
import { author, daysAgo, newOffice, type Office, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })

const call = async (office: Office, body: object) => {
  const app = await serveRoutes(ctx, manifestationRoutes, async () => office.session)
  const response = await app.inject({
    method: 'POST',
    url: '/v1/api/DocumentosFiscais/previa-manifestacao',
    headers: { authorization: `Bearer ${'x'.repeat(43)}` },
    payload: body,
  })
  return { status: response.statusCode, body: response.json() }
}

test('names what would leave, and says of the others whose they are and why not', async () => {
  const office = await newOffice(ctx, { certificate: null })
  const issuedAt = daysAgo(2)
  await store(ctx, office, 'nfe', [
    arrive(1, nfeProc({ number: 1, issuedAt, recipient: author })),
    arrive(2, nfeProc({ number: 2, issuedAt, recipient: author })),
    arrive(3, evento(110111, { number: 2, at: daysAgo(1) })),
  ])
  const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
    sql<{ id: bigint }>`select id from document where workspace_id = ${office.workspaceId} order by number`.execute(db),
  )
  const [open, cancelled] = rows.map(({ id }) => ctx.ids.encode(office.workspaceId, id))
  const answer = await call(office, { TipoDFe: 0, tipoManifestacao: 2, idsDFe: [cancelled, open, open] })
  expect(answer).toMatchObject({ status: 200 })
  expect(answer.body.data).toEqual({
    permitidos: [open],
    impedidos: [
      {
        idDfe: cancelled,
        numero: 2,
        emitente: 'PAPELARIA SÃO JOÃO LTDA',
        motivo: 'A nota foi cancelada pelo emitente: não há mais o que manifestar.',
      },
    ],
    primeiroPrazo: expect.any(String),
  })
  const { data: detail } = (await call(office, { TipoDFe: 0, tipoManifestacao: 2, idsDFe: [cancelled] })).body
  expect(detail).toMatchObject({ permitidos: [], primeiroPrazo: null })
})

test.each([
  ['an answer of the other family', { TipoDFe: 0, tipoManifestacao: 610110 }, 'Tipo de manifestação desconhecido.'],
  ['an answer of NF-e for CT-e', { TipoDFe: 2, tipoManifestacao: 4 }, 'Tipo de manifestação desconhecido.'],
  ['a family that there is not', { TipoDFe: 1, tipoManifestacao: 1 }, 'TipoDFe deve ser 0 (NFe) ou 2 (CTe)'],
  [
    'more than 300',
    { TipoDFe: 0, tipoManifestacao: 1, idsDFe: Array(301).fill('x') },
    'Selecione no máximo 300 documentos de cada vez.',
  ],
  ['none', { TipoDFe: 0, tipoManifestacao: 1, idsDFe: [] }, 'Selecione pelo menos um documento para manifestar.'],
])('%s is refused with words', async (_, body, message) => {
  const office = await newOffice(ctx, { certificate: null })
  expect(await call(office, { idsDFe: ['x'], ...body })).toMatchObject({ status: 400, body: { errors: [message] } })
})
