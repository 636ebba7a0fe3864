import { type CteDetails, contentsOf, type DocumentFacts, type NfeDetails } from '@vigia/dfe/read'

/** What the audit needs of a CT-e. Amounts are decimal text in reais, cities IBGE codes. */
export interface Trip {
  chave: string
  /** As written, with its offset. */
  issuedAt: string
  /** Authorised and not cancelled, and no substituto took its place: the caller knows its events. */
  standing: boolean
  carrier: { taxId: string; name: string }
  /** Tomador: who pays. */
  payer?: string
  recipient?: string
  tpCTe: string
  tpServ: string
  from: Place
  to: Place
  vTPrest: string
  vCarga?: string
  /** Gross weight of the cargo in kilos. */
  kilos?: number
  /** Chaves of the NF-e that it carries. */
  notes: string[]
  /** How many documents it cites, CT-e of the way before among them. */
  cites: number
}

export interface Place {
  uf: string
  cMun: string
  name?: string
}

/** What the audit needs of an NF-e that a CT-e cites. */
export interface Note {
  chave: string
  standing: boolean
  issuer: string
  recipient?: string
  amount: string
  tpNF?: string
  /** Undefined of a resumo, which does not say it. */
  modFrete?: string
}

/** The trip of a CT-e that was read. */
export function tripOf(facts: DocumentFacts, details: CteDetails): Trip {
  const contents = contentsOf(details)
  const { ide } = details
  const cte = contents?.type === 'cte' ? contents : undefined
  return {
    chave: facts.chave,
    issuedAt: facts.issuedAt,
    standing: facts.situation === 'authorized',
    carrier: { taxId: facts.issuerTaxId, name: facts.issuerName },
    payer: cte?.payer?.taxId,
    recipient: facts.recipientTaxId,
    tpCTe: facts.tpCTe ?? '0',
    tpServ: ide.tpServ ?? '0',
    from: { uf: ide.UFIni ?? '', cMun: ide.cMunIni ?? '', name: ide.xMunIni },
    to: { uf: ide.UFFim ?? '', cMun: ide.cMunFim ?? '', name: ide.xMunFim },
    vTPrest: cte?.vTPrest ?? facts.amount,
    vCarga: cte?.cargo.vCarga,
    kilos: cte && kilosOf(cte.measures),
    cites: cte?.cited.length ?? 0,
    notes: (cte?.cited ?? []).map(({ chave }) => chave).filter((chave) => chave.slice(20, 22) === '55'),
  }
}

/** The note of an NF-e or resumo that was read. */
export function noteOf(facts: DocumentFacts, details: NfeDetails): Note {
  return {
    chave: facts.chave,
    standing: facts.situation === 'authorized',
    issuer: facts.issuerTaxId,
    recipient: facts.recipientTaxId,
    amount: facts.amount,
    tpNF: facts.tpNF,
    modFrete: details.transp.modFrete,
  }
}

// cUnid 01 kilos, 02 tons (MOC CT-e 4.00, infQ). A cubed weight is no weight; the gross one is meant where several are named.
function kilosOf(measures: readonly { cUnid?: string; tpMed?: string; qCarga?: string }[]): number | undefined {
  const weights = measures.flatMap(({ cUnid, tpMed = '', qCarga }) => {
    const factor = cUnid === '01' ? 1 : cUnid === '02' ? 1_000 : 0
    const kilos = Number(qCarga ?? 0) * factor
    return kilos > 0 && !/cub/i.test(tpMed) ? { kilos, isGross: /bruto|real|declarado/i.test(tpMed) } : []
  })
  const gross = weights.filter(({ isGross }) => isGross)
  const best = gross.length > 0 ? gross : weights
  return best.length > 0 ? Math.max(...best.map(({ kilos }) => kilos)) : undefined
}
