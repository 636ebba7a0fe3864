import { sql } from 'kysely'
import type { WithConfig } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { type ServiceCode, serviceOf } from '../platform/service.ts'
import { findOutage, outageSentence } from '../sefaz/circuit.ts'
import { findHold } from './hold.ts'
import { blocksAuthor, comesBefore, eventUrl } from './queue.ts'

interface Holdup {
  /** Not before this. */
  until: Date
  message: string
}

interface HoldupRow {
  id: bigint
  type: ServiceCode
  chave: string
  dueAt: Date
  blockedUntil: Date | null
  behindUntil: Date | null
}

const blocked =
  'A SEFAZ bloqueou por uma hora os envios deste CNPJ (consumo indevido). Enviar agora só aumentaria a espera: o evento sai sozinho depois.'
const behind = 'Na fila, depois de um evento anterior sobre o mesmo documento que ainda não teve resposta da SEFAZ.'
const isHeld =
  'Nenhuma manifestação sai até uma pessoa conferir e liberar o envio, em “Aguardam segunda pessoa”. Esta continua na fila.'
const leavesLater = 'O evento continua na fila e sai sozinho quando ele responder.'

/** Why those of these events that are not being sent now do not leave at their time, where their own rows do not say it. */
export async function findHoldups(
  ctx: WithConfig,
  workspaceId: number,
  ids: readonly bigint[],
): Promise<Map<bigint, Holdup>> {
  if (ids.length === 0) return new Map()
  const { rows } = await inCapture(ctx, ({ db }) =>
    sql<HoldupRow>`
      with blocked as materialized (
        select b.cnpj, b.type, max(b.next_at) as until from outgoing_event b where ${blocksAuthor} group by b.cnpj, b.type)
      select o.id, o.type, o.chave, greatest(o.next_at, now()) as "dueAt", b.until as "blockedUntil",
             (select max(e.next_at) from outgoing_event e where e.workspace_id = ${workspaceId} and ${comesBefore}) as "behindUntil"
        from outgoing_event o left join blocked b on b.cnpj = o.cnpj and b.type = o.type
       where o.workspace_id = ${workspaceId} and o.id = any (${ids}::bigint[]) and o.state in ('waiting', 'sending')
         and (o.lease_until is null or o.lease_until < now())`.execute(db),
  )
  const urlOfRow = ({ type, chave }: HoldupRow) => eventUrl(ctx.config, serviceOf(type), chave)
  // The end of a hold is unknown.
  const held = await findHold(ctx)
  if (held) return new Map(rows.map(({ id, dueAt }) => [id, { until: dueAt, message: `${held.why} ${isHeld}` }]))
  const outages = new Map<string, Holdup>()
  for (const url of new Set(rows.map(urlOfRow))) {
    const outage = await findOutage(ctx, url)
    if (outage) outages.set(url, { until: outage.until, message: outageSentence(outage, leavesLater) })
  }
  return new Map(
    rows.flatMap((row) => {
      const holdups = [
        outages.get(urlOfRow(row)),
        row.blockedUntil && { until: row.blockedUntil, message: blocked },
        row.behindUntil && { until: row.behindUntil, message: behind },
      ]
      const last = holdups
        .filter((holdup): holdup is Holdup => !!holdup && holdup.until > row.dueAt)
        .sort((a, b) => b.until.getTime() - a.until.getTime())[0]
      return last ? [[row.id, last]] : []
    }),
  )
}
