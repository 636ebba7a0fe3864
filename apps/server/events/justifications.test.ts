import { keptTextsMax } from '@vigia/contract/manifestation'
import { nfe } from '@vigia/dfe/families/nfe'
import { expect, test } from 'vitest'
import { arrive, resNFe } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { keepText, readTexts } from './justifications.ts'
import { requestEvents } from './request.ts'
import { daysAgo, newOffice, type Office, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })

const [ciencia, confirmation, , refused] = nfe.answers as [(typeof nfe.answers)[number], ...typeof nfe.answers]
const textsOf = ({ workspaceId }: Office, kind = ciencia) =>
  inWorkspace(ctx, workspaceId, (ctx) => readTexts(ctx, workspaceId, 'nfe', kind))
const keep = ({ workspaceId }: Office, text: string, kept = true) =>
  inWorkspace(ctx, workspaceId, (ctx) => keepText(ctx, workspaceId, 'nfe', ciencia, { text, keep: kept }))

test('a form begins with what the workspace sent last, else with a usual text; where each document needs its own, with none', async () => {
  const [office, other] = [await newOffice(ctx), await newOffice(ctx)]
  expect((await textsOf(office)).suggestion).toBe('Ciência da operação informada na nota.')
  expect((await textsOf(office, refused)).suggestion).toBeNull()
  await store(ctx, office, 'nfe', [arrive(1, resNFe({ issuedAt: daysAgo(2) }))])
  const documents = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db.selectFrom('document').select('id').where('workspace_id', '=', office.workspaceId).execute(),
  )
  const ids = documents.map(({ id }) => ctx.ids.encode(office.workspaceId, id))
  const request = { service: 'nfe', kind: ciencia, documents: ids, justification: 'Compra da filial' } as const
  await requestEvents(ctx, office.session, request, 0)
  expect((await textsOf(office)).suggestion).toBe('Compra da filial')
  expect((await textsOf(office, confirmation)).suggestion).toBe('A operação aconteceu como está na nota.')
  expect((await textsOf(other)).suggestion).toBe('Ciência da operação informada na nota.')
})

test('texts are kept for one kind and one workspace, once each, and only so many', async () => {
  const [office, other] = [await newOffice(ctx), await newOffice(ctx)]
  for (const text of ['b', 'a', 'b']) await keep(office, text)
  expect([(await textsOf(office)).kept, (await textsOf(office, confirmation)).kept]).toEqual([['a', 'b'], []])
  await keep(other, 'b', false)
  await keep(office, 'a', false)
  expect([(await textsOf(office)).kept, (await textsOf(other)).kept]).toEqual([['b'], []])
  for (let number = 1; number < keptTextsMax; number++) await keep(office, `texto ${number}`)
  await expect(keep(office, 'mais um')).rejects.toThrow('apague um modelo')
  expect((await textsOf(office)).kept).toHaveLength(keptTextsMax)
})
