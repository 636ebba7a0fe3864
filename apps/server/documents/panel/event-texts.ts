import { testYears } from '@vigia/checks/reform/tables'
import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { eventKind, parseKey } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { date, joined } from '@vigia/print/formats'
import { amountText, reais } from './texts.ts'

/** Sentences about events of the reform that need no code (NT 2025.002, events; NT 2026.006). */
const sentences: Record<number, (detail: XmlElement) => string | undefined> = {
  110001: (detail) => {
    const code = Number(value(detail, 'tpEventoAut'))
    const name = eventKind(nfe.id, code)?.description ?? `evento ${value(detail, 'tpEventoAut') ?? 'sem código'}`
    return `Desfaz “${name}”, protocolo ${value(detail, 'nProtEvento') ?? 'não informado'}.`
  },
  110300: (detail) => {
    const transaction = value(detail, 'idTransacao') ?? value(child(detail, 'gPagamento'), 'idTransacao')
    return `Um pagamento foi vinculado à nota${transaction ? `: transação ${transaction}` : ''}.`
  },
  112110: () =>
    'O emitente informou que a nota está paga por inteiro; disso depende o crédito presumido do adquirente.',
  112120: () => 'Itens importados em ALC ou ZFM cuja suspensão não se converteu em isenção.',
  112130: () => 'Itens perdidos, perecidos ou roubados no transporte que o fornecedor contratou.',
  112140: () => 'Itens pagos antes e não fornecidos.',
  112150: (detail) => `A entrega passou a ser prevista para ${date(value(detail, 'dPrevEntrega')) ?? 'outra data'}.`,
  211110: () => 'Pedido de crédito presumido.',
  211120: () => 'Itens destinados ao consumo pessoal. Este evento deixou de existir na NT 2025.002 v1.40.',
  211124: () => 'Itens perdidos, perecidos ou roubados no transporte que o adquirente contratou.',
  211128: (detail) => `O destinatário ${accepted(detail)} o débito desta nota de crédito na apuração dele.`,
  211130: () => 'Itens que passaram ao ativo imobilizado.',
  211140: () => 'Pedido de crédito de combustível.',
  211150: () => 'Pedido de crédito de bens e serviços que dependem da atividade do adquirente.',
  212110: (detail) => `A sucessora ${accepted(detail)} a transferência de crédito de IBS.`,
  212120: (detail) => `A sucessora ${accepted(detail)} a transferência de crédito de CBS.`,
  412120: (detail) => `O Fisco ${granted(detail)} a transferência de crédito de IBS.${motive(detail)}`,
  412130: (detail) => `O Fisco ${granted(detail)} a transferência de crédito de CBS.${motive(detail)}`,
}

/** The codes of events whose files say more than their names. */
export const toldEvents: readonly number[] = Object.keys(sentences).map(Number)

// Limit for a history, because an event may have 990 lines; the XML has them all.
const itemsShown = 20

/** The text of an event of the reform, with its items and values; null of any other, and of one that cannot be read. */
export function eventText(xml: Uint8Array): string | null {
  let infEvento: XmlElement | undefined
  try {
    infEvento = child(openDocument(xml), 'evento/infEvento')
  } catch {
    return null
  }
  const detail = child(infEvento, 'detEvento')
  const sentence = detail && sentences[Number(value(infEvento, 'tpEvento'))]?.(detail)
  if (!detail || !sentence) return null
  const items = detail.children.filter(({ attributes }) => attributes.nItem !== undefined)
  const lines = items.slice(0, itemsShown).flatMap((item) => itemText(item) ?? [])
  const more = items.length - itemsShown
  return [
    sentence,
    ...lines,
    ...(more > 0 ? [`E mais ${more} itens, que o XML do evento traz.`] : []),
    ...(lines.some((line) => line.includes('R$')) || ofCredit.has(value(infEvento, 'tpEvento') ?? '')
      ? noticeOf(value(infEvento, 'chNFe'))
      : []),
  ].join('\n')
}

// About credit, without amounts.
const ofCredit = new Set(['112110'])

// The values are those of the note: its year counts, not that of the event.
const noticeOf = (chave = ''): string[] => {
  const notice = testYears.get(parseKey(chave)?.month.slice(0, 4) ?? '')
  return notice === undefined ? [] : [notice]
}

function itemText(item: XmlElement): string | undefined {
  const stock = child(item, 'gControleEstoque')
  const quantity = stock?.children.find(({ name }) => /^q[A-Za-z]/.test(name))
  const unit = stock?.children.find(({ name }) => /^u[A-Z]|^unidade$/.test(name))
  const taken = taxes(stock, 'vIBS', 'vCBS')
  return joined(
    ': ',
    `Item ${item.attributes.nItem!.slice(0, 3)}`,
    joined(
      ', ',
      taxes(item, 'vIBS', 'vCBS'),
      taxes(item, 'vCredIBS', 'vCredCBS'),
      taxes(item, 'gIBS/vCredPres', 'gCBS/vCredPres'),
      taxes(item, 'gIBSCredPres/vCredPres', 'gCBSCredPres/vCredPres'),
      joined(' ', amountText(quantity?.text.trim()), unit?.text.trim().slice(0, 20)),
      taken && `crédito das aquisições a estornar ${taken}`,
    ) ?? 'sem valores',
  )
}

function taxes(group: XmlElement | undefined, ibs: string, cbs: string): string | undefined {
  const amount = (name: string, path: string) => {
    const text = reais(value(group, path))
    return text && `${name} ${text}`
  }
  return joined(', ', amount('IBS', ibs), amount('CBS', cbs))
}

const accepted = (detail: XmlElement) =>
  ({ 0: 'não aceitou', 1: 'aceitou' })[value(detail, 'indAceitacao') ?? ''] ?? 'respondeu sobre'

const granted = (detail: XmlElement) =>
  ({ 0: 'indeferiu', 1: 'deferiu' })[value(detail, 'indDeferimento') ?? ''] ?? 'respondeu sobre'

function motive(detail: XmlElement): string {
  const text =
    value(detail, 'xMotivo') ?? (value(detail, 'cMotivo') === '1' ? 'nem todas as sucessoras responderam' : undefined)
  return text === undefined ? '' : ` Motivo: ${text.slice(0, 500)}`
}
