import { familyById } from '@vigia/dfe/families/lookup'
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { showOnly } from '../companies/testing.ts'
import type { Arrival } from '../documents/arrival.ts'
import { arrive, evento, eventoCte, nfeProc, resNFe } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import type { Service } from '../platform/service.ts'
import { previewEvents } from './decide.ts'
import { requestEvents } from './request.ts'
import { manifestationRoutes } from './routes.ts'
import { author, cteProc, daysAgo, newOffice, type Office, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })

const stranger = '11222333000181'
const branch = '44555666000262'

interface Draft {
  whole: boolean
  days: number
  /** The part of our company; null: none. */
  role: 'first' | 'second' | null
  fate: number | 'denied' | null
  /** Delivered to the other company of the workspace, too. */
  twice: boolean
}

const draft = fc.record<Draft>({
  whole: fc.boolean(),
  days: fc.constantFrom(1, 2, 8, 12, 50, 200),
  role: fc.constantFrom('first', 'first', 'second', null),
  fate: fc.constantFrom<Draft['fate']>(
    null,
    null,
    null,
    110111,
    210200,
    210210,
    210220,
    110110,
    610110,
    610111,
    'denied',
  ),
  twice: fc.boolean(),
})

function arrivalsOf(service: Service, number: number, { whole, days, role, fate }: Draft): Arrival[] {
  const issuedAt = daysAgo(days)
  const at = daysAgo(days / 2)
  const byUs = (xml: string) => xml.replace(`<CNPJ>${stranger}</CNPJ>`, `<CNPJ>${author}</CNPJ>`)
  if (service === 'nfe') {
    const recipient = role === 'first' ? author : stranger
    const note = { number, issuedAt, recipient, cStat: fate === 'denied' ? '302' : '100' }
    return [
      arrive(number, whole ? nfeProc({ ...note, carrier: role === 'second' ? author : undefined }) : resNFe(note)),
      ...(typeof fate === 'number' && fate !== 110110
        ? [arrive(1000 + number, byUs(evento(fate, { number, at })))]
        : []),
    ]
  }
  const cte = {
    number,
    issuedAt,
    issuer: role === 'first' ? author : stranger,
    payer: role === 'second' ? author : stranger,
  }
  return [
    arrive(number, cteProc(cte)),
    ...(typeof fate === 'number'
      ? [arrive(1000 + number, byUs(eventoCte(fate, { number, issuer: cte.issuer, at })))]
      : []),
  ]
}

/** A workspace with two companies that hold the documents; answers their public ids. */
async function fill(office: Office, service: Service, drafts: Draft[]): Promise<string[]> {
  const { workspaceId } = office
  const other = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj: branch, name: 'FILIAL', search: 'filial', uf: 35 })
      .returning('id')
      .executeTakeFirstOrThrow(),
  )
  const all = drafts.map((one, index) => arrivalsOf(service, index + 1, one))
  await store(ctx, office, service, all.flat())
  const again = all.filter((_, index) => drafts[index]!.twice)
  if (again.length > 0) await store(ctx, { ...office, companyId: other.id }, service, again.flat(), branch)
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{
      id: bigint
    }>`select id from document where workspace_id = ${workspaceId} order by company_id, number`.execute(db),
  )
  return rows.map(({ id }) => ctx.ids.encode(workspaceId, id))
}

const everyEvent = ({ workspaceId }: Office) =>
  inWorkspace(ctx, workspaceId, ({ db }) => db.selectFrom('outgoing_event').selectAll().orderBy('id').execute())

let wishes = 0
// Words that nobody said before: what is repeated word by word within two minutes is the same wish.
const ask = (office: Office, service: Service, choice: number, documents: string[]) => {
  const kind = familyById(service).answers.find((kind) => kind.choice === choice)!
  const justification = `motivo de teste número ${++wishes}`
  return requestEvents(ctx, office.session, { service, kind, documents, justification }, 0)
}

const settle = (office: Office, share: number) =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    sql`update outgoing_event set state = 'registered', registered_at = now(), protocol = '135260000000' || id::text
         where workspace_id = ${office.workspaceId} and id % 10 < ${share * 10} and state = 'waiting'`.execute(db),
  )

test.each(['nfe', 'cte'] as const)('whatever is chosen of %s, what is foretold happens', async (service) => {
  const choice = fc.constantFrom(...familyById(service).answers.map(({ choice }) => choice))
  const some = fc.array(fc.nat(40), { minLength: 1, maxLength: 30 })
  const steps = fc.array(fc.record({ choice, some, settled: fc.constantFrom(0, 0.5, 1) }), {
    minLength: 4,
    maxLength: 8,
  })
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(draft, { minLength: 10, maxLength: 30 }), steps, async (drafts, steps) => {
      const office = await newOffice(ctx, { certificate: null })
      const ids = await fill(office, service, drafts)
      for (const { choice, some, settled } of steps) {
        // Also the same one more than once.
        const documents = some.map((index) => ids[index % ids.length]!)
        const kind = familyById(service).answers.find((kind) => kind.choice === choice)!
        const before = await everyEvent(office)
        const foretold = await previewEvents(ctx, office.session, { service, kind, documents })
        expect(await everyEvent(office)).toEqual(before)
        const outcomes = await ask(office, service, choice, documents)
        const refused = outcomes.filter(({ situacao }) => situacao === 'recusada')
        expect(foretold.permitidos).toEqual(outcomes.flatMap((one) => (refused.includes(one) ? [] : one.idDfe)))
        expect(foretold.impedidos.map(({ idDfe, motivo }) => [idDfe, motivo])).toEqual(
          refused.map(({ idDfe, mensagem }) => [idDfe, mensagem]),
        )
        for (const { mensagem } of refused) seen.add(mensagem)
        if (foretold.permitidos.length > 0) seen.add('allowed')
        await settle(office, settled)
      }
    }),
    { numRuns: runs(25), endOnFailure: true },
  )
  // Most of the reasons that there are.
  expect(seen.size).toBeGreaterThan(6)
  expect(seen).toContain('allowed')
})

describe('the call', () => {
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
  const note: Draft = { whole: true, days: 2, role: 'first', fate: null, twice: false }

  test('names what would leave, and says of the others whose they are and why not', async () => {
    const office = await newOffice(ctx, { certificate: null })
    const [open, cancelled] = await fill(office, 'nfe', [note, { ...note, fate: 110111 }])
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

  test('leaves out what the switches hide meanwhile, and foretells the others', async () => {
    const office = await newOffice(ctx, { certificate: null })
    const [open, hidden] = await fill(office, 'nfe', [note, { ...note, role: null }])
    await inWorkspace(ctx, office.workspaceId, async ({ db }) => {
      await db.updateTable('document').set({ roles: 2 }).where('number', '=', 2n).execute()
      await db.updateTable('document').set({ roles: 1 }).where('number', '=', 1n).execute()
    })
    await showOnly(ctx.db, office.workspaceId, { nfe: 511 & ~2 })
    const { status, body } = await call(office, { TipoDFe: 0, tipoManifestacao: 2, idsDFe: [hidden, open] })
    expect(status).toBe(200)
    expect([...body.data.permitidos, ...body.data.impedidos.map(({ idDfe }: { idDfe: string }) => idDfe)]).toContain(
      open,
    )
    expect(body.data.impedidos).toContainEqual({
      idDfe: hidden,
      numero: 2,
      emitente: 'PAPELARIA SÃO JOÃO LTDA',
      motivo: 'Este documento não aparece mais para as suas empresas: as configurações mudaram. Ele continua guardado.',
    })
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
})
