import { beforeEach, describe, expect, test, vi } from 'vitest'
import { onOneServer } from '../../../../tests/support/database.ts'
import { showOnly } from '../../companies/testing.ts'
import type { Arrival } from '../../documents/arrival.ts'
import { noteChanges } from '../../documents/changes.ts'
import { rebuildProjection } from '../../documents/rebuild.ts'
import { receive } from '../../documents/receive.ts'
import { arrive, chaveOf, company as cnpj, evento, nfeProc, resNFe } from '../../documents/testing.ts'
import { useContext, useOwner } from '../../platform/database.testing.ts'
import { beforeCommit, inCapture, inWorkspace } from '../../platform/database.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { forgetChanges, newestVersion, readChanges } from './changes.ts'

const { url, ctx } = await useContext()
const { db, log, ids } = ctx
const owner = await useOwner(url)
let workspaceId: number
let companyId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(db)
  companyId = (await insertCompany(db, workspaceId, { cnpj })).id
})

const page = (arrivals: Arrival[], to = { workspaceId, companyId }, first = async () => {}) =>
  inWorkspace({ db, log }, to.workspaceId, async (ctx) => {
    // After the version is taken and before the commit.
    beforeCommit(ctx, { lock: 'changes', workspaceId: Number.MAX_SAFE_INTEGER }, first)
    return receive(ctx, { ...to, cnpj }, 'nfe', arrivals)
  })
const note = (number: number) => arrive(number, nfeProc({ number }))

async function follow(since: number | null = null, of = workspaceId) {
  const { changes, ...rest } = await readChanges({ db, ids }, of, since)
  return {
    ...rest,
    told: changes.map(({ told: { versao, tipo, chave } }) => [versao, tipo, Number(String(chave).slice(25, 34))]),
  }
}

test('each change is told once, in order, and none that changes nothing', async () => {
  expect(await follow()).toEqual({ told: [], version: 0, more: false })
  await page([arrive(1, resNFe({ number: 1 })), note(2)])
  await page([arrive(3, nfeProc({ number: 1 }))])
  await page([arrive(3, nfeProc({ number: 1 })), note(2)])
  await page([arrive(4, evento(210210, { number: 2 }))])
  await page([arrive(5, evento(110111, { number: 1 })), arrive(6, evento(610610, { number: 9 }))])
  await page([note(7), arrive(8, evento(110111, { number: 7 }))])
  const all = [
    [1, 'documento-novo', 1],
    [2, 'documento-novo', 2],
    [3, 'xml-completo', 1],
    [4, 'situacao', 2],
    [5, 'cancelamento', 1],
    [6, 'documento-novo', 7],
    [7, 'cancelamento', 7],
  ]
  expect(await follow()).toEqual({ told: all, version: 7, more: false })
  expect(await follow(4)).toEqual({ told: all.slice(4), version: 7, more: false })
  expect(await follow(7)).toEqual({ told: [], version: 7, more: false })
  expect(await newestVersion({ db }, workspaceId)).toBe(7)
})

test('what is read again from its receipts is no change, and stays the document that was told', async () => {
  await page([arrive(1, resNFe()), arrive(2, nfeProc()), arrive(3, evento(110111))])
  const before = await readChanges({ db, ids }, workspaceId, null)
  await rebuildProjection({ db, log }, { workspaceId, companyId, cnpj })
  expect(await readChanges({ db, ids }, workspaceId, null)).toEqual(before)
})

test('an answer is told when it is settled, with what became of it', async () => {
  await page([note(1)])
  const { rows } = await owner.query<{ id: string; document: string; company: number }>(
    `insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, message, why)
     select workspace_id, company_id, id, 0, '', chave, 210200, 1, 'rejected', 'A SEFAZ recusou.', 'x' from document where workspace_id = $1
     returning id, document_id as document, company_id as company`,
    [workspaceId],
  )
  const [event] = rows
  await inCapture({ db }, async (ctx) =>
    noteChanges(ctx, workspaceId, [
      { documentId: BigInt(event!.document), companyId: event!.company, kind: 'answered', eventId: BigInt(event!.id) },
    ]),
  )
  const { changes } = await readChanges({ db, ids }, workspaceId, 1)
  const resposta = { tpEvento: 210200, situacao: 'recusada', mensagem: 'A SEFAZ recusou.' }
  expect(changes).toMatchObject([{ told: { versao: 2, tipo: 'resposta', chave: chaveOf(), resposta } }])
  await owner.query(`update outgoing_event set state = 'sending' where id = $1`, [event!.id])
  const sentAgain = await readChanges({ db, ids }, workspaceId, 1)
  expect(sentAgain.changes).toMatchObject([{ told: { versao: 2, tipo: 'resposta', resposta: null } }])
})

// The issuer of the notes is here then: two who add it would wait for each other.
async function secondCompany() {
  await page([note(9)])
  return insertCompany(db, workspaceId, { cnpj: '11222333000181' })
}

describe('a reader', () => {
  test('never passes over a transaction that began before and commits after another', async () => {
    const others = await secondCompany()
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const early = inWorkspace({ db, log }, workspaceId, async (ctx) => {
      await receive(ctx, { workspaceId, companyId, cnpj }, 'nfe', [note(1)])
      begun.resolve()
      await gate.promise
    })
    await begun.promise
    await page([note(2)], { workspaceId, companyId: others.id })
    expect(await follow(1)).toMatchObject({ told: [[2, 'documento-novo', 2]], version: 2 })
    gate.resolve()
    await early
    expect(await follow(2)).toMatchObject({ told: [[3, 'documento-novo', 1]], version: 3 })
  })

  // It looks for who waits for a row, which on a cluster is to be seen on the server of the row only.
  onOneServer('sees no later version while one that was taken before is not committed', async () => {
    const others = await secondCompany()
    const taken = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const first = page([note(1)], undefined, async () => {
      taken.resolve()
      await gate.promise
    })
    await taken.promise
    const second = page([note(2)], { workspaceId, companyId: others.id })
    await vi.waitFor(
      async () => {
        const { rows } = await owner.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        expect(rows).toHaveLength(1)
      },
      { timeout: 20_000 },
    )
    expect(await follow(1)).toEqual({ told: [], version: 1, more: false })
    gate.resolve()
    await Promise.all([first, second])
    expect(await follow(1)).toMatchObject({
      told: [
        [2, 'documento-novo', 1],
        [3, 'documento-novo', 2],
      ],
    })
  })

  test('gets five hundred at a time', async () => {
    await page([note(1)])
    await owner.query(
      `insert into document_change select workspace_id, document_id, g, at, null, 3 from document_change, generate_series(2, 501) g where workspace_id = $1`,
      [workspaceId],
    )
    await owner.query('update change_position set version = 501 where workspace_id = $1', [workspaceId])
    expect(await follow()).toMatchObject({ version: 500, more: true })
    expect(await follow(500)).toEqual({ told: [[501, 'situacao', 1]], version: 501, more: false })
  })

  test('hears nothing of another workspace, nor of what a company hides', async () => {
    const other = await newWorkspace(db)
    const theirs = { workspaceId: other, companyId: (await insertCompany(db, other, { cnpj })).id }
    await page([note(1)], theirs)
    await page([note(2)])
    expect(await follow()).toMatchObject({ told: [[1, 'documento-novo', 2]] })
    await showOnly(db, workspaceId, { nfe: 1 })
    expect(await follow()).toEqual({ told: [], version: 1, more: false })
    expect(await follow(null, other)).toMatchObject({ told: [[1, 'documento-novo', 1]] })
  })

  test('is told when what follows its version is not kept any more, and when it was never given', async () => {
    await page([note(1)])
    await page([note(2)])
    await owner.query(
      `update document_change set at = now() - interval '91 days' where workspace_id = $1 and version = 1`,
      [workspaceId],
    )
    await forgetChanges({ db })
    await expect(follow(0)).rejects.toMatchObject({ code: 'gone', message: expect.stringContaining('90 dias') })
    await expect(follow(3)).rejects.toMatchObject({
      code: 'gone',
      message: expect.stringContaining('não é deste workspace'),
    })
    expect(await follow(1)).toMatchObject({ told: [[2, 'documento-novo', 2]] })
    expect(await follow()).toMatchObject({ told: [[2, 'documento-novo', 2]] })
  })
})
