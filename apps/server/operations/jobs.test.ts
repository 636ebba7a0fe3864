import { expect, test } from 'vitest'
import { useDatabase } from '../platform/database.testing.ts'
import { asOperator } from '../platform/database.ts'
import { queueJob } from '../platform/jobs/jobs.ts'
import { listJobs } from './jobs.ts'

const { db } = await useDatabase()

test('what waits and what fails is counted by kind, what fails first', async () => {
  await asOperator({ db }, async (ctx) => {
    await queueJob(ctx, { kind: 'review', workspaceId: 1, waitMs: 60_000 })
    for (const key of ['a', 'b']) await queueJob(ctx, { kind: 'mail', workspaceId: 1, key })
    await ctx.db.updateTable('job').set({ error: 'o servidor recusou', attempts: 1 }).where('key', '=', 'b').execute()
  })
  const rest = { executando: 0, falhando: 0, proximo: expect.any(Date), erro: null }
  expect(await listJobs({ db })).toEqual([
    { trabalho: 'mail', nome: 'E-mails', esperam: 2, ...rest, falhando: 1, erro: 'o servidor recusou' },
    { trabalho: 'review', nome: 'Conferência de cada conta', esperam: 1, ...rest },
  ])
})
