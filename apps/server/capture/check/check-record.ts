import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../platform/context.ts'
import type { Service } from '../../platform/service.ts'
import { queriesAnHour } from '../../sefaz/ledger.ts'

type RecordContext = Pick<Context, 'config'>

interface Checks {
  asked: number[]
  blocked?: number
}

/** When the next query for an unregistered CNPJ may leave, and whether that is because of a block. */
export interface CheckRefusal {
  at: Date
  blocked: boolean
}

/** Records that a query for an unregistered CNPJ leaves now, or returns why it must not: the authority counts it like any other. */
export async function noteCheck(ctx: RecordContext, service: Service, cnpj: string): Promise<CheckRefusal | null> {
  const { hourMs, marginMs } = ctx.config.sefaz
  const now = Date.now()
  const all = await readRecord(ctx)
  const { asked, blocked } = all[keyOf(service, cnpj)] ?? { asked: [] }
  if (blocked !== undefined) return { at: new Date(blocked + hourMs + marginMs), blocked: true }
  const first = asked.at(-queriesAnHour)
  if (first !== undefined) return { at: new Date(first + hourMs + marginMs / 5), blocked: false }
  await writeRecord(ctx, { ...all, [keyOf(service, cnpj)]: { asked: [...asked, now] } })
  return null
}

export async function noteCheckBlocked(ctx: RecordContext, service: Service, cnpj: string): Promise<void> {
  const all = await readRecord(ctx)
  const { asked } = all[keyOf(service, cnpj)] ?? { asked: [] }
  await writeRecord(ctx, { ...all, [keyOf(service, cnpj)]: { asked, blocked: Date.now() } })
}

const keyOf = (service: Service, cnpj: string) => `${service}:${cnpj}`
const fileOf = ({ config }: RecordContext) => join(config.dataDir, 'checks.json')

async function readRecord(ctx: RecordContext): Promise<Record<string, Checks>> {
  const { hourMs, marginMs } = ctx.config.sefaz
  const now = Date.now()
  const text = await readFile(fileOf(ctx), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  const rows = Object.entries(JSON.parse(text) as Record<string, Checks>).map(([key, { asked, blocked }]) => {
    const counting = asked.filter((at) => at + hourMs + marginMs / 5 > now)
    const stillBlocked = blocked !== undefined && blocked + hourMs + marginMs > now
    return [key, { asked: counting, ...(stillBlocked && { blocked }) }] as const
  })
  return Object.fromEntries(rows.filter(([, { asked, blocked }]) => asked.length > 0 || blocked !== undefined))
}

async function writeRecord(ctx: RecordContext, all: Record<string, Checks>): Promise<void> {
  const file = fileOf(ctx)
  await mkdir(ctx.config.dataDir, { recursive: true, mode: 0o700 })
  await writeFile(`${file}.new`, JSON.stringify(all), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
