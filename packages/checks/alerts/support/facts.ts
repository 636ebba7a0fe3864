import { chaveCheckDigit } from '@vigia/dfe/chave'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { AlertCompany, AlertFacts, CteFacts, NfeFacts } from '../facts.ts'
import type { NamedLine, NfeItems } from '../items.ts'

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** A CNPJ with right check digits of a number below a hundred million. */
export function cnpjOf(base: number, branch = 1): string {
  const first = String(base).padStart(8, '0') + String(branch).padStart(4, '0')
  return first + cnpjCheckDigits(first)
}

/** A supplier as documents name it. */
export interface Supplier {
  taxId: string
  name: string
  ie: string
  uf: string
  cUF: number
  /** Keys, as of `contactsOf`. */
  contacts?: string[]
}

export function supplierOf(base: number, name: string, of: Partial<Supplier> = {}): Supplier {
  return { taxId: cnpjOf(base), name, ie: String(100_000_000 + base), uf: 'SC', cUF: 42, ...of }
}

export function companyOf(base: number, name: string): AlertCompany {
  const taxId = cnpjOf(base)
  const establishment = { taxId, names: [name], ies: ['250.123.456'], uf: 'SC' }
  return { base: taxId.slice(0, 8), tpAmb: '1', establishments: [establishment], captures: { nfe: true, cte: true } }
}

interface Wanted {
  company: AlertCompany
  issuer: Supplier
  /** `2026-05-10T14:00:00`, at -03:00. */
  at: string
  /** Reais. */
  amount: number
  numero: number
  serie?: number
  tpEmis?: string
  cNF?: string
  /** Reduces the document to a resumo. */
  summary?: boolean
  nfe?: Partial<NfeFacts>
  more?: Partial<AlertFacts>
}

/** The inside of a note of these products. */
export function insideOf(lines: Partial<NamedLine>[], cfop = '5102'): NfeItems {
  const all = lines.map((line, n): NamedLine => {
    const { quantity = 10, price = 100 } = line
    const value = Math.round(quantity * price * 100)
    const usual = { product: `P${n}`, ncm: '73181500', unit: 'UN', tax: '00 18', name: `PRODUTO ${n}` }
    return { ...usual, quantity, price, value, vICMS: Math.round(value * 0.18), ...line }
  })
  const chapters = Object.groupBy(all, ({ ncm }) => ncm.slice(0, 2))
  const sum = (some: readonly NamedLine[] = []) => some.reduce((total, { value }) => total + value, 0)
  return {
    lines: all,
    cfops: { [cfop]: sum(all) },
    chapters: Object.fromEntries(Object.entries(chapters).map(([chapter, some]) => [chapter, sum(some)])),
  }
}

/** An NF-e of a supplier to a company, right in everything that is not asked to be wrong. */
export function note({ nfe, ...wanted }: Wanted): AlertFacts {
  const facts = documentOf('55', wanted)
  if (wanted.summary) return { ...facts, ...wanted.more }
  const amount = wanted.amount.toFixed(2)
  const [establishment] = wanted.company.establishments
  const due = `${Number(wanted.at.slice(0, 4)) + (wanted.at.slice(5, 7) >= '12' ? 1 : 0)}-${String((Number(wanted.at.slice(5, 7)) % 12) + 1).padStart(2, '0')}-28`
  return {
    ...facts,
    recipient: {
      taxId: establishment!.taxId,
      name: establishment!.names[0]!,
      ie: '250123456',
      uf: 'SC',
    },
    nfe: {
      finNFe: '1',
      modFrete: '9',
      cfops: ['5102'],
      tPag: ['15'],
      vLiq: amount,
      dup: [{ dVenc: due, vDup: amount }],
      totals: { vProd: amount, vDesc: '0.00' },
      sums: { vProd: Math.round(wanted.amount * 100), vDesc: 0 },
      itemCount: 1,
      items: [`P${wanted.numero}|1|${amount}`],
      transport: { named: false, plate: false },
      inside: insideOf([{ product: `P${wanted.numero}`, quantity: 1, price: wanted.amount }], nfe?.cfops?.[0]),
      ...nfe,
    },
    issuer: { ...facts.issuer, contacts: wanted.issuer.contacts ?? [] },
    readers: [],
    ...wanted.more,
  }
}

/** A CT-e of a carrier that the company pays, citing notes. */
export function freight({
  cte,
  cites,
  ...wanted
}: Omit<Wanted, 'nfe'> & { cte?: Partial<CteFacts>; cites: string[] }): AlertFacts {
  return {
    ...documentOf('57', wanted),
    recipient: { taxId: wanted.company.establishments[0]!.taxId, name: wanted.company.establishments[0]!.names[0]! },
    references: cites.map((chave) => ({ by: 'infNFe/chave', chave })),
    cte: {
      tpCTe: '0',
      tpServ: '0',
      payer: wanted.company.establishments[0]!.taxId,
      ufIni: 'SP',
      ufFim: 'SC',
      cMunIni: '3550308',
      cMunFim: '4205407',
      vCarga: (wanted.amount * 20).toFixed(2),
      ...cte,
    },
    ...wanted.more,
  }
}

function documentOf(mod: string, wanted: Wanted): AlertFacts {
  const { company, issuer, at, amount, numero, serie = 1, tpEmis = '1', summary = false } = wanted
  const cNF = wanted.cNF ?? String(10_000_000 + ((numero * 7_919) % 89_999_999)).slice(0, 8)
  const first = [
    issuer.cUF,
    at.slice(2, 4) + at.slice(5, 7),
    issuer.taxId.padStart(14, '0'),
    mod,
    String(serie).padStart(3, '0'),
    String(numero).padStart(9, '0'),
    tpEmis,
    cNF,
  ].join('')
  return {
    type: mod === '55' ? 'nfe' : 'cte',
    complete: !summary,
    chave: `${first}${chaveCheckDigit(first)}`,
    issuedAt: `${at}-03:00`,
    authorizedAt: `${at.slice(0, 17)}59-03:00`,
    issuer: { taxId: issuer.taxId, name: issuer.name, ie: issuer.ie, uf: issuer.uf },
    amount: amount.toFixed(2),
    tpAmb: summary ? '' : '1',
    tpNF: '1',
    situation: 'authorized',
    part: 'receives',
    digest: `digest of ${first}`,
    proof: summary ? undefined : 'proved',
    stated: summary
      ? undefined
      : {
          cUF: String(issuer.cUF),
          mod,
          serie: String(serie),
          numero: String(numero),
          tpEmis,
          cNF,
          issuer: issuer.taxId,
        },
    references: [],
    events: [],
    company,
    marks: [],
  }
}

/** A date and time some minutes later, in the format of `at`. */
export function later(at: string, minutes: number): string {
  return new Date(Date.parse(`${at}Z`) + minutes * 60_000).toISOString().slice(0, 19)
}
