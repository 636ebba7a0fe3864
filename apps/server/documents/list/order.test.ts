import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { useDatabase } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import {
  countersDiffer,
  deliver,
  everything,
  newOffice,
  picture,
  recipient,
  someoneWaits,
  type TestWorkspace,
} from '../office.testing.ts'
import { rebuildProjection } from '../rebuild.ts'
import { receive } from '../receive.ts'
import { arrivalOf, type CopyDraft, cnpjs, documentOf, type EventCopy, eventOf, story } from './order.testing.ts'

const log = createLogger('silent')
const { db } = await useDatabase()

async function deliverInPages(
  workspace: TestWorkspace,
  stream: (CopyDraft | EventCopy)[],
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

test('whatever comes in whatever order and pages, the rows are those of one page with everything, the counters exact, and a rebuild equal', async () => {
  await fc.assert(
    fc.asyncProperty(story, async ({ order, repeated, sizes }) => {
      const whole = await newOffice(db)
      for (const copies of Map.groupBy(order, ({ to, type }) => `${to} ${type}`).values())
        await deliver(db, whole, copies)
      const workspace = await newOffice(db)
      await deliverInPages(workspace, [...order, ...repeated], sizes)
      const found = await picture(db, workspace)
      expect(found).toEqual(await picture(db, whole))
      expect(await countersDiffer(db, workspace)).toEqual([])

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
    { numRuns: runs(80) },
  )
}, 120_000)

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
