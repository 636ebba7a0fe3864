import { tag } from '@vigia/xml/write'
import type { Taxpayer } from './cast.ts'
import { group, textElement } from './elements.ts'
import { fixed, money, rateText, share, split } from './money.ts'
import { icmsRate } from './places.ts'
import type { SoldProduct } from './products.ts'
import { createRandom, type Random } from './random.ts'

/** The amounts of one item, in cents. */
export interface GeneratedItem {
  xml: string
  vProd: number
  vFrete: number
  vDesc: number
  vBC: number
  vICMS: number
  vBCST: number
  vST: number
  vIPI: number
  vPIS: number
  vCOFINS: number
  vBCIBSCBS: number
  vIBSUF: number
  vCBS: number
}

const pisRate = 16_500
const cofinsRate = 76_000
// Test year of the reform: IBS 0.1 % (state part only), CBS 0.9 %.
const ibsRate = 1_000
const cbsRate = 9_000
// Margin on which the ICMS of the following sales is collected in advance.
const mvaRate = 405_000

/** A product in a sale. */
export interface SoldLine {
  product: SoldProduct
  quantity: number
  /** In cents. */
  price: number
}

interface ItemLine extends SoldLine {
  vProd: number
  vFrete: number
  vDesc: number
}

interface Sale {
  issuer: Taxpayer
  recipient: Taxpayer
  xPed?: string
  withReform: boolean
}

/** The items of one sale, given or so many made up; freight and discount are shared out over them and add up. */
export function buildItems(
  random: Random,
  sale: Sale & { lines: number | readonly SoldLine[]; vFrete: number; discountRate: number },
): GeneratedItem[] {
  const sold =
    typeof sale.lines === 'number' ? Array.from({ length: sale.lines }, () => madeUp(random, sale.issuer)) : sale.lines
  const lines = sold.map((line) => ({ ...line, vProd: Math.round(line.quantity * line.price) }))
  const weights = lines.map((line) => line.vProd)
  const freights = split(sale.vFrete, weights)
  return lines.map((line, index) => {
    const vDesc = share(line.vProd, sale.discountRate)
    return buildItem(random, sale, { ...line, vFrete: freights[index] ?? 0, vDesc }, index + 1)
  })
}

function madeUp(random: Random, { segment }: Taxpayer): SoldLine {
  const product = random.pick(segment.products)
  const quantity = random.integer(...product.quantity)
  return { product, quantity, price: random.integer(...product.price) }
}

function buildItem(random: Random, sale: Sale, line: ItemLine, nItem: number): GeneratedItem {
  const { issuer, recipient } = sale
  const { product, vProd, vFrete, vDesc } = line
  const taxes = issuer.crt === '3' ? normalTaxes(sale, line) : simplesTaxes(issuer, line)
  const inside = issuer.place.uf === recipient.place.uf
  const quantity = fixed(Math.round(line.quantity * 10_000), 4)
  const price = fixed(line.price * 100_000_000, 10)
  const xml = tag(
    'det',
    { nItem: String(nItem) },
    group(
      'prod',
      textElement('cProd', product.code ?? `${product.NCM.slice(0, 4)}-${random.digits(4)}`),
      textElement('cEAN', 'SEM GTIN'),
      textElement('xProd', product.xProd),
      textElement('NCM', product.NCM),
      product.st ? textElement('CEST', `0100${random.digits(3)}`) : '',
      textElement('CFOP', cfop(product, inside)),
      textElement('uCom', product.unit),
      textElement('qCom', quantity),
      textElement('vUnCom', price),
      textElement('vProd', money(vProd)),
      textElement('cEANTrib', 'SEM GTIN'),
      textElement('uTrib', product.unit),
      textElement('qTrib', quantity),
      textElement('vUnTrib', price),
      vFrete > 0 && textElement('vFrete', money(vFrete)),
      vDesc > 0 && textElement('vDesc', money(vDesc)),
      textElement('indTot', '1'),
      textElement('xPed', sale.xPed),
    ),
    group('imposto', taxes.xml),
    random.chance(0.1) && textElement('infAdProd', `LOTE ${random.digits(6)} - CONFERIR NO ATO DO RECEBIMENTO`),
  )
  return { ...taxes, xml, vProd, vFrete, vDesc }
}

function cfop(product: SoldProduct, inside: boolean): string {
  if (product.st) return inside ? '5405' : '6403'
  return inside ? '5102' : '6102'
}

type Taxes = Omit<GeneratedItem, 'vProd' | 'vFrete' | 'vDesc'>

function normalTaxes({ issuer, recipient, withReform }: Sale, line: ItemLine): Taxes {
  const inside = issuer.place.uf === recipient.place.uf
  const value = line.vProd + line.vFrete - line.vDesc
  const vIPI = share(value, issuer.segment.ipi)
  const icms = icmsOf(line.product, value, vIPI, issuer.place.uf, recipient.place.uf, inside)
  const vBCPIS = value - icms.vICMS
  const vPIS = share(vBCPIS, pisRate)
  const vCOFINS = share(vBCPIS, cofinsRate)
  const vBCIBSCBS = value - icms.vICMS - vPIS - vCOFINS
  const vIBSUF = share(vBCIBSCBS, ibsRate)
  const vCBS = share(vBCIBSCBS, cbsRate)
  const xml = [
    group('ICMS', icms.xml),
    issuer.segment.ipi > 0 &&
      group(
        'IPI',
        textElement('cEnq', '999'),
        group(
          'IPITrib',
          textElement('CST', '50'),
          textElement('vBC', money(value)),
          textElement('pIPI', rateText(issuer.segment.ipi)),
          textElement('vIPI', money(vIPI)),
        ),
      ),
    group('PIS', aliquot('PIS', vBCPIS, pisRate, vPIS)),
    group('COFINS', aliquot('COFINS', vBCPIS, cofinsRate, vCOFINS)),
    withReform && ibsCbs(vBCIBSCBS, vIBSUF, vCBS),
  ]
  const { vBC, vICMS, vBCST, vST } = icms
  return { xml: xml.filter(Boolean).join(''), vBC, vICMS, vBCST, vST, vIPI, vPIS, vCOFINS, vBCIBSCBS, vIBSUF, vCBS }
}

function icmsOf(product: SoldProduct, value: number, vIPI: number, from: string, to: string, inside: boolean) {
  const none = { vBC: 0, vICMS: 0, vBCST: 0, vST: 0 }
  if (product.st && inside) {
    return { ...none, xml: group('ICMS60', textElement('orig', '0'), textElement('CST', '60')) }
  }
  const rate = icmsRate(from, to)
  const vICMS = share(value, rate)
  const own = [
    textElement('modBC', '3'),
    textElement('vBC', money(value)),
    textElement('pICMS', rateText(rate)),
    textElement('vICMS', money(vICMS)),
  ]
  if (!product.st) {
    const xml = group('ICMS00', textElement('orig', '0'), textElement('CST', '00'), ...own)
    return { vBC: value, vICMS, vBCST: 0, vST: 0, xml }
  }
  const inner = icmsRate(to, to)
  const vBCST = value + vIPI + share(value + vIPI, mvaRate)
  const vST = share(vBCST, inner) - vICMS
  const advance = [
    textElement('modBCST', '4'),
    textElement('pMVAST', rateText(mvaRate)),
    textElement('vBCST', money(vBCST)),
    textElement('pICMSST', rateText(inner)),
    textElement('vICMSST', money(vST)),
  ]
  const xml = group('ICMS10', textElement('orig', '0'), textElement('CST', '10'), ...own, ...advance)
  return { vBC: value, vICMS, vBCST, vST, xml }
}

function simplesTaxes({ cnpj }: Taxpayer, { product, vProd, vFrete, vDesc }: ItemLine): Taxes {
  // One seller gives the same credit in each note.
  const random = createRandom(`simples:${cnpj}`)
  const rate = random.pick([12_500, 18_600, 25_600])
  const credit = [
    textElement('pCredSN', rateText(rate)),
    textElement('vCredICMSSN', money(share(vProd + vFrete - vDesc, rate))),
  ]
  const icms = product.st
    ? group('ICMSSN500', textElement('orig', '0'), textElement('CSOSN', '500'))
    : random.chance(0.5)
      ? group('ICMSSN101', textElement('orig', '0'), textElement('CSOSN', '101'), ...credit)
      : group('ICMSSN102', textElement('orig', '0'), textElement('CSOSN', '102'))
  const other = (name: string) =>
    group(
      name,
      group(
        `${name}Outr`,
        textElement('CST', '49'),
        textElement('vBC', '0.00'),
        textElement(`p${name}`, '0.00'),
        textElement(`v${name}`, '0.00'),
      ),
    )
  const zero = { vBC: 0, vICMS: 0, vBCST: 0, vST: 0, vIPI: 0, vPIS: 0, vCOFINS: 0, vBCIBSCBS: 0, vIBSUF: 0, vCBS: 0 }
  return { ...zero, xml: group('ICMS', icms) + other('PIS') + other('COFINS') }
}

function aliquot(name: 'PIS' | 'COFINS', vBC: number, rate: number, value: number): string {
  return group(
    `${name}Aliq`,
    textElement('CST', '01'),
    textElement('vBC', money(vBC)),
    textElement(`p${name}`, rateText(rate)),
    textElement(`v${name}`, money(value)),
  )
}

/** The group IBSCBS of a fully taxed operation in the test year, equal for NF-e and CT-e. */
export function ibsCbs(vBC: number, vIBSUF: number, vCBS: number): string {
  return group(
    'IBSCBS',
    textElement('CST', '000'),
    textElement('cClassTrib', '000001'),
    group(
      'gIBSCBS',
      textElement('vBC', money(vBC)),
      group('gIBSUF', textElement('pIBSUF', rateText(ibsRate, 4)), textElement('vIBSUF', money(vIBSUF))),
      group('gIBSMun', textElement('pIBSMun', '0.0000'), textElement('vIBSMun', '0.00')),
      textElement('vIBS', money(vIBSUF)),
      group('gCBS', textElement('pCBS', rateText(cbsRate, 4)), textElement('vCBS', money(vCBS))),
    ),
  )
}

/** IBS and CBS of a base, in cents. */
export function ibsCbsOf(vBC: number): { vIBSUF: number; vCBS: number } {
  return { vIBSUF: share(vBC, ibsRate), vCBS: share(vBC, cbsRate) }
}
