import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import type { SentEvent } from './event.ts'
import { isReason } from './nfe.ts'

// The conditions of use are fixed texts of evCCeCTe, with and without accents.
const terms = [
  'A Carta de Correção é disciplinada pelo Art. 58-B do CONVÊNIO/SINIEF 06/89: Fica permitida a utilização de carta de correção, para regularização de erro ocorrido na emissão de documentos fiscais relativos à prestação de serviço de transporte, desde que o erro não esteja relacionado com: I - as variáveis que determinam o valor do imposto tais como: base de cálculo, alíquota, diferença de preço, quantidade, valor da prestação;II - a correção de dados cadastrais que implique mudança do emitente, tomador, remetente ou do destinatário;III - a data de emissão ou de saída.',
  'A Carta de Correcao e disciplinada pelo Art. 58-B do CONVENIO/SINIEF 06/89: Fica permitida a utilizacao de carta de correcao, para regularizacao de erro ocorrido na emissao de documentos fiscais relativos a prestacao de servico de transporte, desde que o erro nao esteja relacionado com: I - as variaveis que determinam o valor do imposto tais como: base de calculo, aliquota, diferenca de preco, quantidade, valor da prestacao;II - a correcao de dados cadastrais que implique mudanca do emitente, tomador, remetente ou do destinatario;III - a data de emissao ou de saida.',
]

interface CteDetail {
  group: string
  descriptions: string[]
  /** Checks the elements after descEvento, in order. */
  follows: (rest: XmlElement[]) => boolean
}

const details: Record<number, CteDetail> = {
  110111: {
    group: 'evCancCTe',
    descriptions: ['Cancelamento'],
    follows: (rest) => areLeaves(rest, ['nProt', isProtocol], ['xJust', isReason]),
  },
  110110: {
    group: 'evCCeCTe',
    descriptions: ['Carta de Correção', 'Carta de Correcao'],
    follows: (rest) => {
      const corrections = rest.slice(0, -1)
      return (
        corrections.length > 0 &&
        corrections.every(isCorrection) &&
        areLeaves(rest.slice(-1), ['xCondUso', (text) => terms.includes(text)])
      )
    },
  },
  610110: {
    group: 'evPrestDesacordo',
    descriptions: ['Prestação do Serviço em Desacordo', 'Prestacao do Servico em Desacordo'],
    follows: (rest) => areLeaves(rest, ['indDesacordoOper', (text) => text === '1'], ['xObs', isReason]),
  },
  610111: {
    group: 'evCancPrestDesacordo',
    descriptions: ['Cancelamento Prestação do Serviço em Desacordo', 'Cancelamento Prestacao do Servico em Desacordo'],
    follows: (rest) => areLeaves(rest, ['nProtEvPrestDes', isProtocol]),
  },
}

/** Whether the authorisers of the simulator know the event. */
export function isKnownEvent(tpEvento: number): boolean {
  return details[tpEvento] !== undefined
}

/** The specific group of an event, when it follows its schema of the package 4.00. */
export function readDetail({ tpEvento, detEvento }: SentEvent): XmlElement | null {
  const detail = details[tpEvento]
  const [group, ...more] = detEvento.children
  if (detail === undefined || group?.name !== detail.group || more.length > 0) return null
  if (detEvento.attributes.versaoEvento !== '4.00' || detEvento.text !== '' || group.text !== '') return null
  const [first, ...rest] = group.children
  if (first?.name !== 'descEvento' || !detail.descriptions.includes(first.text)) return null
  return detail.follows(rest) ? group : null
}

type Leaf = [name: string, test: (text: string) => boolean]

function areLeaves(elements: XmlElement[], ...leaves: Leaf[]): boolean {
  if (elements.length !== leaves.length) return false
  return leaves.every(([name, test], index) => {
    const element = elements[index]
    return element?.name === name && element.children.length === 0 && test(element.text)
  })
}

const isProtocol = (text: string) => /^[0-9]{15}$/.test(text)

function isCorrection(element: XmlElement): boolean {
  if (element.name !== 'infCorrecao') return false
  const hasLength = (most: number) => (text: string) => text.length >= 1 && text.length <= most
  const leaves: Leaf[] = [
    ['grupoAlterado', hasLength(20)],
    ['campoAlterado', hasLength(20)],
    ['valorAlterado', hasLength(500)],
  ]
  // The range of the item has a code of its own.
  if (child(element, 'nroItemAlterado') !== undefined) leaves.push(['nroItemAlterado', (text) => /^[0-9]+$/.test(text)])
  return areLeaves(element.children, ...leaves)
}

// MOC CT-e 4.00, item 13.
const uncorrectable = new Set(
  Object.entries({
    infCte: 'versao Id',
    ide: 'cUF cCT mod serie nCT tpEmis cDV tpAmb dhEmi modal',
    toma3: 'toma',
    emit: 'CNPJ IE',
    vPrest: 'vTPrest',
    Comp: 'vComp',
    vPresComp: 'vTPrest',
    compComp: 'vComp',
    infNFe: 'chave',
    ICMS00: 'CST vBC pICMS vICMS',
    ICMS20: 'CST pRedBC vBC pICMS vICMS',
    ICMS45: 'CST',
    ICMS60: 'CST vBCSTRet vICMSSTRet pICMSSTRet vCred',
    ICMS90: 'CST pRedBC vBC pICMS vICMS vCred',
    ICMSOutraUF: 'CST pRedBCOutraUF vBCOutraUF pICMSOutraUF vICMSOutraUF',
    ICMSSN: 'indSN CST',
  }).flatMap(([group, fields]) => fields.split(' ').map((field) => `${group}/${field}`)),
)

/** Checks for forbidden corrections: returns 681, 522 or 525; null if there is none. */
export function refuseCorrections(evCCeCTe: XmlElement): number | null {
  const corrections = children(evCCeCTe, 'infCorrecao')
  const fields = corrections.map((one) => [value(one, 'grupoAlterado') ?? '', value(one, 'campoAlterado') ?? ''])
  if (fields.some((names) => uncorrectable.has(names.join('/')))) return 681
  const items = corrections.flatMap((one) => value(one, 'nroItemAlterado') ?? [])
  if (items.some((item) => Number(item) < 1 || Number(item) > 99)) return 522
  return fields.flat().every((name) => /^[A-Za-z][A-Za-z0-9]*$/.test(name)) ? null : 525
}
