import { type FreightFinding, freightMax, freightNames } from '@vigia/contract/freight'
import { formatBrasiliaMoment, formatCount, formatInstantDate, formatMoney } from '@vigia/contract/text'
import { type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'
import { countWaiting } from '../../documents/unread.ts'
import type { Context } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { periodText } from '../reports/reports.ts'
import { listFindings, type Question, sumFindings } from './freight.ts'

const rowsAtOnce = 500

export async function makeSheet(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  question: Question,
  about: string,
): Promise<Buffer> {
  const at = new Date()
  const { somas, total, waiting } = await readWorkspace(ctx, workspaceId, async (ctx) => ({
    ...(await sumFindings(ctx, workspaceId, question)),
    waiting: await countWaiting(ctx, workspaceId),
  }))
  const { valorTotal } = question.code ? somas.find(({ regra }) => regra === question.code)! : total
  const only = question.code === undefined ? '' : `, ${freightNames[question.code]}`
  const lines = [
    `Auditoria de fretes${question.state === 'certos' ? ': ditos certos' : ''}`,
    `${about}, ${periodText(question)}${only}${question.carrier === '' ? '' : `, com “${question.carrier}”`}`,
    `CT-e ${formatMoney(valorTotal)}, cada um uma vez. Até ${freightMax.sheet.toLocaleString('pt-BR')} linhas.`,
    ...(waiting > 0
      ? [`Ainda sem ler ou conferir: ${formatCount(waiting, 'documento', 'documentos')}. Pode haver outros achados.`]
      : []),
    `Feita em ${formatBrasiliaMoment(at)}`,
  ]
  const sheet = startSpreadsheet(lines, columns, at, 'Fretes')
  let after: string | undefined
  for (let count = 0; count < freightMax.sheet; count += rowsAtOnce) {
    const { items, proximo } = await readWorkspace(ctx, workspaceId, (ctx) =>
      listFindings(ctx, workspaceId, question, after, rowsAtOnce),
    )
    await sheet.add(items.map(cells))
    if (proximo === null) break
    after = proximo
  }
  return sheet.end()
}

const text = (title: string, width: number): SpreadsheetColumn => ({ title, width, kind: 'text' })
const columns: SpreadsheetColumn[] = [
  text('CT-e', 12),
  text('Emissão', 12),
  text('Transportadora', 40),
  text('CNPJ/CPF', 18),
  text('Empresa', 40),
  text('CNPJ da empresa', 18),
  { title: 'Valor do CT-e', width: 16, kind: 'money' },
  text('Achado', 32),
  text('O que não fecha', 90),
  text('Documentos', 48),
  text('Dito certo por', 32),
  text('Chave', 48),
]

const cells = (finding: FreightFinding): string[] => [
  String(finding.numero),
  finding.emissao.slice(0, 10).split('-').reverse().join('/'),
  finding.emitente,
  finding.cnpjEmitente,
  finding.empresa,
  finding.cnpjEmpresa,
  finding.valor.toFixed(2),
  finding.nome,
  finding.frase,
  finding.documentos.map(({ chave }) => chave).join(' '),
  finding.certo
    ? `${finding.certo.quem ?? 'alguém que não tem mais conta'}, ${formatInstantDate(finding.certo.quando)}`
    : '',
  finding.chave,
]
