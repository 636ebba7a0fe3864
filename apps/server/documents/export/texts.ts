import type { ExportForm } from '@vigia/contract/document-files'
import { formatCount, formatList, formatMoney } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { familyOf, statusNames } from '@vigia/dfe/families/lookup'
import { roleNames } from '@vigia/dfe/roles'
import type { z } from 'zod'
import type { Criteria, Mark } from '../list/filter.ts'

export type ExportContents = Pick<z.output<typeof ExportForm>, 'xml' | 'pdf' | 'planilha'>

export function contentsText({ xml, pdf, planilha }: ExportContents): string {
  return formatList([xml ? 'XML' : '', pdf ? 'PDF' : '', planilha ? 'planilha' : ''].filter(Boolean))
}

export function criteriaText(criteria: Criteria, company: { name: string; cnpj: string } | undefined): string {
  const { TipoDFe, CampoPesquisa: text, Status: status, TipoParticipacao: role, Marca } = criteria
  return [
    familyOf(TipoDFe).name,
    periodText(criteria),
    company && `empresa ${company.name} (${formatCnpj(company.cnpj)})`,
    status === undefined ? '' : `status ${statusNames[status] ?? status}`,
    role === undefined ? '' : `participação ${roleNames[role] ?? role}`,
    criteria.Empresas === 'ativas' ? 'só empresas ativas' : '',
    dueText(criteria),
    amountText(criteria),
    Marca ? markTexts[Marca] : '',
    text && `busca por “${text.replace(/\s+/g, ' ')}”`,
  ]
    .filter(Boolean)
    .join('; ')
}

const markTexts: Record<Mark, string> = {
  conferidas: 'só as conferidas',
  'por-conferir': 'só as que faltam conferir',
  'confirmacao-sugerida': 'só as com Confirmação sugerida',
  'desconhecimento-preparado': 'só as com Desconhecimento preparado',
  'aguardam-segunda-pessoa': 'só as que aguardam segunda pessoa',
  lancadas: 'só as lançadas',
  'por-lancar': 'só as que faltam lançar',
  entregues: 'só as entregues',
  'mudaram-depois': 'só as que mudaram depois',
  'com-observacao': 'só as que têm observação',
}

const answerTexts = { ciencia: 'da Ciência', manifestacao: 'da resposta final', desacordo: 'do desacordo' }

function dueText({ PrazoDe, PrazoAte, PrazoPara }: Criteria): string {
  if (!PrazoDe && !PrazoAte && !PrazoPara) return ''
  const [first, last] = [PrazoDe, PrazoAte].map((day) => day?.split('-').reverse().join('/'))
  const when = [...(first ? [`de ${first}`] : []), ...(last ? [`até ${last}`] : [])].join(' ') || 'aberto'
  return `prazo ${PrazoPara ? `${answerTexts[PrazoPara]} ` : ''}${when}`
}

function amountText({ ValorDe, ValorAte }: Criteria): string {
  const [from, to] = [ValorDe, ValorAte].map((amount) => amount && formatMoney(Number(amount)))
  if (from && to) return `valor de ${from} a ${to}`
  return from ? `valor a partir de ${from}` : to ? `valor até ${to}` : ''
}

function periodText({ DataDe, DataAte }: Criteria): string {
  const since = DataDe && localText(DataDe, 'T00:00:00')
  const until = DataAte && localText(DataAte, 'T23:59:59')
  if (since && until) return `emissão de ${since} a ${until}`
  if (since) return `emissão a partir de ${since}`
  return until ? `emissão até ${until}` : 'de qualquer data'
}

// The hour only where it cuts a day.
function localText(time: string, wholeDay: string): string {
  const [year, month, day] = time.slice(0, 10).split('-')
  return `${day}/${month}/${year}${time.endsWith(wholeDay) ? '' : ` ${time.slice(11)}`}`
}

export interface Tally {
  documents: number
  xml: number
  summaries: number
  pdf: number
  /** One sentence for each missing document. */
  problems: string[]
  /** One sentence for each document that does not verify. */
  doubts: string[]
}

const shownMax = 5

export function missingText({ problems, summaries }: Tally): string | null {
  const shown = problems.slice(0, shownMax)
  const more = problems.length - shown.length
  const lines = [
    ...(summaries > 0 ? [`De ${formatCount(summaries, 'nota', 'notas')} só o resumo chegou até agora.`] : []),
    ...shown,
    ...(more > 0 ? [`E mais ${formatCount(more, 'documento', 'documentos')}.`] : []),
  ]
  return lines.length > 0 ? lines.join('\n') : null
}

export function newTally(): Tally {
  return { documents: 0, xml: 0, summaries: 0, pdf: 0, problems: [], doubts: [] }
}

interface Heading {
  productName: string
  filter: string
  made: string
  contents: ExportContents
}

export function readMe({ productName, filter, made, contents }: Heading, tally: Tally): Buffer {
  const { documents, xml, summaries, pdf, problems, doubts } = tally
  const { xml: withXml, pdf: withPdf, planilha } = contents
  const withFiles = withXml || withPdf
  const lines = [
    `Documentos fiscais exportados do ${productName}`,
    '',
    `Filtro: ${filter}`,
    `Feito em ${made}`,
    `Neste arquivo: ${formatCount(documents, 'documento', 'documentos')}`,
    '',
    'O QUE ESTÁ AQUI',
    ...(withFiles
      ? ['Pastas: empresa (CNPJ) / ano e mês da emissão / NF-e ou CT-e. O nome de cada arquivo é a chave de acesso.']
      : []),
    ...(withXml
      ? [
          `- ${formatCount(xml, 'XML', 'XML')}, exatamente como a SEFAZ entregou${
            summaries > 0
              ? `; de ${formatCount(summaries, 'nota, só o resumo (…-resNFe.xml)', 'notas, só o resumo (…-resNFe.xml)')}`
              : ''
          }.`,
        ]
      : []),
    ...(withPdf ? [`- ${formatCount(pdf, 'PDF', 'PDF')} (DANFE ou DACTE).`] : []),
    ...(planilha ? ['- planilha.xlsx: uma linha por documento.'] : []),
    '',
    'O QUE FALTA',
    ...missingLines(summaries, contents, problems),
    ...(doubts.length > 0 ? ['', 'O QUE NÃO CONFERE', ...doubts.map((doubt) => `- ${doubt}`)] : []),
    '',
  ]
  return textFile(lines)
}

/** Lines as every editor of Windows, old ones too, reads them. */
export function textFile(lines: readonly string[]): Buffer {
  return Buffer.from(`\uFEFF${lines.join('\r\n')}`)
}

export function missingLines(summaries: number, { xml, pdf }: ExportContents, problems: string[]): string[] {
  const what = formatList([xml ? 'o XML completo' : '', pdf ? 'o DANFE' : ''].filter(Boolean))
  const rest =
    what && summaries > 0
      ? [
          `De ${formatCount(summaries, 'nota', 'notas')}, ${what}: só o resumo chegou até agora. A SEFAZ libera o resto depois da Ciência ou de outra manifestação, se ainda houver prazo.`,
        ]
      : []
  const all = [...rest, ...problems].map((line) => `- ${line}`)
  return all.length > 0 ? all : ['Nada.']
}

export const notMade = 'Não conseguimos montar este arquivo. Seus documentos estão seguros: peça de novo.'
