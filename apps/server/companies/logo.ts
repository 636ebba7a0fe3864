import { inflateSync } from 'node:zlib'
import { logoSizeMax } from '@vigia/contract/forms'
import { sql } from 'kysely'
import { PNG } from 'pngjs'
import { readPlan } from '../accounts/plans.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { countRows, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'

/** Logos of a workspace without an active plan. */
export const unpaidLogosMax = 100

/**
 * Stores the picture of a PNG file as the logo of a company, replacing the old one, without what
 * white paper does not show (transparency, 16 bits a colour, comments). Refuses other formats and
 * large files. `ctx.db` is a transaction inside the workspace.
 */
export async function setLogo(
  { db, config }: WithConfig,
  workspaceId: number,
  companyId: number,
  file: Uint8Array,
): Promise<void> {
  const picture = Buffer.from(onWhite(readPng(file)))
  await sql`
    insert into company_logo (workspace_id, company_id, picture) values (${workspaceId}, ${companyId}, ${picture})
    on conflict (workspace_id, company_id) do update set picture = excluded.picture`.execute(db)
  const n = await countRows(db, sql`from company_logo where workspace_id = ${workspaceId}`)
  if (n <= unpaidLogosMax || (await readPlan({ db, config }, workspaceId)).situation === 'active') return
  throw new AppError(
    'conflict',
    `Sem um plano ativo cabem logotipos de ${unpaidLogosMax} empresas, e já há tantos. Nada foi alterado. Para guardar outros, peça um plano em “Minha conta”.`,
  )
}

/** Takes the logo of a company away. Refuses when it has none. `ctx.db` is a transaction inside the workspace. */
export async function removeLogo({ db }: WithDatabase, workspaceId: number, companyId: number): Promise<void> {
  const { numAffectedRows } = await sql`
    delete from company_logo where workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db)
  if (numAffectedRows === 0n) throw noLogo()
}

/** The logo of a company, a PNG in eight bits a colour without transparency. */
export async function getLogo({ db }: WithDatabase, workspaceId: number, companyId: number): Promise<Uint8Array> {
  const { rows } = await readWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ picture: Buffer }>`
      select picture from company_logo where workspace_id = ${workspaceId} and company_id = ${companyId}`.execute(db),
  )
  if (!rows[0]) throw noLogo()
  return rows[0].picture
}

/** The logo of the company with this CNPJ, else of one with its base: a filial without one prints that of its matriz. None for a CPF. */
export async function findLogoOf(
  { db }: WithDatabase,
  workspaceId: number,
  taxId: string,
): Promise<Uint8Array | undefined> {
  if (taxId.length !== 14) return undefined
  const { rows } = await readWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ picture: Buffer }>`
      select l.picture from company_logo l join company c on c.workspace_id = l.workspace_id and c.id = l.company_id
       where l.workspace_id = ${workspaceId} and left(c.cnpj, 8) = ${taxId.slice(0, 8)}
       order by c.cnpj = ${taxId} desc, c.cnpj limit 1`.execute(db),
  )
  return rows[0]?.picture
}

function noLogo(): AppError {
  return new AppError('not-found', 'Esta empresa não tem logotipo.')
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

function readPng(file: Uint8Array): PNG {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const { width, height } = measuresOf(bytes)
  if (width > logoSizeMax.width || height > logoSizeMax.height) {
    throw new AppError(
      'invalid-input',
      `A imagem tem ${width} por ${height} pontos. O logotipo pode ter até ${logoSizeMax.width} por ${logoSizeMax.height}.`,
    )
  }
  try {
    requireAllRows(bytes)
    return PNG.sync.read(bytes)
  } catch (cause) {
    throw unreadable(cause)
  }
}

function measuresOf(bytes: Buffer): { width: number; height: number } {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(signature)) throw unreadable()
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
  if (width === 0 || height === 0) throw unreadable()
  return { width, height }
}

const samples: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

// Refuses what the library accepts: missing rows would show our memory, a second header would
// override the first, and a small file may inflate to gigabytes.
function requireAllRows(bytes: Buffer): void {
  const packed: Buffer[] = []
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    if ((type === 'IHDR') !== (at === 8) || (type === 'IHDR' && length !== 13))
      throw new Error('the PNG has no one header')
    if (type === 'IDAT') packed.push(bytes.subarray(at + 8, at + 8 + length))
  }
  const { width, height } = measuresOf(bytes)
  const [depth, colorType, interlaced] = [bytes[24]!, bytes[25]!, bytes[28] === 1]
  const expected = (Math.ceil((width * (samples[colorType] ?? 0) * depth) / 8) + 1) * height
  // Interlaced, there are more rows, shorter ones.
  const { length } = inflateSync(Buffer.concat(packed), { maxOutputLength: 2 * expected + 64 })
  if (length < expected && !interlaced) throw new Error('the PNG ends before its last row')
}

function unreadable(cause?: unknown): AppError {
  return new AppError(
    'invalid-input',
    'Não conseguimos ler esta imagem. O logotipo anterior, se havia, continua. Escolha um arquivo PNG.',
    { cause },
  )
}

// Eight bits a colour, no transparency, one filter of rows after the other: a printed form takes it as it is.
function onWhite(picture: PNG): Buffer {
  return PNG.sync.write(picture, { colorType: 2, inputHasAlpha: true, bgColor: { red: 255, green: 255, blue: 255 } })
}
