import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { createLogger } from '../platform/log.ts'
import { insertCompany, newWorkspace } from '../platform/testing.ts'
import type { Arrival } from './arrival.ts'
import { readArrival } from './reading/read.ts'
import type { ReadPage } from './reading/reading.ts'
import { rebuildProjection } from './rebuild.ts'
import { arrive, chaveOf, company, deliverTo, evento, nfeProc } from './testing.ts'

// Threads do not know what this test changes in the family.
const readHere: ReadPage = async (_, page) => page.map((docZip) => readArrival(docZip))

// A note of number 2 replaces the one of number 1.
const replacedStatus = 11
const { read, statuses } = nfe
const row = { code: replacedStatus, name: 'Substituída', stands: false, final: true, filter: true, eventCode: 0 }

const log = createLogger('silent')
const { db } = await useDatabase()

beforeAll(async () => {
  Object.assign(nfe, {
    replacedStatus,
    statuses: [...statuses, row],
    read(...file: Parameters<Family['read']>) {
      const facts = read(...file)
      return facts.kind === 'document' && facts.numero === 2 ? { ...facts, replaces: chaveOf({ number: 1 }) } : facts
    },
  })
})
afterAll(async () => {
  Object.assign(nfe, { replacedStatus: null, statuses, read })
})

test('a document that another one replaces has that status, whichever arrives first, and a cancelled one stays cancelled', async () => {
  const first = arrive(1, nfeProc({ number: 1 }))
  const second = arrive(2, nfeProc({ number: 2 }))
  const cancelled = arrive(3, evento(110111, { number: 1 }))
  for (const [pages, status] of [
    [[[first], [second]], replacedStatus],
    [[[second], [first]], replacedStatus],
    [[[second, first]], replacedStatus],
    [[[second], [cancelled], [first]], 3],
    [[[first], [cancelled], [second]], 3],
  ] as [Arrival[][], number][]) {
    const workspaceId = await newWorkspace(db)
    const { id: companyId } = await insertCompany(db, workspaceId, { cnpj: company })
    const to = { workspaceId, companyId, cnpj: company }
    for (const page of pages) await deliverTo({ db, log }, to, 'nfe', page)
    const rows = () =>
      inWorkspace({ db }, workspaceId, ({ db }) =>
        db.selectFrom('document').select('status').orderBy('number').execute(),
      )
    expect(await rows()).toEqual([{ status }, { status: 2 }])
    await rebuildProjection({ db, log }, to, readHere)
    expect(await rows()).toEqual([{ status }, { status: 2 }])
  }
})
