import { type FreightFinding, freightMax, freightNames } from '@vigia/contract/freight'
import { formatBrasiliaMoment, formatCount, formatInstantDate, formatMoney } from '@vigia/contract/text'
import { column, type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'
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
  const { valorTotal } = question.Regra ? somas.find(({ regra }) => regra === question.Regra)! : total
  const only = question.Regra === undefined ? '' : `, ${freightNames[question.Regra]}`
  const lines = [
    `Auditoria de fretes${question.Estado === 'certos' ? ': aceitas' : ''}`,
    `${about}, ${periodText(question.MesDe, question.MesAte)}${only}${question.CampoPesquisa ? `, com “${question.CampoPesquisa}”` : ''}`,
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
    await sheet.add(items)
    if (proximo === null) break
    after = proximo
  }
  return sheet.end()
}

const columns: readonly SpreadsheetColumn<FreightFinding>[] = [
  column('CT-e', 12, ({ numero }) => String(numero)),
  column('Emissão', 12, ({ emissao }) => emissao.slice(0, 10).split('-').reverse().join('/')),
  column('Transportadora', 40, ({ emitente }) => emitente),
  column('CNPJ/CPF', 18, ({ cnpjEmitente }) => cnpjEmitente),
  column('Empresa', 40, ({ empresa }) => empresa),
  column('CNPJ da empresa', 18, ({ cnpjEmpresa }) => cnpjEmpresa),
  column('Valor do CT-e', 16, ({ valor }) => valor.toFixed(2), 'money'),
  column('Divergência', 32, ({ nome }) => nome),
  column('Descrição', 90, ({ frase }) => frase),
  column('Documentos', 48, ({ documentos }) => documentos.map(({ chave }) => chave).join(' ')),
  column('Aceita por', 32, ({ certo }) =>
    certo ? `${certo.quem ?? 'alguém que não tem mais conta'}, ${formatInstantDate(certo.quando)}` : '',
  ),
  column('Chave', 48, ({ chave }) => chave),
]
