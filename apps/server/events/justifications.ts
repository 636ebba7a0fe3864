import { justificationMaxOf } from '@vigia/contract/codes'
import { keptTextsMax } from '@vigia/contract/manifestation'
import { retiradaDesacordo } from '@vigia/dfe/families/cte'
import type { Answer } from '@vigia/dfe/families/family'
import { ciencia, confirmacao } from '@vigia/dfe/families/nfe'
import { cleanEventText, EventError } from '@vigia/sefaz/events'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { type Service, serviceCodes } from '../platform/service.ts'

interface Texts {
  /** With which a form begins. */
  suggestion: string | null
  kept: string[]
}

// The others tell something of each document.
const usualTexts: Readonly<Record<number, string>> = {
  [ciencia]: 'Ciência da operação informada na nota.',
  [confirmacao]: 'A operação aconteceu como está na nota.',
  [retiradaDesacordo]: 'A divergência foi resolvida com a transportadora.',
}

// A workspace that has sent nothing of a kind lately begins with the usual text.
const lookedThrough = 1_000

export async function readTexts(
  { db }: WithDatabase,
  workspaceId: number,
  service: Service,
  { choice, tpEvento }: Answer,
): Promise<Texts> {
  const { rows: kept } = await sql<{ text: string }>`
    select text from manifestation_text
     where workspace_id = ${workspaceId} and type = ${serviceCodes[service]} and choice = ${choice}
     order by text`.execute(db)
  const usual = usualTexts[tpEvento]
  return {
    suggestion: usual === undefined ? null : ((await lastSent(db, workspaceId, tpEvento)) ?? usual),
    kept: kept.map(({ text }) => text),
  }
}

async function lastSent(db: Context['db'], workspaceId: number, tpEvento: number): Promise<string | undefined> {
  const { rows } = await sql<{ justification: string }>`
    select justification
      from (select id, tp_evento, justification, requested_by from outgoing_event where workspace_id = ${workspaceId}
             order by id desc limit ${lookedThrough}) e
     where tp_evento = ${tpEvento} and justification is not null and requested_by is not null
     order by id desc limit 1`.execute(db)
  return rows[0]?.justification
}

/** Keeps a text of a workspace, or forgets it; doing it twice changes nothing. `ctx.db` is a transaction inside the workspace. */
export async function keepText(
  { db }: WithDatabase,
  workspaceId: number,
  service: Service,
  { choice }: Answer,
  { text, keep }: { text: string; keep: boolean },
): Promise<void> {
  const type = serviceCodes[service]
  if (!keep) {
    await sql`
      delete from manifestation_text
       where workspace_id = ${workspaceId} and type = ${type} and choice = ${choice} and text = ${text}`.execute(db)
    return
  }
  await sql`
    insert into manifestation_text (workspace_id, type, choice, text)
    values (${workspaceId}, ${type}, ${choice}, ${text}) on conflict do nothing`.execute(db)
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from manifestation_text
     where workspace_id = ${workspaceId} and type = ${type} and choice = ${choice}`.execute(db)
  if (rows[0]!.count > keptTextsMax)
    throw new AppError(
      'conflict',
      `Já há ${keptTextsMax} modelos para esta resposta. O texto não foi guardado; apague um modelo que não usa mais e tente de novo.`,
    )
}

// Lengths of xJust and xObs in leiauteConfRecebto, evCancCTe and evPrestDesacordo.
const [min, max] = [15, 255]

/** The text that leaves with an event, as the schemas take it; refuses what the event could not carry, with a text for the person. */
export function outgoingText({ choice, of, text }: Answer, justification: string): string | undefined {
  if (text === 'none' || text === 'corrections' || (text === 'taken' && justification.trim().length < min))
    return undefined
  const clean = cleanText(justification)
  if (text === 'taken' && clean.length < min) return undefined
  if (clean.length < min || clean.length > max) {
    const formMax = justificationMaxOf(choice)
    const ofForm = formMax < max ? ` (até ${formMax} neste formulário)` : ''
    const problem = `A justificativa ${of} precisa ter de ${min} a ${max} caracteres${ofForm}, e tem ${clean.length}.`
    throw new AppError('invalid-input', problem)
  }
  return clean
}

/** One line of the characters that the authority takes; refuses others by name. */
export function cleanText(text: string): string {
  try {
    return cleanEventText(text)
  } catch (cause) {
    if (cause instanceof EventError) throw new AppError('invalid-input', cause.message, { cause })
    throw cause
  }
}
