import { answerOf } from '@vigia/dfe/families/lookup'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import type { Arrival } from '../documents/arrival.ts'
import { arrive, chaveOf, evento, eventoCte, nfeProc, resNFe } from '../documents/testing.ts'
import { writeOverdue } from '../documents/write-due.ts'
import { useContext } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import type { Service } from '../platform/service.ts'
import { claimBatch } from './queue.ts'
import { requestEvents } from './request.ts'
import { type Outcome, settle } from './settle.ts'
import { author, cteChave, cteProc, daysAgo, dueDiffers, newOffice, type Office, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })

const codes: Record<Service, number[]> = {
  nfe: [210210, 210200, 210220, 210240],
  cte: [610110, 610111],
}
const stranger = '11222333000181'

const happened = (service: Service) =>
  fc.record({
    tpEvento: fc.constantFrom(...codes[service]),
    sequence: fc.constantFrom(1, 1, 2),
    hoursAgo: fc.integer({ min: 1, max: 20 }),
    received: fc.boolean(),
  })
const kind = (service: Service) =>
  fc.record({
    service: fc.constant(service),
    days: fc.constantFrom(0.5, 0.5, 2, 9.99, 10.01, 44.99, 45.01, 89.99, 90.01, 200),
    asked: fc.boolean(),
    summary: fc.boolean(),
    cStat: fc.constantFrom('100', '100', '100', '100', '302', '101'),
    cancelled: fc.constantFrom(false, false, false, true),
    gtv: fc.constantFrom(false, false, false, true),
    // Events that are requested here may also be delivered.
    events: fc.uniqueArray(happened(service), {
      maxLength: 3,
      selector: ({ tpEvento, sequence, received }) => `${tpEvento}/${sequence}/${received}`,
    }),
  })
type Kind = typeof kind extends (service: Service) => fc.Arbitrary<infer K> ? K : never

const chave = ({ service, gtv }: Kind, number: number) => {
  const text = service === 'nfe' ? chaveOf({ number }) : cteChave({ number, issuer: stranger })
  return service === 'cte' && gtv ? `${text.slice(0, 20)}64${text.slice(22)}` : text
}

function arrivalsOf(one: Kind, number: number): Arrival[] {
  const issuedAt = daysAgo(one.days)
  const arrivals = [documentXml(one, number, issuedAt), ...(one.cancelled ? [cancellationXml(one, number)] : [])]
  for (const { tpEvento, sequence: seq, hoursAgo, received } of one.events) {
    if (!received) continue
    const at = daysAgo(hoursAgo / 24)
    const options = { number, seq, at, protocol: `8912600${tpEvento}${hoursAgo}` }
    const xml =
      one.service === 'nfe' ? evento(tpEvento, options) : eventoCte(tpEvento, { ...options, issuer: stranger })
    const ours = xml.replace(`<CNPJ>${stranger}</CNPJ>`, `<CNPJ>${author}</CNPJ>`)
    arrivals.push(one.service === 'cte' ? asGtv(one, number, ours) : ours)
  }
  return arrivals.map((xml, index) => arrive(number * 20 + index, xml))
}

const asGtv = (one: Kind, number: number, xml: string) =>
  xml.replaceAll(cteChave({ number, issuer: stranger }), chave(one, number))

function documentXml(one: Kind, number: number, issuedAt: string): string {
  const { service, asked, summary, cStat } = one
  if (service === 'cte') {
    const xml = cteProc({ number, issuer: stranger, payer: asked ? author : '99888777000166', issuedAt })
    return asGtv(one, number, xml.replace('<cStat>100<', `<cStat>${cStat}<`))
  }
  const cSitNFe = { '100': '1', '302': '2', '101': '3' }[cStat]
  if (summary) return resNFe({ number, issuedAt, cSitNFe })
  const parts = asked ? { recipient: author } : { recipient: '99888777000166', carrier: author }
  return nfeProc({ number, issuedAt, cStat, ...parts })
}

function cancellationXml(one: Kind, number: number): string {
  const options = { number, at: daysAgo(0.01), protocol: '135260000777777' }
  if (one.service === 'nfe') return evento(110111, options)
  return asGtv(one, number, eventoCte(110111, { ...options, issuer: stranger }))
}

test('whatever happens in whatever order, and however much time passes, the columns say what is due', async () => {
  const later = fc.constantFrom(0, 0, 1, 8, 40, 100)
  const outcome = fc.constantFrom('registered', 'rejected', 'unconfirmed', 'elsewhere', 'sending')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(kind('nfe'), kind('cte')), { minLength: 12, maxLength: 12 }),
      fc.infiniteStream(fc.nat(1_000)),
      fc.infiniteStream(outcome),
      fc.array(later, { minLength: 3, maxLength: 3 }),
      async (kinds, chance, outcomes, days) => {
        await inCapture(ctx, ({ db }) => sql`update outgoing_event set next_at = 'infinity'`.execute(db))
        const office = await newOffice(ctx, { certificate: null })
        const { workspaceId } = office
        const steps = kinds.flatMap((one, index) => [
          ...arrivalsOf(one, index + 1).map((arrival) => () => store(ctx, office, one.service, [arrival])),
          ...one.events.map(({ tpEvento }) => async () => {
            const document = await findDocument(office, chave(one, index + 1))
            const answer = answerOf(one.service, tpEvento)
            if (!document || !answer) return
            const documents = [ctx.ids.encode(workspaceId, document)]
            const request = { service: one.service, kind: answer, documents, justification: 'a pedido do cliente' }
            await requestEvents(ctx, office.session, request, 0)
          }),
          () => settleSome(outcomes),
        ])
        const order = steps.map((step) => ({ step, place: chance.next().value })).sort((a, b) => a.place - b.place)
        for (const { step } of order) await step()
        expect(await dueDiffers(ctx, workspaceId)).toEqual([])
        let now = Date.now()
        for (const passing of days) {
          now += passing * 86_400_000
          await writeOverdue(ctx, new Date(now))
          expect(await dueDiffers(ctx, workspaceId, new Date(now))).toEqual([])
        }
      },
    ),
    { numRuns: 1 + runs(12) },
  )
})

const findDocument = (office: Office, chave: string) =>
  inWorkspace(ctx, office.workspaceId, async ({ db }) => {
    const row = await db.selectFrom('document').select('id').where('chave', '=', chave).executeTakeFirst()
    return row?.id
  })

// The outcomes of what may leave now.
async function settleSome(outcomes: Iterator<string>): Promise<void> {
  const batch = await claimBatch(ctx)
  if (!batch) return
  const settled = batch.events.map((event) => {
    const how = outcomes.next().value
    const isElsewhere = how === 'elsewhere' && [210200, 210220, 210240].includes(event.tpEvento)
    const state = how === 'elsewhere' ? (isElsewhere ? 'unconfirmed' : 'registered') : how
    const said = isElsewhere ? { said: { cStat: 573, xMotivo: 'Duplicidade' } } : {}
    return { ready: { event, signed: null }, consequence: { state, message: 'x' }, ...said } as unknown as Outcome
  })
  await settle(ctx, batch, settled)
}
