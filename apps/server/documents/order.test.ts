import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import type { Database } from '../platform/context.ts'
import { inWorkspace, openDatabase } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { rebuildProjection, receive } from './documents.ts'
import {
  countersDiffer,
  deliver,
  everything,
  newOffice,
  picture,
  recipient,
  someoneWaits,
  type Workspace,
} from './office.testing.ts'
import {
  arrivalOf,
  byKey,
  chave,
  cnpjs,
  type DocumentCopy,
  documentOf,
  type EventCopy,
  eventOf,
  meaning,
  modelDocuments,
  modelEvents,
  story,
} from './order.testing.ts'

const log = createLogger('silent')
let database: Awaited<ReturnType<typeof createDatabase>>
let db: Database

beforeAll(async () => {
  database = await createDatabase()
  db = openDatabase(database.url)
})
afterAll(async () => {
  await db.destroy()
  await database[Symbol.asyncDispose]()
})

async function deliverInPages(
  workspace: Workspace,
  stream: (DocumentCopy | EventCopy)[],
  sizes: number[],
): Promise<void> {
  let page: typeof stream = []
  let turn = 0
  for (const copy of stream) {
    const last = page[0]
    if (last && (last.to !== copy.to || last.type !== copy.type || page.length >= sizes[turn % sizes.length]!)) {
      await deliver(db, workspace, page)
      page = []
      turn++
    }
    page.push(copy)
  }
  if (page.length > 0) await deliver(db, workspace, page)
}

test('whatever comes in whatever order and pages, the rows are those of the model, the counters exact, and a rebuild equal', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ order, repeated, sizes, large }) => {
      const workspace = await newOffice(db, large)
      await deliverInPages(workspace, [...order, ...repeated], sizes)
      const found = await picture(db, workspace)
      expect(found.documents).toEqual(modelDocuments(order).sort(byKey))
      const events = modelEvents(order.filter((copy) => copy.what === 'event')).map(({ event, undone }) => ({
        to: event.to,
        chave: chave(event),
        tp_evento: event.code,
        sequence: event.seq,
        nsu: String(event.nsu),
        undone,
        stated: event.how === 'duplicate',
        rank: event.how === 'refused' ? 0 : meaning(event).weight,
        protocol: event.protocol,
      }))
      expect(found.events).toEqual(
        events.sort((a, b) => byKey(a, b) || a.tp_evento - b.tp_evento || a.sequence - b.sequence),
      )
      expect(await countersDiffer(db, workspace, large)).toEqual([])

      const before = await everything(db, workspace)
      for (const [to, companyId] of workspace.companies.entries()) {
        const rebuilt = await rebuildProjection({ db, log }, { workspaceId: workspace.id, companyId, cnpj: cnpjs[to]! })
        expect(rebuilt).toEqual({
          receipts: order.filter((copy) => copy.to === to).length,
          documents: found.documents.filter((row) => row.to === to).length,
          events: found.events.filter((row) => row.to === to).length,
          unread: 0,
        })
      }
      expect(await everything(db, workspace)).toEqual(before)
    }),
    { numRuns: 80 },
  )
}, 120_000)

test('of two answers registered in the same second the one with the greater protocol is displayed', async () => {
  for (const [confirmed, notPerformed, displayed] of [
    [{ protocol: '891260000000009' }, { protocol: '891260000000008' }, 210200],
    [{ protocol: '891260000000008' }, { protocol: '891260000000009', how: 'summary' }, 210240],
    // A longer number is a greater one.
    [{ protocol: '1000000000' }, { protocol: '999999999' }, 210200],
    [{ protocol: '1' }, { protocol: null, how: 'duplicate' }, 210200],
  ] as const) {
    const copies = [
      documentOf(),
      eventOf({ nsu: 2, code: 210200, ...confirmed }),
      eventOf({ nsu: 3, code: 210240, ...notPerformed }),
    ]
    for (const order of [copies, copies.toReversed()]) {
      const workspace = await newOffice(db)
      for (const copy of order) await deliver(db, workspace, [copy])
      expect((await picture(db, workspace)).documents).toMatchObject([{ event_code: displayed }])
    }
  }
})

test('an undo takes back what was registered before it in the same second, not what came after it', async () => {
  const workspace = await newOffice(db)
  const delivery = { type: 'cte' as const, code: 240130, hour: 1 }
  await deliver(db, workspace, [
    eventOf({ ...delivery, nsu: 1, seq: 1, how: 'duplicate', protocol: '11' }),
    eventOf({ ...delivery, nsu: 2, seq: 2, protocol: '13' }),
    eventOf({ ...delivery, nsu: 3, code: 240131, protocol: '12' }),
  ])
  expect((await picture(db, workspace)).events).toMatchObject([{ undone: true }, { undone: false }, { undone: false }])
})

test('a document and its event that two writers bring at the same time find each other', async () => {
  const workspace = await newOffice(db)
  const note = documentOf({ to: 1 })
  const ciencia = eventOf({ to: 1, nsu: -1, code: 210210 })
  let second: Promise<void> | undefined
  await inWorkspace({ db, log }, workspace.id, async (ctx) => {
    await receive(ctx, recipient(workspace, note), 'nfe', [arrivalOf(note)])
    let over = false
    second = deliver(db, workspace, [ciencia]).then(() => {
      over = true
    })
    // The first has not committed when the second is done, or waits.
    await vi.waitFor(async () => expect(over || (await someoneWaits(db, 'advisory'))).toBe(true), { timeout: 20_000 })
  })
  await second
  expect((await picture(db, workspace)).documents).toMatchObject([{ status: 8, event_code: 210210 }])
})
