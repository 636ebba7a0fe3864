import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { useFolder } from '../../../../tests/support/folder.ts'
import { readConfig } from '../../config.ts'
import { useContext } from '../database.testing.ts'
import { asOperator } from '../database.ts'
import { endTrouble, listTroubles, noteTrouble } from '../trouble.ts'
import { operatorMails, tellOperator, writeDirectly } from './operator.ts'

const { ctx } = await useContext({ OPERATOR_EMAIL: 'plantao@vigia.example' })
const dataDir = await useFolder()

beforeEach(async () => {
  await ctx.db.deleteFrom('trouble').execute()
  await asOperator(ctx, ({ db }) => db.deleteFrom('mail').execute())
})

async function letters(): Promise<{ recipient: string; subject: string | undefined; text: string }[]> {
  const mails = await asOperator(ctx, ({ db }) =>
    db
      .selectFrom('mail')
      .select(['id', 'kind', 'recipient', 'payload', 'workspace_id as workspaceId'])
      .orderBy('id')
      .execute(),
  )
  return Promise.all(
    mails.map(async (mail) => {
      const letter = await operatorMails[mail.kind]!(ctx, mail)
      return { recipient: mail.recipient, subject: letter?.subject, text: letter?.paragraphs.join(' ') ?? '' }
    }),
  )
}
const subjects = async () => (await letters()).map(({ subject }) => subject)
/** As if so many minutes had passed. */
const pass = (minutes: number) =>
  sql`update trouble set since = since - ${minutes} * interval '1 minute', told_at = told_at - ${minutes} * interval '1 minute',
             ended_at = ended_at - ${minutes} * interval '1 minute'`.execute(ctx.db)
const look = async () => {
  await Promise.all([tellOperator(ctx), tellOperator(ctx)])
}

test('the operator gets one letter when a trouble has begun, one for each day of it, and one when it is over', async () => {
  await noteTrouble(ctx, 'espaco', 'O disco está cheio.')
  const found: number[] = []
  for (const minutes of [4, 2, 600, 838, 2, 1_440]) {
    await pass(minutes)
    await noteTrouble(ctx, 'espaco', 'O disco está cheio. Libere espaço.')
    await look()
    found.push((await letters()).length)
  }
  expect(found).toEqual([0, 1, 1, 1, 2, 3])
  await endTrouble(ctx, 'espaco')
  expect(await listTroubles(ctx)).toEqual([])
  await pass(31)
  await look()
  await look()
  expect(await subjects()).toEqual([
    'Falta espaço para guardar documentos',
    ...Array(2).fill('Continua: Falta espaço para guardar documentos'),
    'Resolvido: Falta espaço para guardar documentos',
  ])
  const [first] = await letters()
  expect(first).toMatchObject({
    recipient: 'plantao@vigia.example',
    text: expect.stringMatching(/^O disco está cheio\. Libere espaço\. Começou em .* \(horário de Brasília\)\.$/),
  })
})

test('what lasts a moment writes no letter, and what comes and goes writes one', async () => {
  await noteTrouble(ctx, 'relogio', 'O relógio está errado.')
  await pass(4)
  await endTrouble(ctx, 'relogio')
  await pass(60)
  await look()
  expect(await subjects()).toEqual([])
  await noteTrouble(ctx, 'relogio', 'O relógio está errado.')
  for (let n = 0; n < 20; n++) {
    await pass(20)
    await look()
    await endTrouble(ctx, 'relogio')
    await pass(20)
    await look()
    await noteTrouble(ctx, 'relogio', 'O relógio está errado.')
  }
  expect(await subjects()).toEqual(['O relógio do servidor está errado'])
})

test('without the database a letter leaves all the same, one an hour', async () => {
  const config = readConfig({ OPERATOR_EMAIL: 'plantao@vigia.example', DATA_DIR: dataDir }, dataDir)
  expect(await writeDirectly({ ...ctx, config }, 'espaco', 'O disco está cheio.')).toBe(true)
  expect(await writeDirectly({ ...ctx, config }, 'espaco', 'O disco está cheio.')).toBe(false)
  const [file, ...others] = await readdir(join(dataDir, 'outbox'))
  expect(others).toEqual([])
  expect(await readFile(join(dataDir, 'outbox', file!), 'utf8')).toMatch(/^To: plantao@vigia\.example/m)
})
