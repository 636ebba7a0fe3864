import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { dateTime, documentNumber, entryOf, joined, money, taxId } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { padding, title } from '../layout/block.ts'
import type { PrintSheet } from '../layout/sheet.ts'
import { cut, leading, paragraphs, wrap } from '../layout/text.ts'
import { roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { PrintedNfe } from './note.ts'
import { lacksProtocol } from './note.ts'
import { totalsWithoutBox } from './totals.ts'

/** Size of INFORMAÇÕES COMPLEMENTARES; the manual allows 6 points (MOC NF-e 7.0, Anexo II, 3.7). */
export const textSize = 7

const labelHeight = 9
const textWidthShare = { portrait: 0.63, landscape: 0.72 }
const step = leading(textSize)
const heading = title('DADOS ADICIONAIS')
const frame = heading.height + labelHeight + 3
// Tolerance: a height computed from lines must give the same number of lines again.
const rounding = 0.01
const continues = winAnsi('CONTINUA NA PRÓXIMA FOLHA')

/** Builds INFORMAÇÕES COMPLEMENTARES; `duplicatas` and `moved` are overflow of other blocks. */
export function additionalText(
  note: PrintedNfe,
  duplicatas: readonly string[],
  moved: readonly (string | undefined)[],
): Ansi[] {
  const { infNFe } = note
  const infAdic = child(infNFe, 'infAdic')
  const fisco = value(infAdic, 'infAdFisco')
  const issuer = value(infAdic, 'infCpl')
  const texts = [
    ...contingency(note),
    ...situation(note),
    duplicatas.length > 0 ? `FATURA / DUPLICATAS: ${duplicatas.join('; ')}` : undefined,
    ...moved,
    totalsWithoutBox(note, `${fisco ?? ''}\n${issuer ?? ''}`),
    fisco && `Interesse do fisco: ${fisco}`,
    issuer && broken(issuer),
    ...children(infAdic, 'obsCont').map((obs) => joined(': ', obs.attributes.xCampo, value(obs, 'xTexto'))),
    ...references(note),
  ]
  return texts.flatMap((text) => (text ? paragraphs(text) : []))
}

// Issuers write a semicolon for a new line, as all printers of the field read it.
function broken(text: string): string {
  const lines = text.split(';').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}

const contingencyWords: Record<string, string> = {
  2: 'DANFE em contingência - impresso em decorrência de problemas técnicos',
  4: 'DANFE impresso em contingência - EPEC regularmente recebida pela Receita Federal do Brasil',
  5: 'DANFE em contingência - impresso em decorrência de problemas técnicos',
}

function contingency({ ide }: PrintedNfe): (string | undefined)[] {
  const started = value(ide, 'dhCont')
  const reason = value(ide, 'xJust')
  return [
    entryOf(contingencyWords, value(ide, 'tpEmis')),
    started && `Entrada em contingência: ${dateTime(started)}${reason ? ` - Justificativa: ${reason}` : ''}`,
  ]
}

function situation(note: PrintedNfe): (string | undefined)[] {
  const { cancelled, denied, protocol } = note
  return [
    note.doubt && `ATENÇÃO - ${note.doubt}`,
    note.homologation ? 'NF-E EMITIDA EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL' : undefined,
    lacksProtocol(note) ? 'SEM VALOR FISCAL - SEM PROTOCOLO DE AUTORIZAÇÃO DE USO' : undefined,
    denied ? joined(' - ', 'NF-E DENEGADA', value(protocol, 'xMotivo')) : undefined,
    cancelled
      ? joined(
          ' - ',
          'NF-E CANCELADA',
          cancelled.protocol && `PROTOCOLO DE CANCELAMENTO ${cancelled.protocol}`,
          dateTime(cancelled.at),
        )
      : undefined,
  ]
}

const purposes: Record<string, string> = {
  2: 'NF-e complementar',
  3: 'NF-e de ajuste',
  4: 'Devolução/retorno de mercadoria',
  5: 'Nota de crédito',
  6: 'Nota de débito',
}

function references({ infNFe, ide }: PrintedNfe): (string | undefined)[] {
  const purpose = entryOf(purposes, value(ide, 'finNFe'))
  const compra = child(infNFe, 'compra')
  const exporta = child(infNFe, 'exporta')
  const avulsa = child(infNFe, 'avulsa')
  const advance = children(ide, 'gPagAntecipado/refNFe').map((element) => element.text.trim())
  const named = (label: string, text: string | undefined) => text && `${label}: ${text}`
  return [
    purpose && `Finalidade da emissão: ${purpose}`,
    ...children(ide, 'NFref').map(reference),
    named('NF-e de pagamento antecipado', joined(', ', ...advance)),
    joined(
      ' ',
      named('Nota de empenho', value(compra, 'xNEmp')),
      named('Pedido', value(compra, 'xPed')),
      named('Contrato', value(compra, 'xCont')),
    ),
    joined(
      ' ',
      named('UF de embarque', value(exporta, 'UFSaidaPais') ?? value(exporta, 'UFEmbarq')),
      named('Local de embarque', value(exporta, 'xLocExporta') ?? value(exporta, 'xLocEmbarq')),
      named('Local de despacho', value(exporta, 'xLocDespacho')),
    ),
    avulsa &&
      joined(
        ' ',
        named('Nota fiscal avulsa - Órgão', value(avulsa, 'xOrgao')),
        named('Agente', value(avulsa, 'xAgente')),
        named('Matrícula', value(avulsa, 'matr')),
        named('Repartição', value(avulsa, 'repEmi')),
        named('DAR', joined(' ', value(avulsa, 'nDAR'), money(value(avulsa, 'vDAR')))),
      ),
  ]
}

function reference(ref: XmlElement): string | undefined {
  const group = ref.children[0]
  if (!group) return undefined
  switch (group.name) {
    case 'refNFe':
    case 'refNFeSig':
      return `NF-e referenciada: ${group.text.trim()}`
    case 'refCTe':
      return `CT-e referenciado: ${group.text.trim()}`
    case 'refECF':
      return `Cupom fiscal referenciado: ECF ${value(group, 'nECF') ?? ''} COO ${value(group, 'nCOO') ?? ''}`
    default: {
      const id = taxId(value(group, 'CNPJ'), value(group, 'CPF'))
      const number = documentNumber(value(group, 'nNF'))
      return joined(
        ' ',
        `Nota referenciada: modelo ${value(group, 'mod') ?? ''}`,
        `série ${value(group, 'serie') ?? ''}`,
        number && `nº ${number}`,
        id && `emitente ${id}`,
        value(group, 'AAMM') && `emissão ${value(group, 'AAMM')}`,
      )
    }
  }
}

/** DADOS ADICIONAIS of the first sheet: needed lines, and the block for a height. */
interface Additional {
  /** Height with every line of the text in the box, and nothing below it. */
  wholeHeight: number
  /** The block in a given height, and the text that continues. */
  fit(height: number): { block: Block; rest: Ansi[] }
}

/** Usual height of DADOS ADICIONAIS with title; a longer text continues elsewhere. */
export function additionalHeightMin(note: PrintedNfe, qr: Block | undefined): number {
  return Math.max(note.sheet.landscape ? 62 : 92, heightBeside(note, qr))
}

// Height of RESERVADO AO FISCO, which cannot continue: the authority's message and the QR code.
function heightBeside(note: PrintedNfe, qr: Block | undefined): number {
  return Math.max(frame + fiscoLines(note, qr).length * step, qrHeight(qr))
}

function textWidth(sheet: PrintSheet): number {
  return sheet.width * textWidthShare[sheet.landscape ? 'landscape' : 'portrait']
}

function qrHeight(qr: Block | undefined): number {
  return qr ? qr.height + 18 : 0
}

// Without a text.
const blankLines = 2

/** Lays out INFORMAÇÕES COMPLEMENTARES and RESERVADO AO FISCO (MOC NF-e 7.0, Anexo II, 3.1.8 and 3.1.9). */
export function additional(note: PrintedNfe, text: readonly Ansi[], qr: Block | undefined): Additional {
  const { sheet } = note
  const width = textWidth(sheet)
  const room = width - 2 * padding
  const all = cut(text, roman, textSize, room, Number.POSITIVE_INFINITY).lines
  return {
    wholeHeight: Math.max(frame + Math.max(blankLines, all.length) * step, heightBeside(note, qr)),
    fit(height) {
      const linesMax = Math.max(1, Math.floor((height - frame) / step + rounding))
      const fits = all.length <= linesMax
      const used = fits ? { lines: all, rest: [] } : cut(text, roman, textSize, room, linesMax - 1)
      const block: Block = {
        height,
        draw(canvas, x, y) {
          heading.draw(canvas, x, y)
          const top = y + heading.height
          canvas.box(x, top, sheet.width, height - heading.height)
          canvas.line(x + width, top, x + width, y + height)
          const box = (left: number, label: string, lines: readonly Ansi[]) =>
            canvas.tagged('P', () => {
              canvas.text(left, top + 6.8, winAnsi(label), roman, 6)
              lines.forEach((line, n) => {
                canvas.text(left, top + labelHeight + 6 + n * step, line, roman, textSize)
              })
            })
          box(x + padding, 'INFORMAÇÕES COMPLEMENTARES', fits ? used.lines : [...used.lines, continues])
          box(x + width + padding, 'RESERVADO AO FISCO', fiscoLines(note, qr))
          qr?.draw(canvas, x + sheet.width - qr.height - 3, top + 3)
        },
      }
      return { block, rest: used.rest }
    },
  }
}

// Only messages of the authorisation may be printed here (MOC NF-e 7.0, Anexo II, 3.1.9).
function fiscoLines({ protocol, sheet }: PrintedNfe, qr: Block | undefined): Ansi[] {
  const width = sheet.width - textWidth(sheet) - (qr ? qr.height + 8 : 0)
  return children(protocol, 'xMsg').flatMap((message) =>
    wrap(winAnsi(message.text.trim()), roman, textSize, width - 2 * padding),
  )
}
