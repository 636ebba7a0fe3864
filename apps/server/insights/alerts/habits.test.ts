import { expect, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import { receive } from '../../documents/receive.ts'
import { arrive, company, resNFe } from '../../documents/testing.ts'
import { inWorkspace, openDatabase, readWorkspace } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { digitDrift, isSilent, readHabits } from './habits.ts'

const daysAgo = (days: number) => `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 19)}-03:00`

test('a silence is one that the habit does not explain', () => {
  const usual = { gaps: 20, usual: 2, days: 7 }
  expect(isSilent(usual)).toBe(true)
  expect(isSilent({ ...usual, days: 6 })).toBe(false)
  expect(isSilent({ ...usual, gaps: 19 })).toBe(false)
  // A weekend is none.
  expect(isSilent({ gaps: 300, usual: 0.5, days: 2 })).toBe(false)
})

test('first digits drift when invoices are made up, and not when they grow like prices', () => {
  const benford = Array.from({ length: 9 }, (_, at) => Math.round(10_000 * Math.log10(1 + 1 / (at + 1))))
  expect(digitDrift(benford)).toBeNull()
  expect(digitDrift([40, 40, 40, 40, 40, 40, 40, 40, 40])).toBeGreaterThan(0.015)
  expect(digitDrift([30, 30, 30, 30, 30, 30, 30, 30, 30])).toBeNull()
})

test('what is odd about a company is found in its own documents', async () => {
  await using database = await createDatabase()
  const db = openDatabase(database.url)
  const log = createLogger('silent')
  const office = async () => {
    const workspaceId = await newWorkspace(db)
    const { id: companyId } = await insertCompany(db, workspaceId, { cnpj: company })
    return { workspaceId, companyId }
  }
  const [mine, theirs] = [await office(), await office()]
  // Every second day until eleven days ago.
  const notes = Array.from({ length: 30 }, (_, n) =>
    arrive(n + 1, resNFe({ number: n + 1, issuedAt: daysAgo(11 + 2 * n) })),
  )
  await inWorkspace({ db }, mine.workspaceId, ({ db }) =>
    receive({ db, log }, { ...mine, cnpj: company }, 'nfe', notes),
  )
  const habits = (workspaceId: number) => readWorkspace({ db }, workspaceId, (ctx) => readHabits(ctx, workspaceId))
  const found = await habits(mine.workspaceId)
  expect(found).toMatchObject({ silencios: [{ comum: 2 }], digitos: [] })
  expect(found.silencios[0]!.dias).toBeGreaterThanOrEqual(10)
  expect(await habits(theirs.workspaceId)).toEqual({ silencios: [], digitos: [] })
  // Many of one amount: a digit and no other.
  const same = Array.from({ length: 300 }, (_, n) =>
    arrive(100 + n, resNFe({ number: 100 + n, amount: '9100.00', issuedAt: daysAgo(5) })),
  )
  for (let from = 0; from < same.length; from += 50)
    await inWorkspace({ db }, theirs.workspaceId, ({ db }) =>
      receive({ db, log }, { ...theirs, cnpj: company }, 'nfe', same.slice(from, from + 50)),
    )
  expect((await habits(theirs.workspaceId)).digitos).toMatchObject([{ notas: 300 }])
  await db.destroy()
})
