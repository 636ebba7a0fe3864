import { Buffer } from 'node:buffer'
import { crc32, deflateSync } from 'node:zlib'
import { sql } from 'kysely'
import { PNG } from 'pngjs'
import { expect, test } from 'vitest'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { insertCompany, newWorkspace } from '../platform/testing.ts'
import { findLogoOf, getLogo, removeLogo, setLogo } from './logo.ts'

const { ctx } = await useContext()
const { db, config } = ctx
const workspaceId = await newWorkspace(db)

const newCompany = async (cnpj: string, workspace = workspaceId) => (await insertCompany(db, workspace, { cnpj })).id
const set = (companyId: number, file: Uint8Array) =>
  inWorkspace({ db, config }, workspaceId, (ctx) => setLogo(ctx, workspaceId, companyId, file))

test('without an active plan a hundred companies have one', async () => {
  const trial = await newWorkspace(db)
  const companies = await inWorkspace({ db }, trial, ({ db }) =>
    sql<{ id: number }>`
      insert into company (workspace_id, cnpj, name, search, uf)
      select ${trial}, lpad(n::text, 14, '0'), 'E', 'e', 35 from generate_series(1, 101) n returning id`.execute(db),
  )
  const [last, first, ...others] = companies.rows.map(({ id }) => id)
  const setOf = (company: number) =>
    inWorkspace({ db, config }, trial, (ctx) => setLogo(ctx, trial, company, picture()))
  for (const company of [first!, ...others]) await setOf(company)
  await setOf(first!)
  await expect(setOf(last!)).rejects.toThrow(/^Sem um plano ativo cabem logotipos de 100 empresas/)
})

/** A picture of two points: one red, one that is not there. */
function picture({ width = 2, height = 1 } = {}): Buffer {
  const png = new PNG({ width, height })
  png.data.set([255, 0, 0, 255, 0, 0, 0, 0])
  return PNG.sync.write(png)
}

test('keeps what is seen on white paper, in eight bits a colour', async () => {
  const company = await newCompany('99387251000138')
  await set(company, picture())
  const kept = PNG.sync.read(Buffer.from(await getLogo({ db }, workspaceId, company)))
  expect([...kept.data]).toEqual([255, 0, 0, 255, 255, 255, 255, 255])
  expect(kept).toMatchObject({ width: 2, height: 1, depth: 8, alpha: false, interlace: false, palette: false })
})

test('puts a new logo in place of the old one, and takes it away', async () => {
  const company = await newCompany('99387251000219')
  await set(company, picture())
  await set(company, picture({ width: 3 }))
  expect(PNG.sync.read(Buffer.from(await getLogo({ db }, workspaceId, company))).width).toBe(3)
  const remove = () => inWorkspace({ db }, workspaceId, (ctx) => removeLogo(ctx, workspaceId, company))
  await remove()
  await expect(remove()).rejects.toThrow('Esta empresa não tem logotipo.')
  await expect(getLogo({ db }, workspaceId, company)).rejects.toThrow('Esta empresa não tem logotipo.')
})

test('finds the logo of the company itself, else of another with its base, never of another workspace', async () => {
  const [matriz, filial] = ['44555666000181', '44555666000262']
  const first = await newCompany(matriz)
  const second = await newCompany(filial)
  await set(first, picture())
  const widthOf = async (cnpj: string, workspace = workspaceId) => {
    const found = await findLogoOf({ db }, workspace, cnpj)
    return found && PNG.sync.read(Buffer.from(found)).width
  }
  expect(await widthOf(filial)).toBe(2)
  await set(second, picture({ width: 3 }))
  expect([await widthOf(matriz), await widthOf(filial), await widthOf('44555666000343')]).toEqual([2, 3, 2])
  expect(await widthOf('11222333000181')).toBeUndefined()
  const other = await newWorkspace(db)
  await newCompany(matriz, other)
  expect(await widthOf(matriz, other)).toBeUndefined()
})

test.each([
  ['a text', Buffer.from('isto não é uma imagem, mas é um texto bastante longo')],
  ['half a picture', picture().subarray(0, 50)],
  [
    'a picture whose bytes were changed',
    Buffer.from(picture().map((byte, at) => (at > 40 && at < 60 ? byte ^ 255 : byte))),
  ],
])('refuses %s and keeps the logo that there was', async (_, file) => {
  const company = await newCompany(`99164852${String(++serial).padStart(4, '0')}81`)
  await set(company, picture())
  await expect(set(company, file)).rejects.toMatchObject({ code: 'invalid-input' })
  expect(await getLogo({ db }, workspaceId, company)).toBeInstanceOf(Buffer)
})
let serial = 0

const chunk = (type: string, content: Uint8Array) => {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const around = [Buffer.alloc(4), Buffer.alloc(4)] as const
  around[0].writeUInt32BE(content.length)
  around[1].writeUInt32BE(crc32(named))
  return Buffer.concat([around[0], named, around[1]])
}
function header(width: number, height: number, { interlaced = false } = {}): Buffer {
  const content = Buffer.alloc(13)
  content.writeUInt32BE(width, 0)
  content.writeUInt32BE(height, 4)
  content.set([8, 2, 0, 0, interlaced ? 1 : 0], 8)
  return chunk('IHDR', content)
}
const rows = (bytes: number) => chunk('IDAT', deflateSync(Buffer.alloc(bytes)))
const png = (...chunks: Buffer[]) =>
  Buffer.concat([picture().subarray(0, 8), ...chunks, chunk('IEND', Buffer.alloc(0))])

test.each([
  ['says twice how large it is', png(header(2, 2), header(600, 400), rows(1801 * 400)), /no one header/],
  ['ends before its last row', png(header(600, 1), rows(1)), /before its last row/],
  ['has no rows', png(header(2, 1)), /./],
  ['unfolds into more than it says', png(header(2, 2, { interlaced: true }), rows(1_000_000)), /larger than/],
  ['has no width', png(header(0, 1), rows(1)), undefined],
  ['has no height', png(header(1, 0), rows(1)), undefined],
])('refuses a picture that %s', async (_, file, cause) => {
  const company = await newCompany(`99164853${String(++serial).padStart(4, '0')}81`)
  const error: Error = await set(company, file).then(
    () => expect.unreachable(),
    (error) => error,
  )
  expect(error).toMatchObject({ code: 'invalid-input', message: /^Não conseguimos ler esta imagem/ })
  if (cause) expect(String(error.cause)).toMatch(cause)
})

test('takes an interlaced picture', async () => {
  const company = await newCompany('99164853990081')
  // Seven passes of one point, of which the last two have none: 8 by 1 points have rows in passes 1, 2, 4 and 6.
  await set(company, png(header(8, 1, { interlaced: true }), rows(4 * 1 + 8 * 3)))
  expect(PNG.sync.read(Buffer.from(await getLogo({ db }, workspaceId, company)))).toMatchObject({ width: 8, height: 1 })
})

test('refuses a picture larger than a form needs before it is unpacked', async () => {
  const company = await newCompany('99164852900081')
  const huge = picture()
  huge.writeUInt32BE(60_000, 16)
  await expect(set(company, huge)).rejects.toThrow('A imagem tem 60000 por 1 pontos.')
})
