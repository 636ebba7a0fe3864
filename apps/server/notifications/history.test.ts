import { randomUUID } from 'node:crypto'
import { unreadCountMax } from '@vigia/contract/workspace'
import { expect, test } from 'vitest'
import type { Writer } from '../companies/topics.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { announce } from '../platform/outbox.ts'
import { insertAccount, newWorkspace } from '../platform/testing.ts'
import { markRead, readHistory } from './history.ts'
import { tell } from './notifications.ts'
import { tellTogether } from './teller.ts'

const { ctx } = await useContext()

async function newReader(workspaceId: number) {
  const { id: accountId } = await insertAccount(ctx.db, workspaceId)
  return { workspaceId, accountId, publicId: randomUUID() as string }
}

const tellOf = (workspaceId: number, ...bodies: string[]) =>
  inWorkspace(ctx, workspaceId, async (ctx) => {
    for (const body of bodies) await tell(ctx, workspaceId, { topic: 'aviso', kind: 'alert', header: 'Aviso', body })
  })

test('each account reads what its workspace was told, page by page, and no other workspace', async () => {
  const office = await newWorkspace(ctx.db)
  const [ana, beto] = [await newReader(office), await newReader(office)]
  const stranger = await newReader(await newWorkspace(ctx.db))
  await tellOf(office, ...Array.from({ length: 45 }, (_, n) => `${n + 1}`))

  const pages: string[][] = []
  let before: string | undefined
  for (let hasMore = true; hasMore; ) {
    const page = await readHistory(ctx, ana, before)
    pages.push(page.items.map(({ texto }) => String(texto)))
    expect(page.naoLidos).toBe(45)
    before = String(page.items.at(-1)!.idAviso)
    hasMore = page.temMais
  }
  expect(pages.map(({ length }) => length)).toEqual([20, 20, 5])
  expect(pages.flat()).toEqual(Array.from({ length: 45 }, (_, n) => `${45 - n}`))

  const { items } = await readHistory(ctx, ana)
  await markRead(ctx, ana, String(items[2]!.idAviso))
  // An older page that is read later takes nothing back.
  await markRead(ctx, ana, String(items[9]!.idAviso))
  const mine = await readHistory(ctx, ana)
  expect(mine.naoLidos).toBe(2)
  expect(mine.items.map(({ lido }) => lido)).toEqual([false, false, ...Array.from({ length: 18 }, () => true)])
  expect((await readHistory(ctx, beto)).naoLidos).toBe(45)

  expect(await readHistory(ctx, stranger)).toEqual({ items: [], temMais: false, naoLidos: 0 })
  await expect(markRead(ctx, stranger, String(items[0]!.idAviso))).rejects.toMatchObject({ code: 'not-found' })
  await tellOf(office, ...Array.from({ length: unreadCountMax }, () => 'x'))
  expect((await readHistory(ctx, beto)).naoLidos).toBe(unreadCountMax)
})

test('what somebody has just done is read in their session, unless others did the same', async () => {
  const office = await newWorkspace(ctx.db)
  const ana = await newReader(office)
  const onHerPhone = { ...ana, publicId: randomUUID() as string }
  const writer: Writer = {
    topic: 'empresa',
    write: ({ length }) => ({ kind: 'sucesso', header: 'Feito', body: `${length}` }),
  }
  for (const [what, sessions] of [
    ['alone', [ana.publicId, ana.publicId]],
    ['together', [ana.publicId, onHerPhone.publicId]],
  ] as const) {
    await inWorkspace(ctx, office, async (ctx) => {
      for (const sessionId of sessions) await announce(ctx, office, { what, waitMs: 0, sessionId })
    })
    await tellTogether(ctx, { workspaceId: office, what }, writer)
  }
  const readBy = async (reader: typeof ana) => {
    const { items, naoLidos: unread } = await readHistory(ctx, reader)
    return { read: items.map(({ lido }) => lido), unread }
  }
  expect(await readBy(ana)).toEqual({ read: [false, true], unread: 1 })
  expect(await readBy(onHerPhone)).toEqual({ read: [false, false], unread: 2 })
})

test('an announcement leads to no screen, to one or to two', async () => {
  const office = await newWorkspace(ctx.db)
  const one = { topic: 'captura', kind: 'sucesso', header: 'Captura concluída', body: '' } as const
  await inWorkspace(ctx, office, async (ctx) => {
    await tell(ctx, office, one)
    await tell(ctx, office, { ...one, link: '/cte' })
    await tell(ctx, office, { ...one, link: '/notas-fiscais', otherLink: '/cte' })
  })
  const { items } = await readHistory(ctx, await newReader(office))
  expect(items.map(({ tela, outraTela }) => [tela, outraTela])).toEqual([
    ['/notas-fiscais', '/cte'],
    ['/cte', null],
    [null, null],
  ])
})
