import type { PairDocument } from '../history.ts'
import { comparable, type ItemLine, type NamedLine } from '../items.ts'
import { dayMs, dayText, decimal, instantOf, median, numberText, reais } from '../values.ts'
import { type Finding, jaccard, type Rule, type View } from './rule.ts'

// Rules on the items of notes. Notes without stored items are never compared.

/** Cents from which a line of a note is worth a look. */
const lineMin = 10_000

export const itemRules: Rule[] = [
  {
    id: 'S26',
    name: 'CFOP não combina com o destino',
    family: 'tax',
    weight: 0.2,
    of: 'received',
    find: ({ facts: { nfe, tpNF, issuer, recipient } }) => {
      const { destination, inside } = nfe ?? {}
      const [from, to] = [issuer.uf, recipient?.uf]
      if (!destination || !inside || tpNF !== '1' || !from || !to) return null
      const place = to === 'EX' ? '7' : from === to ? '5' : '6'
      const said = { '1': '5', '2': '6', '3': '7' }[destination.idDest]
      // Goods bought in person or from a vehicle may go anywhere, or are delivered elsewhere.
      const isFree = ['1', '5'].includes(destination.indPres) || destination.elsewhere
      const wrong = Object.keys(inside.cfops).find(
        (cfop) => /^[567]/.test(cfop) && ((said !== undefined && cfop[0] !== said) || (!isFree && cfop[0] !== place)),
      )
      if (wrong === undefined) return null
      const where =
        from === to ? `de ${from} para a mesma UF` : to === 'EX' ? 'para o exterior' : `de ${from} para ${to}`
      return {
        inputs: { cfop: wrong, from, to, idDest: destination.idDest },
        sentence: `O CFOP ${wrong} não combina com uma nota ${where}${said !== undefined && said !== wrong[0] ? ` (idDest ${destination.idDest})` : ''}.`,
      }
    },
  },
  {
    id: 'S27',
    name: 'CFOP que este fornecedor nunca usou',
    family: 'tax',
    weight: 0.2,
    of: 'purchase',
    learns: true,
    find: ({ facts: { nfe }, past, value }) => {
      const known = past.filter(({ cfops }) => cfops !== undefined)
      if (nfe?.finNFe !== '1' || !nfe.inside || known.length < 5) return null
      const used = new Set(known.flatMap(({ cfops }) => cfops!.map(groupOf)))
      const [found] = Object.entries(nfe.inside.cfops)
        .filter(([cfop, own]) => !used.has(groupOf(cfop)) && own >= value / 5 && own > 0)
        .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      if (found === undefined) return null
      const [cfop, own] = found
      return {
        inputs: { cfop, value: own, n: known.length },
        weight: suspicious.has(cfop.slice(1)) ? 0.3 : 0.2,
        compared: known.slice(0, 5).map(({ chave }) => chave),
        sentence: `CFOP ${cfop} em ${reais(own)}, que nenhuma das ${known.length} notas anteriores deste fornecedor trouxe.`,
      }
    },
  },
  {
    id: 'S28',
    name: 'Mercadoria que a empresa nunca comprou',
    family: 'value',
    weight: 0.25,
    of: 'purchase',
    learns: true,
    find: ({ facts: { nfe }, past, history: { bought, thresholds } }) => {
      if (!nfe?.inside || !bought.known || thresholds.p75 === null) return null
      const sold = new Set(past.flatMap(({ chapters }) => chapters ?? []))
      const [found] = Object.entries(nfe.inside.chapters)
        .filter(([chapter, own]) => !bought.chapters.has(chapter) && !sold.has(chapter) && own >= thresholds.p75!)
        .sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      if (found === undefined) return null
      const [chapter, own] = found
      const line = nfe.inside.lines.find(({ ncm }) => ncm.startsWith(chapter))
      return {
        inputs: { chapter, value: own, months: 24 },
        sentence: `${reais(own)} em produtos do capítulo ${chapter} da NCM${line ? ` (${line.name})` : ''}, de que a empresa não comprou nada em 24 meses.`,
      }
    },
  },
  {
    id: 'S29',
    name: 'Preço mudou de repente',
    family: 'value',
    weight: 0.3,
    of: 'purchase',
    find: (view) => {
      const jumps = linesOf(view).flatMap((line) => priceJump(line, view.past) ?? [])
      const [first] = jumps.sort((a, b) => b.weight - a.weight || b.excess - a.excess)
      if (first === undefined) return null
      const { line, price, usual, ratio, weight, before } = first
      return {
        inputs: { product: line.product, price, median: usual, n: before.length, products: jumps.length },
        weight,
        compared: before.map(({ chave }) => chave),
        sentence: `${line.name}: o preço foi de ${unitPrice(usual)} (mediana das últimas ${before.length} compras) a ${unitPrice(price)}, ${ratio > 1 ? `${decimal((ratio - 1) * 100)}% a mais` : `${decimal((1 - ratio) * 100)}% a menos`}${others(jumps.length)}.`,
      }
    },
  },
  {
    id: 'S30',
    name: 'Quantidade fora do comum',
    family: 'value',
    weight: 0.2,
    of: 'purchase',
    find: (view) => {
      const found = linesOf(view).flatMap((line) => {
        const before = sameProduct(line, view.year).filter(
          ({ other }) => other.unit === line.unit && other.quantity > 0,
        )
        const most = Math.max(...before.map(({ other }) => other.quantity))
        return before.length >= 5 && line.quantity > 5 * most ? { line, most, before } : []
      })
      const [first] = found.sort((a, b) => b.line.value - a.line.value)
      if (first === undefined) return null
      const { line, most, before } = first
      return {
        inputs: { product: line.product, quantity: line.quantity, max: most, n: before.length },
        compared: before.slice(0, 5).map(({ chave }) => chave),
        sentence: `${line.name}: ${decimal(line.quantity)} ${line.unit}, ${decimal(line.quantity / most)}× a maior das ${before.length} compras de 12 meses (${decimal(most)} ${line.unit})${others(found.length)}.`,
      }
    },
  },
  {
    id: 'S31',
    name: 'Tributação do produto mudou',
    family: 'tax',
    weight: 0.2,
    of: 'purchase',
    find: (view) => {
      const found = linesOf(view).flatMap((line) => taxChange(line, view) ?? [])
      const [first] = found.sort((a, b) => b.line.value - a.line.value)
      if (first === undefined) return null
      const { line, usual, before } = first
      const credit = Math.round((line.value * rateOf(usual)) / 100)
      return {
        inputs: { ncm: line.ncm, tax: line.tax, usual, vICMS: line.vICMS, credit },
        compared: before.map(({ chave }) => chave),
        sentence: `${line.name} (NCM ${line.ncm}): ${taxText(line.tax)}, e nas últimas ${before.length} notas ${taxText(usual)}. O ICMS destacado é de ${reais(line.vICMS)}; pela tributação de antes seria de cerca de ${reais(credit)}.`,
      }
    },
  },
  {
    id: 'S47',
    name: 'Mesmos itens de dois fornecedores',
    family: 'value',
    weight: 0.45,
    of: 'purchase',
    find: ({ facts, history, settings, value, at, issuerBase }): Finding | null => {
      const group = settings.groups.find((bases) => bases.includes(issuerBase)) ?? []
      const twin = history.twins.find(
        (one) => !group.includes(one.issuerBase) && facts.nfe && jaccard(facts.nfe.items, one.items) >= 0.9,
      )
      if (twin === undefined) return null
      const days = Math.round((at - instantOf(twin.issuedAt)) / dayMs)
      return {
        inputs: { value, issuerBase: twin.issuerBase, items: twin.items.length, days },
        compared: [twin.chave],
        sentence: `${twin.issuerName}, de outro CNPJ, vendeu os mesmos itens por quase o mesmo valor na nota ${numberText(twin.chave)} de ${dayText(twin.issuedAt)}.`,
      }
    },
  },
]

// Sales are one kind, of own production or merchandise, with or without substitution of ICMS.
const sale = /^[567](?:10[1-9]|11[0-9]|12[0-3]|40[1-5])$/
const groupOf = (cfop: string) => (sale.test(cfop) ? 'venda' : cfop.slice(1))
// Gifts, other outgoing goods, orders for account and future delivery.
const suspicious = new Set(['910', '922', '923', '949'])

function linesOf({ facts: { nfe } }: View): NamedLine[] {
  return nfe?.finNFe === '1' ? (nfe.inside?.lines ?? []).filter(({ value }) => value >= lineMin) : []
}

// Earlier purchases of a product, newest first, without returns, gifts and price complements.
function sameProduct(line: ItemLine, past: readonly PairDocument[]): { chave: string; other: ItemLine }[] {
  return past.flatMap((one) =>
    isOther(one)
      ? []
      : (one.lines ?? []).flatMap((other) => (other.product === line.product ? { chave: one.chave, other } : [])),
  )
}

function priceJump(line: NamedLine, past: readonly PairDocument[]) {
  const before = sameProduct(line, past)
    .flatMap(({ chave, other }) => {
      const prices = comparable(line, other)
      return prices ? { chave, price: prices[0], earlier: prices[1] } : []
    })
    .slice(0, 6)
  if (before.length < 3) return null
  const earlier = before.map((one) => one.earlier)
  const { price } = before[0]!
  // All of one unit: the newest that can be compared says which.
  if (before.some((one) => one.price !== price)) return null
  const usual = median(earlier)
  const ratio = price / usual
  // Prices that go up and down by themselves tell nothing.
  const [least, most] = [Math.min(...earlier), Math.max(...earlier)]
  const isOut = price > 1.1 * most || price < least / 1.1
  const weight = ratio >= 1.6 ? 0.3 : ratio >= 1.25 || ratio <= 0.5 ? 0.15 : null
  return isOut && weight !== null
    ? { line, price, usual, ratio, weight, before, excess: line.value * Math.abs(1 - 1 / ratio) }
    : null
}

function taxChange(line: NamedLine, { facts, past }: View) {
  const { crt, uf } = facts.issuer
  if (line.ncm === '' || line.tax === '' || !uf || !facts.recipient?.uf) return null
  const before = past
    .filter((one) => one.to === facts.recipient?.uf && one.issuer.uf === uf && !isOther(one))
    .flatMap(({ chave, issuer, lines = [] }) => {
      const taxes = lines.filter(({ ncm }) => ncm === line.ncm).map(({ tax }) => tax)
      return taxes.length > 0 ? { chave, crt: issuer.crt, taxes } : []
    })
    .slice(0, 5)
  const [last] = before
  // Joining or leaving the Simples changes all taxes of an issuer.
  if (before.length < 5 || last === undefined || last.crt !== crt) return null
  // A law that moves the rate by little moves it for everybody.
  const isNear = (tax: string) =>
    tax.split(' ')[0] === line.tax.split(' ')[0] && Math.abs(rateOf(tax) - rateOf(line.tax)) <= 3
  return before.some(({ taxes }) => taxes.some(isNear)) || isReturn(facts.nfe?.inside?.cfops)
    ? null
    : { line, usual: last.taxes[0]!, before }
}

// Returns, shipments and the like have taxes of their own.
const isOther = ({ cfops }: PairDocument) => cfops?.every((cfop) => sale.test(cfop)) !== true
const isReturn = (cfops: Record<string, number> = {}) => !Object.keys(cfops).every((cfop) => sale.test(cfop))

const rateOf = (tax: string) => Number(tax.split(' ')[1] ?? 0)

function taxText(tax: string): string {
  const [code = '', rate] = tax.split(' ')
  return `${code.length === 3 ? 'CSOSN' : 'CST'} ${code}${rate ? ` com ICMS de ${decimal(Number(rate))}%` : ''}`
}

const unitPrice = (price: number) =>
  `R$ ${price.toLocaleString('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`
const others = (count: number) => (count > 1 ? `; e mais ${count === 2 ? '1 produto' : `${count - 1} produtos`}` : '')
