import type { DocumentDetail } from '@vigia/contract/documents'
import { formatInteger } from '@vigia/contract/text'
import type { Fields } from '@vigia/dfe/read'
import { cep, date, dateTime, joined, money, phone, quantity, taxId } from '@vigia/print/formats'

export type Section = DocumentDetail['secoes'][number]

/** A line of what was sold, carried or charged. */
export type PanelItem = DocumentDetail['itens'][number]

export type LabelledValue = readonly [label: string, value: string | undefined]

export function section(titulo: string, lines: readonly LabelledValue[]): Section[] {
  const campos = factsOf(lines)
  return campos.length > 0 ? [{ titulo, campos }] : []
}

export function factsOf(lines: readonly LabelledValue[]): Section['campos'] {
  return lines.flatMap(([rotulo, valor]) => (valor ? [{ rotulo, valor }] : []))
}

/** The value of an item; 0 when it is no number. */
export function valueOfItem(text: string | undefined): number {
  return /^-?\d+(\.\d+)?$/.test(text ?? '') ? Number(text) : 0
}

/** R$ 1.234,56, with a space that does not break; text that is not a number is returned unchanged. */
export function reais(text: string | undefined): string | undefined {
  return signed(money(text))
}

export function unitReais(text: string | undefined): string | undefined {
  return signed(quantity(text))
}

function signed(shown: string | undefined): string | undefined {
  return shown !== undefined && /^-?[\d.]+,\d+$/.test(shown) ? `R$\u00a0${shown}` : shown
}

/** An amount as `reais`; undefined for zero. */
export function notZero(text: string | undefined): string | undefined {
  return text !== undefined && /[1-9]/.test(text) ? reais(text) : undefined
}

export function amountText(text: string | undefined): string | undefined {
  return quantity(text)?.replace(/,00$/, '')
}

/** dd/MM/aaaa HH:mm as the document writes it, in its own time zone. */
export function moment(text: string | undefined): string | undefined {
  return dateTime(text)?.replace(/(\d\d:\d\d):\d\d$/, '$1')
}

export function numberText(number: number): string {
  return formatInteger(number)
}

/** The digits of a number as `numberText`; text that is not a number is returned unchanged. */
export function digitsText(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? numberText(Number(text)) : text
}

export function partyLines(party: Fields): LabelledValue[] {
  const street = joined(', ', party.xLgr ?? party.xEnder, party.nro)
  const address = joined(
    ', ',
    joined(' - ', street, party.xCpl),
    party.xBairro,
    joined('/', party.xMun, party.UF),
    cep(party.CEP),
    party.UF === 'EX' ? party.xPais : undefined,
  )
  return [
    ['Nome', party.xNome],
    ['Nome fantasia', party.xFant === party.xNome ? undefined : party.xFant],
    ['CNPJ ou CPF', taxId(party.CNPJ, party.CPF)],
    ['Identificação no exterior', party.idEstrangeiro],
    ['Inscrição estadual', party.IE],
    ['Endereço', address],
    ['Telefone', phone(party.fone)],
    ['E-mail', party.email],
  ]
}

export function billLines(fat: Fields, dup: readonly Fields[]): LabelledValue[] {
  return [
    ['Fatura', fat.nFat],
    ['Valor original', reais(fat.vOrig)],
    ['Desconto da fatura', notZero(fat.vDesc)],
    ['Valor líquido', reais(fat.vLiq)],
    ...dup.map(
      ({ nDup, dVenc, vDup }, index): LabelledValue => [
        `Duplicata ${nDup ?? index + 1}`,
        joined(', ', dVenc && `vence em ${date(dVenc)}`, reais(vDup)),
      ],
    ),
  ]
}

export function protocolText({ nProt, dhRecbto }: Fields): string | undefined {
  return joined(', ', nProt, moment(dhRecbto))
}
