import type { Fields } from '@vigia/dfe/read'
import { cep, date, dateTime, joined, money, phone, quantity, taxId } from '@vigia/print/formats'

/** A label and its words, for people. */
export interface Fact {
  label: string
  value: string
}

/** Facts under one title, in the order of reading. */
export interface Section {
  title: string
  facts: Fact[]
}

/** A line of what was sold, carried or charged. */
export interface Item {
  number: number
  code: string
  description: string
  quantity: string
  unit: string
  unitValue: string
  /** Decimal text. */
  value: string
  /** NCM, CFOP and the like, in one line. */
  detail: string
}

/** A label with what the document states; undefined: nothing. */
export type Line = readonly [label: string, value: string | undefined]

/** The facts that the document states; what it leaves out leaves no line, and a section without facts is none. */
export function section(title: string, lines: readonly Line[]): Section[] {
  const facts = lines.flatMap(([label, value]) => (value ? [{ label, value }] : []))
  return facts.length > 0 ? [{ title, facts }] : []
}

/** R$ 1.234,56, the sign on the line of its number; what is no number as it is. */
export function reais(text: string | undefined): string | undefined {
  return signed(money(text))
}

/** The price of a unit, with the decimals that say something. */
export function unitReais(text: string | undefined): string | undefined {
  return signed(quantity(text))
}

function signed(shown: string | undefined): string | undefined {
  return shown !== undefined && /^-?[\d.]+,\d+$/.test(shown) ? `R$\u00a0${shown}` : shown
}

/** An amount that says something: not zero. */
export function notZero(text: string | undefined): string | undefined {
  return text !== undefined && /[1-9]/.test(text) ? reais(text) : undefined
}

/** A quantity without zeros that say nothing. */
export function amountOf(text: string | undefined): string | undefined {
  return quantity(text)?.replace(/,00$/, '')
}

/** dd/MM/aaaa HH:mm as the document writes it, in its own time zone. */
export function moment(text: string | undefined): string | undefined {
  return dateTime(text)?.replace(/(\d\d:\d\d):\d\d$/, '$1')
}

/** The number of a document, 1.234. */
export function numberText(number: number): string {
  return number.toLocaleString('pt-BR')
}

/** The digits of a number as `numberText`; what is no number as it is. */
export function digitsText(text: string | undefined): string | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? numberText(Number(text)) : text
}

/** Somebody with his address, as far as the document tells. */
export function partyLines(party: Fields): Line[] {
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

/** The fatura, and number, due date and amount of each duplicata. */
export function billLines(fat: Fields, dup: readonly Fields[]): Line[] {
  return [
    ['Fatura', fat.nFat],
    ['Valor original', reais(fat.vOrig)],
    ['Desconto da fatura', notZero(fat.vDesc)],
    ['Valor líquido', reais(fat.vLiq)],
    ...dup.map(
      ({ nDup, dVenc, vDup }, index): Line => [
        `Duplicata ${nDup ?? index + 1}`,
        joined(', ', dVenc && `vence em ${date(dVenc)}`, reais(vDup)),
      ],
    ),
  ]
}

/** Number and moment of the authorisation. */
export function protocolText({ nProt, dhRecbto }: Fields): string | undefined {
  return joined(', ', nProt, moment(dhRecbto))
}
