import type { CteDetails, Fields, NfeDetails, NfeItem, Reference, ReformGroups } from './facts.ts'

// Limits of the layout (MOC 7.0: det, dup, rastro); it sets none for documents cited by a CT-e.
const itemsMax = 990
const duesMax = 120
const lotsMax = 500
const citedMax = 2_000
const measuresMax = 990
const textMax = 120

/**
 * IBS, CBS and IS of an NF-e item or of a CT-e; groups absent from the file are undefined (NT
 * 2025.002, grupo UB; NT 2025.001 RTC).
 */
export type ReformContents = Partial<Record<keyof ReformGroups, Fields>>

/** An item of an NF-e: product and taxes, each group only when the file has it (MOC 7.0, `det`; NT 2025.002). */
export interface ItemContents extends ReformContents {
  /** `nItem`, or the position of a det without a valid one. */
  nItem: number
  /** cEAN only when it is a GTIN. */
  prod: Fields
  /** `rastro/nLote`. */
  lots: string[]
  ICMS?: Fields
  IPI?: Fields
  PIS?: Fields
  COFINS?: Fields
  ISSQN?: Fields
  IS?: Fields
}

/** Amounts, quantities and rates in these fields are exact decimal text in its shortest form (`10.5`), other texts as written. */
interface CommonContents {
  /** `ide`, with the CRT of the issuer and, of an NF-e, `transp`. */
  head: Fields
  /** The seller or the carrier. */
  issuer: Fields
  gCompraGov?: Fields
  /** `cobr/dup`. */
  due: Fields[]
  plates: string[]
}

/** Contents of an NF-e (MOC 7.0; NT 2025.002). */
export interface NfeContents extends CommonContents {
  type: 'nfe'
  recipient: Fields
  /** 990 at most. */
  items: ItemContents[]
  totals: Fields
  /** IBSCBSTot, ISTot and vNFTot; undefined without any of them. */
  reformTotals?: Fields
  /** `compra/xPed` of the note and its items, without duplicates. */
  orders: string[]
  /** A value that is no number was left out, or a list is longer than the layout allows. */
  damaged: boolean
}

/** Contents of a CT-e of any layout (MOC CT-e 4.00, Anexo I; NT 2025.001 RTC). */
export interface CteContents extends CommonContents, ReformContents {
  type: 'cte'
  /** CNPJ or CPF of the tomador; undefined when the document names none. */
  payer?: string
  vTPrest?: string
  ICMS?: Fields
  cargo: Fields
  measures: Fields[]
  /** The documents that it carries, replaces or completes, 2,000 at most. */
  cited: Reference[]
}

/**
 * Extracts the contents of a parsed document to count and to judge; null for a resNFe, which has no
 * items. Pure; its size is bounded by the layout, whatever the file holds.
 */
export function contentsOf(details: NfeDetails | CteDetails): NfeContents | CteContents | null {
  if (details.root === 'resNFe') return null
  return details.type === 'nfe' ? nfeContents(details) : cteContents(details)
}

function nfeContents(nfe: NfeDetails): NfeContents {
  const read = reading()
  const items = nfe.det.slice(0, itemsMax).map((item, index) => itemContents(item, index, read))
  const orders = [nfe.compra.xPed, ...items.map(({ prod }) => prod.xPed)].flatMap((text) => text?.slice(0, 60) ?? [])
  const contents = {
    type: 'nfe' as const,
    head: read.fields({ ...nfe.transp, ...nfe.ide, CRT: nfe.emit.CRT }),
    issuer: read.fields(nfe.emit),
    recipient: read.fields(nfe.dest),
    gCompraGov: read.group(nfe.gCompraGov),
    items,
    totals: read.fields(nfe.ICMSTot),
    reformTotals: read.group(nfe.IBSCBSTot),
    due: nfe.dup.slice(0, duesMax).map(read.fields),
    orders: [...new Set(orders)],
    plates: platesOf([nfe.veicTransp, ...nfe.reboque]),
  }
  return { ...contents, damaged: read.damaged || nfe.det.length > itemsMax || nfe.dup.length > duesMax }
}

function itemContents(item: NfeItem, index: number, read: Reading): ItemContents {
  const { cEAN, ...prod } = item.prod
  return {
    nItem: /^[1-9]\d{0,2}$/.test(item.nItem ?? '') ? Number(item.nItem) : index + 1,
    prod: read.fields(/^\d{8,14}$/.test(cEAN ?? '') ? item.prod : prod),
    lots: item.rastro.slice(0, lotsMax).flatMap(({ nLote }) => nLote?.slice(0, textMax) ?? []),
    ICMS: read.group(item.ICMS),
    IPI: read.group(item.IPI),
    PIS: read.group(item.PIS),
    COFINS: read.group(item.COFINS),
    ISSQN: read.group(item.ISSQN),
    IS: read.group(item.IS),
    ...reformContents(item, read),
  }
}

function reformContents(groups: ReformGroups, read: Reading): ReformContents {
  return {
    IBSCBS: read.group(groups.IBSCBS),
    gIBSUF: read.group(groups.gIBSUF),
    gIBSMun: read.group(groups.gIBSMun),
    gCBS: read.group(groups.gCBS),
    gIBSCBSMono: read.group(groups.gIBSCBSMono),
    gTransfCred: read.group(groups.gTransfCred),
    gAjusteCompet: read.group(groups.gAjusteCompet),
    gEstornoCred: read.group(groups.gEstornoCred),
    gTribRegular: read.group(groups.gTribRegular),
    gTribCompraGov: read.group(groups.gTribCompraGov),
  }
}

function cteContents(cte: CteDetails): CteContents {
  const read = reading()
  const payer = cte.parties.find(({ pays }) => pays)?.fields
  const emit = cte.parties.find(({ group }) => group === 'emit')?.fields
  return {
    type: 'cte',
    head: read.fields({ ...cte.ide, CRT: emit?.CRT }),
    issuer: read.fields(emit ?? {}),
    gCompraGov: read.group(cte.gCompraGov),
    payer: [payer?.CNPJ, payer?.CPF].find((id) => id !== undefined && !/^0+$/.test(id)),
    vTPrest: read.fields(cte.vPrest).vTPrest,
    ICMS: read.group(cte.ICMS),
    ...reformContents(cte, read),
    cargo: read.fields(cte.infCarga),
    measures: cte.infQ.slice(0, measuresMax).map(read.fields),
    cited: cte.references.slice(0, citedMax),
    due: cte.dup.slice(0, duesMax).map(read.fields),
    plates: platesOf(cte.veic),
  }
}

function platesOf(vehicles: readonly Fields[]): string[] {
  const plates = vehicles.slice(0, 10).flatMap(({ placa }) => (placa && placa.length <= 8 ? placa.toUpperCase() : []))
  return [...new Set(plates)]
}

interface Reading {
  damaged: boolean
  fields(group: Fields): Fields
  /** Undefined for a group that is not in the file. */
  group(group: Fields): Fields | undefined
}

// Notes damage beside the fields, because the readers of the groups then need no error handling.
function reading(): Reading {
  const read: Reading = {
    damaged: false,
    fields(group) {
      const found: Record<string, string> = {}
      for (const [name, text] of Object.entries(group)) {
        if (text === undefined) continue
        const kept = numeric.test(name) ? decimalText(text) : text.slice(0, textMax)
        if (kept === null) read.damaged = true
        else found[name] = kept
      }
      return found
    },
    group: (group) => (Object.keys(group).length === 0 ? undefined : read.fields(group)),
  }
  return read
}

// qCom, vProd, pICMS, adRemIBS: the layouts begin the names of all numbers so.
const numeric = /^(?:[qvp][A-Z]|adRem)/

/**
 * Normalizes a decimal of the layouts to its shortest exact text: `10.5000` becomes `10.5`; null if
 * it is not a decimal or has more than 15 digits before or 10 after the point (MOC 7.0, tipos de
 * dados).
 */
export function decimalText(text: string): string | null {
  if (text.length > 40 || !/^\d+(?:\.\d+)?$/.test(text)) return null
  let [whole = '', rest = ''] = text.split('.')
  const digits = whole.replace(/^0+(?=\d)/, '')
  while (rest.endsWith('0')) rest = rest.slice(0, -1)
  if (digits.length > 15 || rest.length > 10) return null
  return rest === '' ? digits : `${digits}.${rest}`
}
