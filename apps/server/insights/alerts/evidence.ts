import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { bandNames } from '@vigia/contract/alerts'
import { formatBrasiliaMoment, formatMoney } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { type Entry, zip } from '../../documents/export/archive.ts'
import { readInBatches } from '../../documents/export/rows.ts'
import { eventId, xmlName } from '../../documents/files.ts'
import { getDetails } from '../../documents/panel/details.ts'
import { noteRead } from '../../documents/reads.ts'
import { openReceived } from '../../documents/received/bytes.ts'
import { receivedContent } from '../../documents/received/column.ts'
import { readSent } from '../../events/history.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { Caller, Session } from '../../platform/http/session.ts'
import { findAlert } from './list.ts'
import { stateNames } from './states.ts'

// Why a document looks wrong, as files that can be handed on: what the person sees on the screen, and the bytes behind it.

// Documents that the rules compared, and events of one document.
const comparedMax = 40
const eventsMax = 200

type Found = NonNullable<Awaited<ReturnType<typeof findAlert>>>
type Details = Awaited<ReturnType<typeof getDetails>>

/** The evidence of an alert as a ZIP that is made while it is read: only what the person may see of it. Refuses alerts that are not there, and too many. */
export async function openEvidence(
  ctx: Pick<Context, 'db' | 'ids' | 'log'>,
  session: Session,
  caller: Pick<Caller, 'isHead'>,
  id: bigint | null,
): Promise<{ content: Readable; fileName: string }> {
  const { workspaceId } = session
  const alert = id === null ? null : await readWorkspace(ctx, workspaceId, (ctx) => findAlert(ctx, workspaceId, id))
  if (id === null || alert === null) throw new AppError('not-found', 'Não há alerta deste documento.')
  const details = await getDetails(ctx, session, alert.idDFe, readSent)
  await noteRead(ctx, session, caller, `Baixou as evidências do alerta do documento ${alert.chave}.`)
  const content = zip((abandoned) => entriesOf(ctx, session, { id, alert, details, abandoned }))
  return { content, fileName: `evidencias-${alert.chave}.zip` }
}

interface Task {
  id: bigint
  alert: Found
  details: Details
  abandoned: AbortSignal
}

async function* entriesOf(
  ctx: Pick<Context, 'db' | 'ids'>,
  { workspaceId, accountName }: Session,
  { id, alert, details, abandoned }: Task,
): AsyncGenerator<Entry> {
  const at = new Date()
  const sums: string[] = []
  const file = (name: string, content: Uint8Array): Entry => {
    sums.push(`${createHash('sha256').update(content).digest('hex')}  ${name}`)
    return { name, content, at }
  }
  const made = `Feito por ${accountName} em ${formatBrasiliaMoment(at)}.`
  yield file('alerta.txt', Buffer.from(textOf(alert, details, made)))
  yield file(
    'alerta.json',
    Buffer.from(`${JSON.stringify({ ...alert, linhaDoTempo: timeline(alert, details) }, null, 2)}\n`),
  )
  const compared = alert.motivos.flatMap(({ comparados }) => comparados.flatMap(({ idDFe }) => idDFe ?? []))
  const others = [...new Set(compared)].slice(0, comparedMax).flatMap((one) => ctx.ids.decode(workspaceId, one) ?? [])
  // One after the other: however large they are, one of them is in memory.
  for (const one of [id, ...others.filter((other) => other !== id)])
    for await (const rows of readInBatches(ctx, workspaceId, { ids: [one] }, { withContent: true, abandoned }))
      for (const row of rows) {
        const folder = one === id ? 'documento' : `comparados/${row.chave}`
        if (row.content) yield file(`${folder}/${xmlName(row)}`, openReceived(row.content))
        for (const event of await readEvents(ctx, workspaceId, row))
          yield file(`${folder}/eventos/${eventId(event)}.xml`, openReceived(event.content))
      }
  yield { name: 'sha256.txt', content: Buffer.from(`${sums.join('\n')}\n`), at }
}

async function readEvents(
  ctx: WithDatabase,
  workspaceId: number,
  { company_id, chave }: { company_id: number; chave: string },
) {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ tp_evento: number; sequence: number; orgao: number; content: Buffer }>`
      select e.tp_evento, e.sequence, e.orgao, ${receivedContent(workspaceId, 'r')} as content
        from document_event e
        join receipt r on r.workspace_id = e.workspace_id and r.company_id = e.company_id and r.service = e.type and r.nsu = e.nsu
       where e.workspace_id = ${workspaceId} and e.company_id = ${company_id} and e.chave = ${chave}
       order by e.registered_at, e.tp_evento, e.sequence limit ${eventsMax}`.execute(db),
  )
  return rows
}

function timeline(alert: Found, { historico }: Details): { quando: string; oQue: string; quem: string }[] {
  const us = 'Vigia Fiscal'
  return [
    ...historico.map(({ quando, descricao, autor, texto }) => ({
      quando,
      oQue: texto ? `${descricao}: ${texto}` : descricao,
      quem: autor,
    })),
    ...alert.anteriores.map(({ quando, faixa, regras }) => ({
      quando,
      oQue: `Avaliado: ${bandNames[faixa]} (${regras.join(', ')})`,
      quem: us,
    })),
    { quando: alert.avaliadoEm, oQue: `Avaliado: ${bandNames[alert.faixa]}`, quem: us },
    ...(alert.decisao
      ? [
          {
            quando: alert.decisao.quando,
            oQue: `Estado do alerta: ${stateNames[alert.estado]}`,
            quem: alert.decisao.quem ?? 'alguém que não tem mais conta',
          },
        ]
      : []),
  ].sort((a, b) => (a.quando < b.quando ? -1 : 1))
}

function textOf(alert: Found, details: Details, made: string): string {
  const reasons = alert.motivos.map(({ regra, nome, frase, comparados, emAprendizado }) =>
    [
      `- ${frase}`,
      `  Regra ${regra}, ${nome}${emAprendizado ? '; em aprendizado' : ''}.`,
      ...comparados.map(
        ({ chave, valor }) => `  Comparado com ${chave}${valor === null ? '' : `, ${formatMoney(valor)}`}`,
      ),
    ].join('\n'),
  )
  const happened = timeline(alert, details).map(
    ({ quando, oQue, quem }) => `${formatBrasiliaMoment(new Date(quando))}  ${oQue} (${quem})`,
  )
  return [
    `EVIDÊNCIAS DE UM ALERTA`,
    made,
    '',
    `Documento: ${familyOf(alert.tipoDFe).name} ${alert.numero}, chave ${alert.chave}`,
    `Emitente: ${alert.emitente} (${alert.cnpjEmitente})`,
    `Empresa: ${alert.empresa}`,
    `Valor: ${formatMoney(alert.valor)}, emissão ${alert.emissao}`,
    `Gravidade: ${bandNames[alert.faixa]} (${Math.round(alert.score * 100)} de 100). Estado: ${stateNames[alert.estado]}.`,
    '',
    'MOTIVOS',
    ...(reasons.length > 0 ? reasons : ['Nenhum motivo agora: veja as avaliações na linha do tempo.']),
    '',
    'LINHA DO TEMPO (horário de Brasília)',
    ...happened,
    '',
    'ARQUIVOS',
    'documento/: o XML como a SEFAZ o entregou, e os eventos dele. comparados/: o mesmo dos documentos com que as regras compararam e que esta pessoa pode ver.',
    'alerta.json: os números com que cada regra decidiu (valores em centavos). sha256.txt: a soma de cada arquivo.',
    'Um alerta não acusa ninguém: diz o que é incomum, e por quê.',
    '',
  ].join('\r\n')
}
